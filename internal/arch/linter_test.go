// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// TestLinterForbidsTheSame: an editor that runs the linter shows what these tests would
// fail on.
func TestLinterForbidsTheSame(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules map[string]struct {
						Deny []struct{ Pkg string }
					}
				}
				Forbidigo struct {
					Forbid []struct{ Pattern string }
				}
			}
		}
	}
	if err := yaml.Unmarshal(data, &config); err != nil {
		t.Fatal(err)
	}
	var denied []string
	for _, d := range config.Linters.Settings.Depguard.Rules["pure"].Deny {
		denied = append(denied, strings.TrimSuffix(d.Pkg, "$"))
	}
	// depguard matches prefixes, so that net, which has pure packages below it, is there
	// by its impure ones.
	want := append(slices.Collect(maps.Keys(impurePackages)), "net/http")
	slices.Sort(want)
	slices.Sort(denied)
	if diff := cmp.Diff(want, denied); diff != "" {
		t.Errorf("imports (-these tests +.golangci.yml)\n%s", diff)
	}
	forbidden := func(call string) bool {
		for _, f := range config.Linters.Settings.Forbidigo.Forbid {
			if regexp.MustCompile(f.Pattern).MatchString(call) {
				return true
			}
		}
		return false
	}
	for _, call := range forbiddenCalls["time"] {
		if !forbidden("time." + call) {
			t.Errorf(".golangci.yml does not forbid time.%s", call)
		}
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/render/load"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sources are the YAML files of a case directory, by name.
func sources(t *testing.T, dir string) []load.Source {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []load.Source
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".yaml" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, load.Source{Name: entry.Name(), Data: data})
	}
	if len(out) == 0 {
		t.Fatalf("%s has no input", dir)
	}
	return out
}

func TestBadInputIsNamedWithItsPlace(t *testing.T) {
	cases, err := os.ReadDir("testdata/errors")
	if err != nil || len(cases) < 35 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, c := range cases {
		t.Run(c.Name(), func(t *testing.T) {
			dir := filepath.Join("testdata/errors", c.Name())
			in := sources(t, dir)
			_, findings := load.Parse(in, load.Options{})
			got := string(findings.Text())
			if strings.Contains(got, "hunter2") {
				t.Errorf("a secret is shown:\n%s", got)
			}
			golden := filepath.Join(dir, "errors.txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			slices.Reverse(in)
			if _, again := load.Parse(in, load.Options{}); string(again.Text()) != got {
				t.Errorf("the order of the sources shows:\n%s", cmp.Diff(got, string(again.Text())))
			}
			if entries, _ := os.ReadDir(dir); len(entries) != len(in)+1 {
				t.Errorf("%d files, %d are read", len(entries), len(in)+1)
			}
		})
	}
}

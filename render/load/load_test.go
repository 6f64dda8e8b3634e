// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/internal/golden"
	"github.com/valkey-render/valkey-render/render/load"
)

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
	cases := golden.Cases(t, "testdata/errors")
	if len(cases) < 35 {
		t.Errorf("only %d cases", len(cases))
	}
	for _, name := range cases {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("testdata/errors", name)
			in := sources(t, dir)
			_, findings := load.Parse(in, load.Options{})
			got := string(findings.Text())
			if strings.Contains(got, "hunter2") {
				t.Errorf("a secret is shown:\n%s", got)
			}
			golden.File(t, filepath.Join(dir, "errors.txt"), []byte(got))
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

func TestNoGoldenIsUnread(t *testing.T) {
	golden.Only(t, "testdata", "errors", "kustomized.yaml", "remote.txt")
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package golden compares what a test made with files that are checked in. With
// the flag -update the files are written instead, also those that do not exist
// yet; without it a file that no test made is an error.
package golden

import (
	"bytes"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// Updating tells whether the golden files are being written.
func Updating() bool { return *update }

// File compares got with the file at path.
func File(t testing.TB, path string, got []byte) {
	t.Helper()
	if *update {
		write(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("golden file missing; run the test with -update: %v", err)
		return
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s differs (-want +got):\n%s", path, cmp.Diff(string(want), string(got)))
	}
}

// Dir compares files, by slash-separated name, with all those below dir.
func Dir(t testing.TB, dir string, files map[string][]byte) {
	t.Helper()
	if len(files) == 0 {
		t.Errorf("%s: nothing was made to compare with", dir)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		File(t, filepath.Join(dir, filepath.FromSlash(name)), files[name])
	}
	for _, name := range list(t, dir) {
		if _, ok := files[name]; ok {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if !*update {
			t.Errorf("%s: no test makes this golden file", path)
			continue
		}
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}

// Cases returns the directories below dir, one a case, and fails the test when
// there is none.
func Cases(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		t.Fatalf("%s: no case directories", dir)
	}
	return names
}

// Only holds that dir has no entries but those named and the corpora of fuzz and
// property tests.
func Only(t testing.TB, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); !slices.Contains(names, name) && name != "fuzz" && name != "rapid" {
			t.Errorf("%s: no test reads it", filepath.Join(dir, name))
		}
	}
}

func list(t testing.TB, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return names
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cgroup_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/cgroup"
)

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestVersion1GivesAGroupProcessorsInEveryHierarchy(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "cpuset/cpuset.cpus"), "0-1\n")
	write(t, filepath.Join(root, "cpuset/cpuset.mems"), "0\n")
	if err := os.Mkdir(filepath.Join(root, "memory"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := (cgroup.Groups{Root: root}).Make("/a/b"); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"cpuset/a", "cpuset/a/b"} {
		got, err := os.ReadFile(filepath.Join(root, dir, "cpuset.cpus"))
		if err != nil || string(got) != "0-1" {
			t.Errorf("%s: processors %q, %v", dir, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "memory/a/b")); err != nil {
		t.Error(err)
	}
}

func TestVersion2HandsControllersOn(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "cgroup.controllers"), "cpu memory\n")
	write(t, filepath.Join(root, "cgroup.subtree_control"), "")
	if err := (cgroup.Groups{Root: root}).Make("/a"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, "cgroup.subtree_control"))
	if err != nil || string(got) != "+memory" {
		t.Errorf("last controller handed on: %q, %v", got, err)
	}
}

func TestRemovesAGroupWithAllBelow(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"memory/a/b/c", "memory/other", "pids/a"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	g := cgroup.Groups{Root: root}
	for range 2 { // the second time there is nothing to do
		if err := g.Remove("/a"); err != nil {
			t.Fatal(err)
		}
	}
	if g.Exists("/a") || !g.Exists("/other") {
		t.Error("removed the wrong groups")
	}
}

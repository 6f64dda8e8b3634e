// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Groups are the control groups of a machine, mounted at Root: /sys/fs/cgroup.
type Groups struct{ Root string }

// unified tells whether the machine has version 2 only.
func (g Groups) unified() bool {
	_, err := os.Stat(filepath.Join(g.Root, "cgroup.controllers"))
	return err == nil
}

// hierarchies are the directories that a group has a directory in.
func (g Groups) hierarchies() []string {
	if g.unified() {
		return []string{g.Root}
	}
	var dirs []string
	entries, err := os.ReadDir(g.Root)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		dir := filepath.Join(g.Root, e.Name())
		// A link is a second name of a joint hierarchy: cpu of cpu,cpuacct.
		if e.IsDir() {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Make makes the group of that path, "/a/b", and those above it, with every controller.
func (g Groups) Make(group string) error {
	words := strings.Split(strings.Trim(group, "/"), "/")
	for _, hierarchy := range g.hierarchies() {
		dir := hierarchy
		for _, word := range words {
			if g.unified() {
				if err := enable(dir); err != nil {
					return err
				}
			}
			above := dir
			dir = filepath.Join(dir, word)
			if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("control group %s: %w", group, err)
			}
			// Version 1 lets no process into a group without processors and memory nodes.
			if filepath.Base(hierarchy) == "cpuset" || strings.Contains(filepath.Base(hierarchy), "cpuset,") {
				for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
					if err := inherit(above, dir, file); err != nil {
						return fmt.Errorf("control group %s: %w", group, err)
					}
				}
			}
		}
	}
	return nil
}

// enable hands every controller of a group on to the groups below it.
func enable(dir string) error {
	controllers, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return fmt.Errorf("control group %s: %w", dir, err)
	}
	for controller := range strings.FieldsSeq(string(controllers)) {
		// Some cannot be handed on; the kubelet says what it misses.
		_ = os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+controller), 0o644)
	}
	return nil
}

func inherit(above, dir, file string) error {
	value, err := os.ReadFile(filepath.Join(above, file))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, file), bytes.TrimSpace(value), 0o644)
}

// Exists tells whether there is a group of that path.
func (g Groups) Exists(group string) bool {
	for _, hierarchy := range g.hierarchies() {
		if _, err := os.Stat(filepath.Join(hierarchy, group)); err == nil {
			return true
		}
	}
	return false
}

// Remove removes the group and those below it. Their processes must have ended; the kernel
// takes a moment to notice.
func (g Groups) Remove(group string) error {
	var failure error
	for range 100 {
		failure = nil
		for _, hierarchy := range g.hierarchies() {
			failure = errors.Join(failure, remove(filepath.Join(hierarchy, group)))
		}
		if failure == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("control group %s: %w", group, failure)
}

func remove(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// cluster is a cluster of this test, taken down at its end.
type cluster struct {
	t       *testing.T
	program string
	name    string
}

// newCluster builds the program. What clusters are made of comes from the cache, or is
// built into it, which takes half an hour.
func newCluster(t *testing.T, name string) cluster {
	t.Helper()
	c := cluster{t: t, program: filepath.Join(t.TempDir(), "localcluster"), name: name}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", c.program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command(c.program, "down", "--name", name).CombinedOutput(); err != nil {
			t.Errorf("down: %v: %s", err, out)
		}
	})
	return c
}

// try runs a command of the program and returns what it says and prints.
func (c cluster) try(args ...string) (string, error) {
	return output(exec.CommandContext(c.t.Context(), c.program, append([]string{"--name", c.name}, args...)...))
}

func (c cluster) do(args ...string) string {
	c.t.Helper()
	out, err := c.try(args...)
	if err != nil {
		c.t.Fatalf("%s: %v: %s", args[0], err, out)
	}
	return out
}

func output(command *exec.Cmd) (string, error) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "KUBECONFIG=") {
			command.Env = append(command.Env, v)
		}
	}
	out, err := command.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// state is the state directory.
func (c cluster) state() string { return filepath.Dir(c.do("kubeconfig")) }

// kubectl runs kubectl with a manifest, or none, as its standard input.
func (c cluster) kubectl(manifest string, args ...string) (string, error) {
	c.t.Helper()
	kubectl := ""
	out, _ := c.try("status")
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == "kubectl" {
			kubectl = fields[1]
		}
	}
	command := exec.CommandContext(c.t.Context(), kubectl, append([]string{"--kubeconfig", c.do("kubeconfig")}, args...)...)
	command.Stdin = strings.NewReader(manifest)
	return output(command)
}

// must is kubectl that succeeds.
func (c cluster) must(manifest string, args ...string) string {
	c.t.Helper()
	out, err := c.kubectl(manifest, args...)
	if err != nil {
		c.t.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return out
}

// until waits for kubectl to print a text.
func (c cluster) until(want string, within time.Duration, args ...string) {
	c.t.Helper()
	last := ""
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		if last, _ = c.kubectl("", args...); strings.Contains(last, want) {
			return
		}
	}
	c.t.Fatalf("kubectl %s: still %q after %s, want %q", strings.Join(args, " "), last, within, want)
}

// gone checks that nothing of a cluster with that state directory is left.
func gone(t *testing.T, state string) {
	t.Helper()
	if _, err := os.Stat(state); !os.IsNotExist(err) {
		t.Errorf("state directory: %v", err)
	}
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range environments {
		if data, err := os.ReadFile(file); err == nil && bytes.Contains(data, []byte("="+state+"\x00")) {
			t.Errorf("process of %s is left", file)
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(mounts, []byte(state)) {
		t.Error("a mount is left")
	}
	for _, pattern := range []string{"/sys/fs/cgroup/valkey-render-", "/sys/fs/cgroup/*/valkey-render-"} {
		left, err := filepath.Glob(pattern + filepath.Base(state) + "-*")
		if err != nil || len(left) > 0 {
			t.Errorf("control groups are left: %v, %v", left, err)
		}
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package main_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestAPIServerAlone(t *testing.T) {
	c := newCluster(t, "test-api")
	c.do("up", "--apiserver-only")
	if out := c.do("up", "--apiserver-only"); !strings.Contains(out, "cluster test-api is up") {
		t.Errorf("the second time: %s", out)
	}
	if out, err := c.try("up", "--nodes", "2"); err == nil || !strings.Contains(out, "up with 0 nodes at port") {
		t.Errorf("in another shape: %v: %s", err, out)
	}
	if out := c.must("", "version"); !strings.Contains(out, "Server Version: v1.37.") {
		t.Errorf("version: %s", out)
	}
	// The controllers run: a Deployment gets its ReplicaSet.
	c.must("", "create", "deployment", "web", "--image=none")
	c.until("web-", 20*time.Second, "get", "replicasets", "--output=name")
	if out, err := c.try("load-image", c.program); err == nil || !strings.Contains(out, "has no nodes") {
		t.Errorf("load-image: %v: %s", err, out)
	}
	state := c.state()
	c.do("down")
	gone(t, state)
}

func TestPortThatIsTaken(t *testing.T) {
	c := newCluster(t, "test-port")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	out, err := c.try("up", "--apiserver-only", "--port", port)
	if err == nil || !strings.Contains(out, "port 127.0.0.1:"+port+": taken by another program") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestNodesNeedRoot(t *testing.T) {
	c := newCluster(t, "test-root")
	for dir := filepath.Dir(c.program); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), c.program, "up", "--source", source(t))
	command.Env = []string{"HOME=/nonexistent", "PATH=" + os.Getenv("PATH")}
	command.Dir = "/"
	if os.Geteuid() == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "containers need root; run this as root, or with --apiserver-only") {
		t.Errorf("%v: %s", err, out)
	}
}

// source is a copy of what makes a directory a source tree, where anyone may read it.
func source(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "source-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, path := range []string{dir, filepath.Join(dir, "kubernetes")} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "kubernetes", "go.mod"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAStartThatIsKilledLeavesNothingThatDownDoesNotFind(t *testing.T) {
	c := newCluster(t, "test-killed")
	c.do("up", "--nodes", "2") // so that the cache has all
	state := c.state()
	c.do("down")
	for _, pause := range []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second, 6 * time.Second} {
		command := exec.CommandContext(t.Context(), c.program, "--name", c.name, "up", "--nodes", "2")
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(pause)
		if err := command.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = command.Wait()
		c.do("down")
		gone(t, state)
	}
}

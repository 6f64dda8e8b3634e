// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/network"
)

// Run becomes a program of this machine that sees the network of a node: pods, Services
// and the cluster's DNS names, and the API server, by the KUBECONFIG it gets. It returns
// only where that fails.
func (c *Cluster) Run(_ context.Context, n int, command, environment []string) error {
	if _, _, err := c.check(n); err != nil {
		return err
	}
	pid, err := c.pid(nodeName(n))
	if err != nil {
		return err
	}
	if pid == 0 {
		return c.stopped(n)
	}
	program, err := exec.LookPath(command[0])
	if err != nil {
		return fmt.Errorf("program %s: %w", command[0], err)
	}
	names := c.path("resolv.conf")
	text := "search default.svc.cluster.local svc.cluster.local cluster.local\nnameserver " + network.Control + "\noptions ndots:5\n"
	if err := os.WriteFile(names, []byte(text), 0o644); err != nil {
		return fmt.Errorf("resolv.conf: %w", err)
	}
	// Only this thread changes, and it is the one that the program goes on in.
	runtime.LockOSThread()
	ns, err := netns.GetFromPid(pid)
	if err != nil {
		return fmt.Errorf("network of %s: %w", nodeName(n), err)
	}
	if err := netns.Set(ns); err != nil {
		return fmt.Errorf("network of %s: %w", nodeName(n), err)
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("mounts: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts: %w", err)
	}
	if err := unix.Mount(names, "/etc/resolv.conf", "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount /etc/resolv.conf: %w", err)
	}
	environment = append(environment, "KUBECONFIG="+c.path("pki", "admin.kubeconfig"))
	if err := syscall.Exec(program, command, environment); err != nil {
		return fmt.Errorf("program %s: %w", program, err)
	}
	return nil
}

func (c *Cluster) stopped(n int) error {
	return fmt.Errorf("%s: stopped; start it with: go run ./localcluster heal %d", nodeName(n), n)
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/host"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/parts"
)

// LoadImage loads the images of an archive, docker-archive or OCI, into every node.
func (c *Cluster) LoadImage(ctx context.Context, archive string) error {
	if _, err := os.Stat(archive); err != nil {
		return fmt.Errorf("image: %w", err)
	}
	s, err := c.shape()
	if err != nil {
		return err
	}
	if s.Nodes == 0 {
		return fmt.Errorf("cluster %s: an API server alone has no nodes that could run an image", c.Name)
	}
	spec, err := host.Load(c.path(nodeName(1), "spec.json"))
	if err != nil {
		return err
	}
	var errs []error
	for n := 1; n <= s.Nodes; n++ {
		errs = append(errs, c.load(ctx, n, spec.Root.System, archive))
	}
	return errors.Join(errs...)
}

// loadAll loads every image of the cache into a node.
func (c *Cluster) loadAll(ctx context.Context, n int, p got) error {
	archives, err := filepath.Glob(filepath.Join(p.images, "*.tar"))
	if err != nil || len(archives) == 0 {
		return fmt.Errorf("images: none in %s", p.images)
	}
	for _, archive := range archives {
		if err := c.load(ctx, n, p.system, archive); err != nil {
			return err
		}
	}
	return nil
}

// load loads one archive into a node, through the socket of its containerd, which this
// machine sees below the root of the node's first process.
func (c *Cluster) load(ctx context.Context, n int, system, archive string) error {
	pid, err := c.pid(nodeName(n))
	if err != nil {
		return err
	}
	if pid == 0 {
		return c.stopped(n)
	}
	socket := fmt.Sprintf("/proc/%d/root%s", pid, containerdSocket)
	if err := (host.Probe{Socket: socket}).Wait(ctx); err != nil {
		return fmt.Errorf("containerd of %s: %w", nodeName(n), err)
	}
	line, err := parts.OnHost(system, "ctr")
	if err != nil {
		return err
	}
	line = append(line, "--address", socket, "--namespace", "k8s.io", "images", "import", "--local", archive)
	var said bytes.Buffer
	command := exec.CommandContext(ctx, line[0], line[1:]...)
	command.Stdout, command.Stderr = &said, &said
	if err := command.Run(); err != nil {
		return fmt.Errorf("image %s: not loaded into %s: %w: %s", filepath.Base(archive), nodeName(n), err, strings.TrimSpace(said.String()))
	}
	return nil
}

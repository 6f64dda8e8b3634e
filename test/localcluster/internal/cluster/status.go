// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/network"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/process"
)

// Status writes how the cluster is. The error tells that it is not as it should be.
func (c *Cluster) Status(ctx context.Context, w io.Writer) error {
	s, err := c.shape()
	if err != nil {
		return err
	}
	found, err := process.Find(c.State())
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	defer table.Flush()
	fmt.Fprintf(table, "cluster\t%s\nserver\t%s\nkubeconfig\t%s\nkubectl\t%s\n",
		c.Name, c.server(s.Port), c.Kubeconfig(), filepath.Join(s.Programs, "kubectl"))
	api, err := c.api(s.Port)
	if err != nil {
		return err
	}
	if err := api.Get(ctx, "/readyz", nil); err != nil {
		fmt.Fprintf(table, "%s\tnot ready\t%s\n", control, programs(found, control))
		return fmt.Errorf("cluster %s: %w", c.Name, err)
	}
	fmt.Fprintf(table, "%s\tready\t%s\n", control, programs(found, control))
	if s.Nodes == 0 {
		return nil
	}
	return c.nodesStatus(ctx, table, s, found)
}

func (c *Cluster) nodesStatus(ctx context.Context, w io.Writer, s Shape, found []process.Process) error {
	fmt.Fprintf(w, "audit\t%s\n", filepath.Join(c.path(control), auditLog))
	api, err := c.api(s.Port)
	if err != nil {
		return err
	}
	nodes, err := api.Nodes(ctx)
	if err != nil {
		return err
	}
	state := map[string]string{}
	for _, n := range nodes {
		state[n.Metadata.Name] = "not ready"
		if ready, _ := n.Ready(); ready {
			state[n.Metadata.Name] = "ready"
		}
	}
	controlPID, err := c.pid(control)
	if err != nil {
		return err
	}
	var errs []error
	for n := 1; n <= s.Nodes; n++ {
		name := nodeName(n)
		is := state[name]
		if is == "" {
			is = "not registered"
		}
		connected, err := network.Connected(controlPID, n)
		if err != nil {
			return err
		}
		running := programs(found, name)
		switch {
		// What the API server knows is what the node last said.
		case running == "":
			is = "stopped"
		case !connected:
			is = "partitioned"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, is, running)
		if is != "ready" {
			errs = append(errs, fmt.Errorf("%s: %s", name, is))
		}
	}
	return errors.Join(errs...)
}

// programs are the names of the programs that run on a host.
func programs(found []process.Process, host string) string {
	var names []string
	for _, p := range found {
		if p.Host == host && !p.First && !strings.HasPrefix(p.Program, "containerd-shim") {
			names = append(names, p.Program)
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}

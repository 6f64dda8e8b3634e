// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/kubeapi"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/network"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/process"
)

// check is the shape of a cluster that is up and has node n, and its control host's pid.
func (c *Cluster) check(n int) (Shape, int, error) {
	s, err := c.shape()
	if err != nil {
		return s, 0, err
	}
	if n < 1 || n > s.Nodes {
		return s, 0, fmt.Errorf("node %d: cluster %s has %d nodes", n, c.Name, s.Nodes)
	}
	pid, err := c.pid(control)
	if err != nil {
		return s, 0, err
	}
	if pid == 0 {
		return s, 0, fmt.Errorf("cluster %s: its control plane has ended; take it down and up", c.Name)
	}
	return s, pid, nil
}

// StopNode ends a node at once, as a power cut does.
func (c *Cluster) StopNode(ctx context.Context, n int) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if _, _, err := c.check(n); err != nil {
		return err
	}
	if err := process.Kill(ctx, c.State(), nodeName(n)); err != nil {
		return fmt.Errorf("%s: %w", nodeName(n), err)
	}
	return groups().Remove(c.group() + "/" + nodeName(n))
}

// Partition cuts a node off from the control plane and from every other node.
func (c *Cluster) Partition(ctx context.Context, n int) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	_, pid, err := c.check(n)
	if err != nil {
		return err
	}
	return network.Connect(pid, n, false)
}

// Heal starts a node that was stopped, plugs in one that was cut off, and waits until it is
// Ready again.
func (c *Cluster) Heal(ctx context.Context, n int) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	s, controlPID, err := c.check(n)
	if err != nil {
		return err
	}
	running, err := c.pid(nodeName(n))
	if err != nil {
		return err
	}
	since := time.Now()
	if running == 0 {
		err = c.startNode(controlPID, n, s.Nodes)
	} else {
		err = network.Connect(controlPID, n, true)
	}
	if err != nil {
		return err
	}
	api, err := c.api(s.Port)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, nodeTimeout)
	defer cancel()
	return kubeapi.Until(ctx, func(ctx context.Context) error {
		return nodeBack(ctx, api, nodeName(n), since, running == 0)
	})
}

// nodeBack is an error until the node is Ready and its kubelet has been heard of since a
// time: for some forty seconds the API calls a node Ready that is gone. A kubelet that was
// started reports its conditions anew; one that was cut off only renews its lease.
func nodeBack(ctx context.Context, api *kubeapi.Client, name string, since time.Time, started bool) error {
	var node kubeapi.Node
	if err := api.Get(ctx, "/api/v1/nodes/"+name, &node); err != nil {
		return err
	}
	if ready, why := node.Ready(); !ready {
		return fmt.Errorf("%s: not ready: %s", name, why)
	}
	if started && node.Heartbeat().Before(since.Truncate(time.Second)) {
		return fmt.Errorf("%s: its kubelet has not reported", name)
	}
	var lease struct {
		Spec struct {
			RenewTime time.Time `json:"renewTime"`
		} `json:"spec"`
	}
	if err := api.Get(ctx, "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/"+name, &lease); err != nil {
		return err
	}
	if lease.Spec.RenewTime.Before(since) {
		return fmt.Errorf("%s: its kubelet has not been heard of", name)
	}
	return nil
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import "context"

// got are the directories and programs that a cluster needs.
type got struct {
	kubernetes, addons, system, images string
	etcd                               []string
}

// Fetch gets what clusters with nodes, or without any, are made of into the cache.
func (c *Cluster) Fetch(ctx context.Context, nodes int) error {
	_, err := c.get(ctx, Wanted{Nodes: nodes})
	return err
}

// get gets what a shape needs into the cache.
func (c *Cluster) get(ctx context.Context, w Wanted) (got, error) {
	var g got
	var err error
	if g.kubernetes, err = c.Parts.Kubernetes(ctx); err != nil {
		return g, err
	}
	if w.Nodes == 0 {
		g.etcd, err = c.Parts.Etcd(ctx)
		return g, err
	}
	if g.addons, err = c.Parts.Addons(ctx); err != nil {
		return g, err
	}
	if g.system, err = c.Parts.NodeRoot(ctx); err != nil {
		return g, err
	}
	g.images, err = c.Parts.Images(ctx)
	g.etcd = []string{"/usr/bin/etcd"}
	return g, err
}

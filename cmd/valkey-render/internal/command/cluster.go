// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/apply"
	"github.com/valkey-render/valkey-render/render/load"
)

// openAndRender connects and renders the input for the cluster connected to.
func openAndRender(ctx context.Context, sys system.System, connection *connection, in *input) (client.Client, []apply.Cluster, error) {
	c, namespace, err := connection.open(sys)
	if err != nil {
		return nil, nil, err
	}
	in.fallback = namespace
	result, err := in.objects(ctx, sys)
	if err != nil {
		return nil, nil, err
	}
	clusters, err := apply.Group(result.Objects)
	giveSpecs(clusters, result.set.Clusters)
	return c, clusters, err
}

// giveSpecs tells what the objects do not: with jobs: Rendered the ValkeyCluster is
// not among them.
func giveSpecs(clusters []apply.Cluster, specs []load.Cluster) {
	for _, s := range specs {
		spec := s.Object.DeepCopy()
		spec.Default()
		for i, c := range clusters {
			if c.Namespace == spec.Namespace && c.Name == spec.Name && spec.EffectiveJobs() == v1alpha1.JobsRendered {
				clusters[i].Spec = spec
			}
		}
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"fmt"
	"slices"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/decision"
	"github.com/valkey-render/valkey-render/topologyjob/job"
)

// rendering is what is known of the rendered objects as a whole.
func (g *gathered) rendering() error {
	r := &g.seen.Rendering
	r.Hash = g.cluster.Annotations[v1alpha1.AnnotationRenderHash]
	if g.cluster.EffectiveDelivery() == v1alpha1.DeliveryInCluster {
		token := decision.Rendering(g.cluster)
		r.Current = slices.ContainsFunc(g.cluster.Status.Applied, func(a v1alpha1.AppliedStatus) bool { return a.Kind == job.Apply && a.Token == token })
		return nil
	}
	r.Objects = g.cluster.Annotations[v1alpha1.AnnotationObjectsHash]
	hash, err := g.cluster.SpecHash()
	if err != nil {
		return fmt.Errorf("%s: %w", g.subject(), err)
	}
	// Without a hash of the objects nothing says that there is more than the ValkeyCluster.
	r.Current = g.cluster.Annotations[v1alpha1.AnnotationSpecHash] == hash && (r.Objects != "" || len(g.seen.StatefulSets) > 0)
	return nil
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/script"
)

// slots of a cluster of topology Cluster.
const slots = 16384

// jobs says who acts on servers: what the spec says, else what its pods are told; empty
// where neither is known. With rendered Jobs there is no ValkeyCluster among the objects.
func (c *cluster) jobs() v1alpha1.JobsMode {
	if c.now != nil {
		return c.now.EffectiveJobs()
	}
	return v1alpha1.JobsMode(c.told(script.EnvJobs))
}

// isCluster reports whether it is of topology Cluster, as far as that is known.
func (c *cluster) isCluster() bool {
	if c.now != nil {
		return c.now.IsCluster()
	}
	return v1alpha1.Topology(c.told(script.EnvTopology)) == v1alpha1.TopologyCluster
}

// told is an environment variable of pods: of those that will be, before those that were.
func (c *cluster) told(variable string) string {
	sets := c.of(kindStatefulSet)
	for _, side := range []func(p pair) *unstructured.Unstructured{
		func(p pair) *unstructured.Unstructured { return p.after },
		func(p pair) *unstructured.Unstructured { return p.before },
	} {
		for _, p := range sets {
			if o := side(p); o != nil {
				if value := env(o, variable); value != "" {
					return value
				}
			}
		}
	}
	return ""
}

// env is an environment variable of the containers of a StatefulSet.
func env(o *unstructured.Unstructured, variable string) string {
	containers, _ := byName(field(o, "spec", "template", "spec", "containers"))
	for _, container := range containers {
		fields, _ := container.(map[string]any)
		variables, _ := byName(fields["env"])
		entry, _ := variables[variable].(map[string]any)
		if value, ok := entry["value"].(string); ok {
			return value
		}
	}
	return ""
}

// paused is what keeps the reconciler from acting, for the end of a message.
func (c *cluster) paused() string {
	switch {
	case c.now == nil || c.now.EffectiveJobs() != v1alpha1.JobsReconciler:
		return ""
	case c.now.Spec.Suspend:
		return "; not while spec.suspend is true"
	case c.now.Spec.Hibernate:
		return "; not while spec.hibernate is true"
	}
	return ""
}

// toldLive is how servers that run get a directive.
func (c *cluster) toldLive() string {
	switch {
	case c.jobs() != v1alpha1.JobsReconciler:
		return "without a reconciler it takes effect when a container starts"
	case c.now != nil && c.now.Spec.Hibernate:
		return "it takes effect when the cluster wakes"
	}
	return "the reconciler sets it on servers that run" + c.paused()
}

// toldUsers is how servers that run get users.
func (c *cluster) toldUsers(secret string) string {
	switch {
	case c.jobs() != v1alpha1.JobsReconciler:
		return fmt.Sprintf("in the Secret %s once it is written; no pod restarts", secret)
	case c.now != nil && c.now.Spec.Hibernate:
		return fmt.Sprintf("the reconciler writes the Secret %s, which servers read when the cluster wakes", secret)
	}
	return fmt.Sprintf("the reconciler writes the Secret %s and sets them on servers that run; no pod restarts%s", secret, c.paused())
}

// inOrder is how the reconciler replaces so many pods, of StatefulSets that have each so many.
func (c *cluster) inOrder(pods, each int) string {
	how := "by the reconciler"
	switch {
	case c.now != nil && c.now.MaxParallelShards() > 1:
		how = fmt.Sprintf("in at most %d shards at a time %s", c.now.MaxParallelShards(), how)
	case pods > 1:
		how = "one after the other " + how
	}
	switch {
	case c.now == nil:
	case each > 1:
		how += ": replicas first, then a handover, then the old primary"
	case c.now.Persisted():
		how += "; no replica takes over while a pod restarts"
	case c.now.DataLossAllowed():
		how += "; nothing is persisted and there is no replica: the data of each is lost"
	default:
		how = "not by the reconciler: each has the only copy of its data, which is not persisted, and rollout.allowDataLoss is not true"
	}
	return how + c.paused()
}

// joined is who makes new pods replicas; empty for topologies where they find the primary
// by themselves.
func (c *cluster) joined() string {
	switch {
	case !c.isCluster():
		return ""
	case c.jobs() == v1alpha1.JobsRendered:
		return "; the converge Job makes the new ones replicas"
	case c.jobs() == v1alpha1.JobsReconciler:
		return "; the reconciler makes the new ones replicas" + c.paused()
	}
	return ""
}

// filled is how so many new shards get slots.
func (c *cluster) filled(added int) string {
	who := "the reconciler"
	if c.jobs() == v1alpha1.JobsRendered {
		who = "the converge Job"
	}
	switch {
	case c.now == nil && c.jobs() == v1alpha1.JobsRendered:
		return "; the converge Job moves slots there, unless rebalance.enabled is false"
	case c.now == nil:
		return ", without slots until some are moved there"
	case !c.now.RebalanceEnabled():
		return ", without slots until some are moved there: rebalance.enabled is false"
	}
	after := max(int(c.now.ShardCount()), 1)
	return fmt.Sprintf("; %s moves about %d of %d slots there%s", who, (slots*added+after/2)/after, slots, c.paused())
}

// kept says why shards must not be taken away: nothing moves their slots and data away
// before somebody prunes them. It is empty where the reconciler does, and the guard holds
// pruning until then.
func (c *cluster) kept(gone []int32) string {
	switch {
	case c.jobs() == v1alpha1.JobsRendered:
		return "slots and data must be moved away first, which with jobs: Rendered valkey-render apply does and no other applier"
	case c.now == nil || !c.now.IsCluster():
		return "slots and data must be moved away first"
	case c.old == nil || c.old.EffectiveJobs() != v1alpha1.JobsReconciler:
		return "slots and data must be moved away first: let the reconciler have the cluster before shards go"
	case c.now.Spec.DeletionPolicy == v1alpha1.DeletionAllow:
		return "slots and data must be moved away first, and with spec.deletionPolicy Allow nothing holds pruning until then"
	case c.now.Spec.Hibernate || c.old.Spec.Hibernate:
		return "slots and data must be moved away first, and the shard's servers do not run: spec.hibernate"
	}
	for _, shard := range gone {
		if shard < c.now.ShardCount() {
			return "slots and data must be moved away first, and spec.shards still counts it"
		}
	}
	return ""
}

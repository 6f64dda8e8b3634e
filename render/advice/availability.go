// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/finding"
)

// noMajority: one or two primaries cannot outvote a lost one, so nobody elects a
// replica. The reconciler can take over; the server alone cannot.
func noMajority(c *v1alpha1.ValkeyCluster) []Advice {
	if !c.IsCluster() || c.ShardCount() >= 3 {
		return nil
	}
	return one(finding.NoMajority, spec().Child("shards"),
		"with %s there is no majority once a primary is lost, so the server elects no replica by itself; use at least 3", counted(int(c.ShardCount()), "shard"))
}

// gracePeriodTooShort: the kubelet then kills a primary in the middle of handing
// its role over.
func gracePeriodTooShort(c *v1alpha1.ValkeyCluster) []Advice {
	if c.Spec.Pod == nil || c.Spec.Pod.TerminationGracePeriodSeconds == nil {
		return nil
	}
	asked, want := *c.Spec.Pod.TerminationGracePeriodSeconds, c.RecommendedGraceSeconds()
	if asked >= want {
		return nil
	}
	return one(finding.GracePeriodShort, spec().Child("pod", "terminationGracePeriodSeconds"),
		"%d seconds are shorter than a handover and a last save may take; %d would do", asked, want)
}

// budgetDisabled: a drain may then take primary and replica at once.
func budgetDisabled(c *v1alpha1.ValkeyCluster) []Advice {
	b := c.Spec.PodDisruptionBudget
	if b == nil || b.Mode != v1alpha1.BudgetDisabled || c.PodsPerShard() < 2 {
		return nil
	}
	return one(finding.BudgetDisabled, spec().Child("podDisruptionBudget", "mode"),
		"without a budget a node drain may evict every member of a shard at once; use Shard")
}

// The size from which the status of one Argo CD Application nears the 1.5 MB that
// etcd takes.
const (
	manyShards  = 250
	manyObjects = 1500
)

// tooManyObjects: one Argo CD Application lists every object in its status.
func tooManyObjects(c *v1alpha1.ValkeyCluster) []Advice {
	perShard := 1 // the StatefulSet
	if c.BudgetMode() == v1alpha1.BudgetShard {
		perShard++
	}
	if c.HasClaims() {
		perShard += int(c.PodsPerShard())
	}
	objects := int(c.ShardCount()) * perShard
	if int(c.ShardCount()) < manyShards && objects < manyObjects {
		return nil
	}
	return one(finding.ManyShards, spec().Child("shards"),
		"%d objects of shards come near what the status of one Argo CD Application can hold; split the cluster's directory by shard ranges", objects)
}

// shardsRolledTogether: each shard has its own StatefulSet, and their controller
// rolls all of them at the same time. Before 9.0 each roll fails over by preStop.
func shardsRolledTogether(c *v1alpha1.ValkeyCluster) []Advice {
	if !c.IsCluster() || c.Spec.Rollout == nil ||
		c.Spec.Rollout.Mode != v1alpha1.RolloutStatefulSet || c.AtLeast("9.0") || c.ShardCount() < 2 {
		return nil
	}
	return one(finding.AllPodsRoll, spec().Child("rollout", "mode"),
		"the StatefulSet controller rolls all shards at once, and before Valkey 9.0 a primary cannot hand over by itself; use Orchestrated")
}

// metricsAreUnread: an object for Prometheus without the exporter shows nothing,
// and neither does what is said of the exporter.
func metricsAreUnread(c *v1alpha1.ValkeyCluster) []Advice {
	m := c.Spec.Metrics
	if m == nil || m.Enabled {
		return nil
	}
	var all []Advice
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"image", m.Image != ""},
		{"args", len(m.Args) > 0},
		{"resources", len(m.Resources.Limits)+len(m.Resources.Requests) > 0},
		{"podMonitor", m.PodMonitor != nil},
		{"prometheusRule", m.PrometheusRule != nil},
		{"dashboard", m.Dashboard != nil},
	} {
		if f.set {
			all = append(all, one(finding.UnusedField, spec().Child("metrics", f.name), "nothing is rendered for %s while metrics.enabled is false", f.name)...)
		}
	}
	return all
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// budgets returns the PodDisruptionBudgets: one for each shard, so that a drain of
// nodes never takes a primary together with its replica and never waits for
// another shard. They count unavailable pods, not available ones: a shard of one
// pod can always be drained.
func budgets(c *v1alpha1.ValkeyCluster) []*policyv1.PodDisruptionBudget {
	var out []*policyv1.PodDisruptionBudget
	switch c.BudgetMode() {
	case v1alpha1.BudgetDisabled:
		return nil
	case v1alpha1.BudgetCluster:
		out = append(out, budget(sharedMeta(c, name.ClusterBudget(c.Name)), name.ServerSelector(c.Name), c.BudgetMaxUnavailable()))
	default:
		for shard := range c.ShardCount() {
			out = append(out, budget(shardMeta(c, shard, name.Budget(c.Name, shard)), name.DataSelector(c.Name, shard), c.BudgetMaxUnavailable()))
		}
	}
	if c.IsSentinel() {
		// One at a time, whatever is asked for the data pods: the majority must stay.
		out = append(out, budget(sentinelMeta(c, name.Sentinel(c.Name)), name.SentinelSelector(c.Name), intstr.FromInt32(1)))
	}
	return out
}

func budget(meta metav1.ObjectMeta, selector map[string]string, most intstr.IntOrString) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: meta,
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &most, Selector: &metav1.LabelSelector{MatchLabels: selector}},
	}
}

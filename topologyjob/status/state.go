// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// state sums the conditions up: the first that holds of Hibernated, Degraded, Ready,
// Reconciling and Failed, with the reason and the message of the condition that decided.
func (x *computation) state() (v1alpha1.ClusterState, string, string) {
	ready := x.conditions[v1alpha1.ConditionReady]
	progressing := x.conditions[v1alpha1.ConditionProgressing]
	degraded := x.conditions[v1alpha1.ConditionDegraded]
	switch {
	case x.idle():
		return v1alpha1.StateHibernated, ready.Reason, ready.Message
	case degraded.Status == "True":
		return v1alpha1.StateDegraded, degraded.Reason, degraded.Message
	case ready.Status == "True":
		return v1alpha1.StateReady, ready.Reason, ready.Message
	case progressing.Status == "True":
		return v1alpha1.StateReconciling, progressing.Reason, progressing.Message
	}
	return v1alpha1.StateFailed, ready.Reason, ready.Message
}

// stalled is why nothing happens until somebody acts, nil when something may.
func (x *computation) stalled() *finding {
	if x.idle() {
		return nil
	}
	if x.o.Invalid != "" {
		return &finding{v1alpha1.ReasonInvalidSpec, x.o.Invalid}
	}
	if b := x.o.Next.Blocked; b != nil && b.Reason != v1alpha1.ReasonQuorumLost {
		if !x.initialized {
			return &finding{v1alpha1.ReasonBootstrapFailed, b.Message}
		}
		return &finding{b.Reason, b.Message}
	}
	for i := range x.o.Jobs {
		if j := &x.o.Jobs[i]; j.Final && j.failed() && j.Kind == kindApply && !x.o.Rendering.Current {
			return &finding{v1alpha1.ReasonJobBlocked, j.said()}
		}
	}
	if x.o.Next.RollRefused != "" {
		return &finding{v1alpha1.ReasonRollRefused, x.o.Next.RollRefused}
	}
	for _, c := range x.claims() {
		if f, done := x.size(c); !done && f.reason == v1alpha1.ReasonPersistentVolumeClaimResizeInfeasible {
			return &f
		}
	}
	return nil
}

// warning is what risky things of the spec are in effect, nil when none is. The reason is
// that of the first.
func (x *computation) warning() *finding {
	var (
		first string
		texts []string
	)
	add := func(reason, format string, args ...any) {
		if first == "" {
			first = reason
		}
		texts = append(texts, fmt.Sprintf(format, args...))
	}
	if grace, wanted := x.c.GraceSeconds(), x.c.RecommendedGraceSeconds(); grace < wanted {
		add(v1alpha1.ReasonGracePeriodTooShort, "spec.pod.terminationGracePeriodSeconds is %d: the handover on shutdown may take %d", grace, wanted)
	}
	if x.c.IsCluster() && x.c.ShardCount() < 3 {
		add(v1alpha1.ReasonNoMajority, "%d shards have no majority when one is lost: no primary is elected then", x.c.ShardCount())
	}
	if empty := x.emptyShards(); len(empty) > 0 {
		add(v1alpha1.ReasonShardEmpty, "shard %s owns no slot, as spec.rebalance.enabled is false: annotate %s", numbers(empty, 0), v1alpha1.AnnotationReshard)
	}
	if x.c.IsDurable() && x.c.PodsPerShard() == 1 && x.c.EffectiveTopology() != v1alpha1.TopologyStandalone {
		add(v1alpha1.ReasonDataNotReplicated, "durable data without a replica: a lost volume is lost data")
	}
	if x.o.Guard != nil && !*x.o.Guard && x.c.Spec.DeletionPolicy != v1alpha1.DeletionAllow {
		add(v1alpha1.ReasonGuardMissing, "the admission policies of the guard are not all installed: nothing keeps shards with data from being deleted by mistake")
	}
	if first == "" {
		return nil
	}
	return &finding{first, strings.Join(texts, "; ")}
}

// emptyShards are wanted shards without a slot while nobody may move any there.
func (x *computation) emptyShards() []int32 {
	if !x.c.IsCluster() || x.c.RebalanceEnabled() || !x.initialized {
		return nil
	}
	var list []int32
	for _, d := range x.details {
		if d.Index < x.c.ShardCount() && d.SlotCount == 0 && d.Health != v1alpha1.ShardDown && d.Health != v1alpha1.ShardUnknown {
			list = append(list, d.Index)
		}
	}
	return list
}

// prunePending says which drained shards still have objects, and how they go.
func (x *computation) prunePending() *finding {
	var list []int32
	for _, shard := range x.o.Drained {
		if x.remains(shard) {
			list = append(list, shard)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return &finding{v1alpha1.ReasonShardDrained, fmt.Sprintf(
		"shard %s is drained, and its objects still exist. Claims are never deleted by themselves: kubectl -n %s delete statefulset,poddisruptionbudget,persistentvolumeclaim -l %s=%s,'%s in (%s)'",
		numbers(list, 0), x.c.Namespace, name.LabelCluster, x.c.Name, name.LabelShard, strings.Join(decimals(list), ","))}
}

func decimals(list []int32) []string {
	var out []string
	for _, n := range list {
		out = append(out, decimal(int64(n)))
	}
	return out
}

// remains is whether anything of a shard exists.
func (x *computation) remains(shard int32) bool {
	for _, s := range x.o.StatefulSets {
		if !s.Sentinel && s.Shard == shard {
			return true
		}
	}
	for _, c := range x.o.Claims {
		if c.Shard == shard {
			return true
		}
	}
	for _, o := range x.o.Objects {
		if o.Kind == name.KindBudget && o.Name == name.Budget(x.c.Name, shard) {
			return true
		}
	}
	return false
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// judge works out the conditions, each from what was seen and from those before it.
func (x *computation) judge() {
	x.conditions = conditions{}
	x.formed()
	x.slotsAssigned()
	x.initialize()
	x.available()
	x.shardsHealthy()
	x.configApplied()
	x.aclApplied()
	x.conditions.present(v1alpha1.ConditionConfigurationWarning, x.warning())
	x.conditions.present(v1alpha1.ConditionPrunePending, x.prunePending())
	x.conditions.present(v1alpha1.ConditionDegraded, x.degraded())
	x.conditions.present(v1alpha1.ConditionStalled, x.stalled())
	x.progressing()
	x.ready()
	if p := x.conditions[v1alpha1.ConditionProgressing]; x.conditions.isTrue(p.Type) && !x.conditions.isTrue(v1alpha1.ConditionStalled) {
		x.conditions.set(v1alpha1.ConditionReconciling, true, finding{v1alpha1.ReasonReconciling, p.Message})
	}
}

// formed is whether all nodes have joined and make what was asked for.
func (x *computation) formed() {
	const kind = v1alpha1.ConditionClusterFormed
	if !x.heard && x.anyPod() && find(x.before.Conditions, kind) != nil {
		x.keep(kind, finding{})
		return
	}
	missing := x.missingShards()
	short := x.missingReplicas()
	switch {
	case missing > 0:
		x.conditions.set(kind, false, finding{v1alpha1.ReasonMissingShards, v1alpha1.MessageWaitingForShards})
	case len(short) > 0:
		x.conditions.set(kind, false, finding{v1alpha1.ReasonMissingReplicas, "Waiting for replicas: " + some(short)})
	default:
		x.conditions.set(kind, true, finding{v1alpha1.ReasonTopologyComplete, v1alpha1.MessageTopologyComplete})
	}
}

// missingShards is how many of the wanted shards no node of the cluster is in.
func (x *computation) missingShards() int {
	missing := 0
	for shard := range x.c.ShardCount() {
		if x.detail(shard) == nil {
			missing++
		}
	}
	return missing
}

// missingReplicas says which shards have too few replicas, linked or not.
func (x *computation) missingReplicas() []string {
	var list []string
	for _, d := range x.details {
		if wanted := x.wantedReplicas(d.Index); int32(len(d.Replicas)) < wanted {
			list = append(list, fmt.Sprintf("shard %d has %d of %d", d.Index, len(d.Replicas), wanted))
		}
	}
	return list
}

// slotsAssigned is whether every slot has an owner.
func (x *computation) slotsAssigned() {
	const kind = v1alpha1.ConditionSlotsAssigned
	switch {
	case !x.c.IsCluster():
	case !x.heard:
		x.keep(kind, finding{v1alpha1.ReasonSlotsUnassigned, v1alpha1.MessageSlotsUnassigned})
	case len(x.owners.Unassigned) == 0:
		x.conditions.set(kind, true, finding{v1alpha1.ReasonAllSlotsAssigned, v1alpha1.MessageAllSlotsAssigned})
	default:
		message := v1alpha1.MessageSlotsUnassigned
		if n := x.owners.Unassigned.Count(); n < name.SlotCount {
			message = fmt.Sprintf("%d slots have no owner: %s", n, x.owners.Unassigned)
		}
		x.conditions.set(kind, false, finding{v1alpha1.ReasonSlotsUnassigned, message})
	}
}

// assigned is whether every slot has an owner, for topologies with slots.
func (x *computation) assigned() bool {
	return !x.c.IsCluster() || x.conditions.isTrue(v1alpha1.ConditionSlotsAssigned)
}

// initialize is whether the cluster was ever formed. Once it was, that stays.
func (x *computation) initialize() {
	const kind = v1alpha1.ConditionClusterInitialized
	x.initialized = x.before.ClusterInitialized
	if old := find(x.before.Conditions, kind); x.initialized && old != nil && old.Status == "True" {
		x.keep(kind, finding{})
		return
	}
	formed := x.heard && x.conditions.isTrue(v1alpha1.ConditionClusterFormed) && x.assigned()
	switch {
	case x.initialized || formed:
		x.initialized = true
		x.conditions.set(kind, true, x.origin())
	case x.bootstrapFailed() != nil:
		x.conditions.set(kind, false, *x.bootstrapFailed())
	default:
		x.conditions.set(kind, false, finding{v1alpha1.ReasonBootstrapping, "The cluster is being formed"})
	}
}

// origin says how the cluster came to be formed.
func (x *computation) origin() finding {
	switch {
	case x.before.ObservedGeneration <= 0 && x.before.JobSerial == 0 && len(x.o.Jobs) == 0:
		return finding{v1alpha1.ReasonAdoptedExisting, "Nodes that knew each other were taken over"}
	}
	return finding{v1alpha1.ReasonBootstrapSucceeded, "The cluster was formed"}
}

// bootstrapFailed is why the cluster cannot be formed, nil when it can.
func (x *computation) bootstrapFailed() *finding {
	if b := x.o.Next.Blocked; b != nil && !x.before.ClusterInitialized {
		return &finding{v1alpha1.ReasonBootstrapFailed, b.Message}
	}
	return nil
}

// available is whether writes are possible on every shard.
func (x *computation) available() {
	const kind = v1alpha1.ConditionAvailable
	if !x.asked && x.anyPod() && find(x.before.Conditions, kind) != nil {
		x.keep(kind, finding{})
		return
	}
	down, unseen := x.withHealth(v1alpha1.ShardDown), x.withHealth(v1alpha1.ShardUnknown)
	switch {
	case x.idle():
		x.conditions.set(kind, false, finding{v1alpha1.ReasonHibernated, "The cluster hibernates: there are no pods"})
	case !x.initialized:
		x.conditions.set(kind, false, finding{v1alpha1.ReasonBootstrapping, "The cluster is being formed"})
	case len(down) > 0 || len(x.details) == 0:
		x.conditions.set(kind, false, finding{v1alpha1.ReasonPrimaryDown, "no primary serves shard " + numbers(down, x.c.ShardCount())})
	case len(unseen) > 0:
		x.keep(kind, finding{v1alpha1.ReasonPrimaryDown, "no primary answers of shard " + numbers(unseen, 0)})
	case !x.assigned():
		x.conditions.set(kind, false, finding{v1alpha1.ReasonSlotsUncovered, "slots without an owner: " + x.owners.Unassigned.String()})
	case len(x.refusing()) > 0:
		x.conditions.set(kind, false, finding{v1alpha1.ReasonSlotsUncovered, "servers refuse commands, as cluster_state is fail: " + some(x.refusing())})
	default:
		x.conditions.set(kind, true, finding{v1alpha1.ReasonServing, "Every shard takes writes"})
	}
}

// withHealth are the shards with a health.
func (x *computation) withHealth(h v1alpha1.ShardHealth) []int32 {
	var list []int32
	for _, d := range x.details {
		if d.Health == h {
			list = append(list, d.Index)
		}
	}
	return list
}

// refusing are the primaries that own slots and believe that their cluster is down.
func (x *computation) refusing() []string {
	var list []string
	for i := range x.servers {
		if s := &x.servers[i]; s.answered() && s.Refuses && len(s.Slots) > 0 {
			list = append(list, s.Pod)
		}
	}
	slices.Sort(list)
	return list
}

// numbers are the indexes of shards, as "0, 2-4"; all of so many when there is none.
func numbers(list []int32, all int32) string {
	var ranges []slot.Range
	for _, n := range list {
		ranges = append(ranges, slot.Range{First: int(n), Last: int(n)})
	}
	if len(ranges) == 0 && all > 0 {
		ranges = append(ranges, slot.Range{Last: int(all) - 1})
	}
	return strings.ReplaceAll(slot.Of(ranges...).String(), ",", ", ")
}

// shardsHealthy is whether the health of every shard is Ready.
func (x *computation) shardsHealthy() {
	var list []string
	indexes := []int32{}
	for shard := range x.c.ShardCount() {
		indexes = append(indexes, shard)
	}
	for _, d := range x.details {
		if !slices.Contains(indexes, d.Index) {
			indexes = append(indexes, d.Index)
		}
	}
	for _, shard := range indexes {
		health := v1alpha1.ShardUnknown
		if d := x.detail(shard); d != nil {
			health = d.Health
		}
		if health != v1alpha1.ShardReady {
			list = append(list, fmt.Sprintf("%d:%s", shard, health))
		}
	}
	if len(list) == 0 {
		x.conditions.set(v1alpha1.ConditionShardsHealthy, true, finding{v1alpha1.ReasonAllHealthy, "All shards are healthy"})
		return
	}
	x.conditions.set(v1alpha1.ConditionShardsHealthy, false, finding{v1alpha1.ReasonShardsNotHealthy, "unhealthy shards: " + strings.Join(list, ", ")})
}

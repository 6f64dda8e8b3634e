// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"slices"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// How far a replica may be behind, in bytes. Pods are not asked at the same instant, so a
// busy one always seems to be a little; and a class that has changed stays until the lag has
// plainly changed too.
const (
	behindFrom = 8 << 20
	inSyncFrom = 1 << 20
)

// shards fills in what is known of every shard. A shard that no node of the cluster is in
// yet is left out.
func (x *computation) shards() []v1alpha1.ShardStatus {
	before := map[int32]v1alpha1.ShardStatus{}
	for _, d := range x.before.ShardDetails {
		before[d.Index] = d
	}
	if !x.asked && x.anyPod() {
		return x.before.ShardDetails
	}
	var details []v1alpha1.ShardStatus
	for _, index := range x.indexes() {
		old, existed := before[index]
		d, there := x.shard(index, old)
		switch {
		case there:
			x.lags = append(x.lags, lags(&d)...)
			details = append(details, settle(d, old, existed))
		case existed && index < x.c.ShardCount() && !x.idle():
			old.Health, old.InSync, old.LagClass = x.silent(old.Primary, false), false, v1alpha1.LagBroken
			details = append(details, old)
		}
	}
	return details
}

// settle keeps the offsets of the last transition while nothing else changes: they move by
// themselves.
func settle(d, old v1alpha1.ShardStatus, existed bool) v1alpha1.ShardStatus {
	if !existed {
		return d
	}
	same := d
	same.PrimaryOffset, same.ReplicaOffsets, same.MaxLagBytes = old.PrimaryOffset, old.ReplicaOffsets, old.MaxLagBytes
	if sameShard(same, old) {
		return same
	}
	return d
}

func sameShard(a, b v1alpha1.ShardStatus) bool {
	return a.Index == b.Index && a.Primary == b.Primary && a.PrimaryNodeID == b.PrimaryNodeID &&
		slices.Equal(a.Replicas, b.Replicas) && slices.Equal(a.SlotRanges, b.SlotRanges) &&
		a.Health == b.Health && a.InSync == b.InSync && a.LagClass == b.LagClass
}

// indexes are those of the wanted shards, then of those beyond the count that have pods and
// are not drained.
func (x *computation) indexes() []int32 {
	var list []int32
	for i := range x.c.ShardCount() {
		list = append(list, i)
	}
	for _, s := range x.o.StatefulSets {
		if !s.Sentinel && s.Shard >= x.c.ShardCount() && !slices.Contains(list, s.Shard) && !slices.Contains(x.o.Drained, s.Shard) {
			list = append(list, s.Shard)
		}
	}
	slices.Sort(list)
	return list
}

// members are the servers of a shard, by index.
func (x *computation) members(shard int32) []*server {
	var list []*server
	for i := range x.servers {
		if s, _ := place(x.servers[i].Pod); s == shard {
			list = append(list, &x.servers[i])
		}
	}
	slices.SortFunc(list, func(a, b *server) int {
		_, i := place(a.Pod)
		_, j := place(b.Pod)
		return cmp.Compare(i, j)
	})
	return list
}

// primaryOf is the primary of a shard among those that answered: the owner of the most
// slots, else one that has joined; without slots the one that pods are told to be, by label
// or by those that follow it.
func (x *computation) primaryOf(members []*server) *server {
	var (
		best *server
		most int
	)
	for _, s := range members {
		if !s.answered() || s.Role != v1alpha1.RolePrimary || x.c.IsCluster() && !s.Joined {
			continue
		}
		weight := 1 + 2*s.Slots.Count()
		if !x.c.IsCluster() {
			weight = x.follow(members, s)
		}
		if best == nil || weight > most {
			best, most = s, weight
		}
	}
	return best
}

// follow weighs a primary of a topology without slots.
func (x *computation) follow(members []*server, primary *server) int {
	weight := 0
	if p := x.pods[primary.Pod]; p != nil && p.Role == v1alpha1.RolePrimary {
		weight += 100
	}
	if !primary.Refuses {
		weight += 50
	}
	for _, s := range members {
		if s.answered() && s.Primary == primary.Pod {
			weight++
		}
	}
	return weight
}

func (x *computation) shard(index int32, old v1alpha1.ShardStatus) (v1alpha1.ShardStatus, bool) {
	d := v1alpha1.ShardStatus{Index: index}
	members := x.members(index)
	primary := x.primaryOf(members)
	var slots slot.Ranges
	for _, s := range members {
		slots = slots.Plus(s.Slots)
	}
	dead := x.deadOwner(index, old)
	if dead != nil {
		slots = slots.Plus(dead.slots)
	}
	for _, r := range slots {
		d.SlotRanges = append(d.SlotRanges, r.String())
	}
	d.SlotCount = int32(slots.Count())
	switch {
	case primary != nil && (dead == nil || len(primary.Slots) > 0):
		d.Primary, d.PrimaryNodeID = primary.Pod, primary.NodeID
		x.replicas(&d, primary, members, old.LagClass)
	case dead != nil:
		d.Primary, d.PrimaryNodeID = cmp.Or(dead.pod, old.Primary), dead.id
		d.Health, d.LagClass = x.silent(d.Primary, dead.failed), v1alpha1.LagBroken
		d.Replicas = old.Replicas
	default:
		return d, false
	}
	return d, true
}

// deadOwner is the owner of slots that was in a shard and does not answer.
func (x *computation) deadOwner(shard int32, old v1alpha1.ShardStatus) *gone {
	for i := range x.lost {
		g := &x.lost[i]
		at, _ := place(g.pod)
		if g.pod != "" && at == shard || g.id == old.PrimaryNodeID {
			return g
		}
	}
	return nil
}

// replicas fills in who follows the primary, how well, and what that makes of the shard.
func (x *computation) replicas(d *v1alpha1.ShardStatus, primary *server, members []*server, before v1alpha1.LagClass) {
	d.Health, d.InSync, d.LagClass, d.PrimaryOffset = v1alpha1.ShardReady, true, v1alpha1.LagInSync, primary.Offset
	linked := int32(0)
	for _, s := range members {
		if !s.answered() || s.Role != v1alpha1.RoleReplica || s.Primary != primary.Pod {
			continue
		}
		d.Replicas = append(d.Replicas, s.Pod)
		d.ReplicaOffsets = append(d.ReplicaOffsets, v1alpha1.ReplicaOffset{Pod: s.Pod, Offset: s.Offset})
		d.MaxLagBytes = max(d.MaxLagBytes, primary.Offset-s.Offset)
		if s.LinkUp {
			linked++
		}
	}
	threshold := int64(behindFrom)
	if before == v1alpha1.LagBehind {
		threshold = inSyncFrom
	}
	switch {
	case primary.Refuses && !x.c.IsCluster():
		d.Health = v1alpha1.ShardDown
	case linked < x.wantedReplicas(d.Index):
		d.Health, d.InSync, d.LagClass = v1alpha1.ShardDegraded, false, v1alpha1.LagBroken
	case d.MaxLagBytes > threshold:
		d.InSync, d.LagClass = false, v1alpha1.LagBehind
	}
}

// wantedReplicas is how many replicas a shard is to have: one that is to go needs none.
func (x *computation) wantedReplicas(shard int32) int32 {
	if shard >= x.c.ShardCount() {
		return 0
	}
	return x.c.ReplicaCount()
}

// silent is the health of a shard whose primary does not answer. The kubelet asks it too: as
// long as that has an answer, and no other server misses it, it is we who cannot reach it.
func (x *computation) silent(pod string, failed bool) v1alpha1.ShardHealth {
	if p := x.pods[pod]; p != nil && p.Ready && !p.Deleting && !failed {
		return v1alpha1.ShardUnknown
	}
	return v1alpha1.ShardDown
}

// detail is what is known of a shard, nil when no node of the cluster is in it.
func (x *computation) detail(shard int32) *v1alpha1.ShardStatus {
	for i := range x.details {
		if x.details[i].Index == shard {
			return &x.details[i]
		}
	}
	return nil
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"cmp"
	"slices"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/status"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// parties are the wanted shards with their pods.
func (in Input) parties() []party {
	var list []party
	for shard := range in.Cluster.ShardCount() {
		set := in.set(shard)
		if set == nil {
			continue
		}
		list = append(list, in.party(set))
	}
	return list
}

func (in Input) party(set *status.StatefulSet) party {
	p := party{shard: set.Shard, wanted: set.Replicas}
	asked := in.restartAsked(set.Shard)
	owner, head := in.owner(set.Shard)
	for i := range in.Seen.Pods {
		pod := &in.Seen.Pods[i]
		if pod.Sentinel || pod.Shard != set.Shard {
			continue
		}
		m := member{Pod: pod, stopped: in.stopped(pod)}
		switch {
		case in.outdated(set, pod):
			m.why = "has an older template"
		case pod.Created.Before(asked):
			m.why, m.asked = "was there when a restart was asked for", true
		}
		if a := in.answer(pod.Name); a != nil {
			m.told = true
			m.primary = owner != "" && a.ID == owner
			caught := m.primary || in.follows(a, owner) && a.LinkUp && head-a.Offset < near
			m.good = caught && pod.Ready && !pod.Deleting
		}
		p.members = append(p.members, m)
	}
	slices.SortFunc(p.members, func(a, b member) int { return cmp.Compare(a.Index, b.Index) })
	return p
}

// stopped is whether Kubernetes says that no server of a pod runs.
func (in Input) stopped(pod *status.Pod) bool {
	return slices.ContainsFunc(in.Asked, func(p survey.Pod) bool {
		return p.Name == pod.Name && p.UID == string(pod.UID) && p.Runs == survey.Stopped
	})
}

// outdated is whether a pod is to be replaced for its template. Without the controller's
// word on the newest one nothing is old, and where the controller rolls it does all of it.
func (in Input) outdated(set *status.StatefulSet, pod *status.Pod) bool {
	return in.Cluster.RolloutMode() == v1alpha1.RolloutOrchestrated &&
		set.Observed && set.UpdateRevision != "" && pod.Revision != set.UpdateRevision
}

// follows reports whether a server is a replica of a node.
func (in Input) follows(a *survey.Answer, primary string) bool {
	if r := a.Replication; r != nil {
		p := in.Seen.View.At(r.Follows)
		return !r.Primary && p != nil && p.ID == primary
	}
	own := a.Own()
	return own.Replica && own.Primary == primary
}

// owner is the node of a shard that owns slots, and its offset; of several the one with the
// most. A shard whose slots are yet to come has its only primary.
func (in Input) owner(shard int32) (id string, offset int64) {
	if !in.Cluster.IsCluster() {
		if a := soleAnswer(in.Seen.View); a != nil {
			return a.ID, a.Offset
		}
		return "", 0
	}
	owners := in.Seen.View.Owners()
	most := -1
	for i := range in.Seen.View.Answers {
		a := &in.Seen.View.Answers[i]
		if a.Pod.Shard != shard || !a.Answered() || a.Own().Replica {
			continue
		}
		if n := owners.Slots[a.ID].Count(); n > most {
			id, offset, most = a.ID, a.Offset, n
		}
	}
	return id, offset
}

// answer is what the server of a pod told, nil when nothing.
func (in Input) answer(pod string) *survey.Answer {
	for i := range in.Seen.View.Answers {
		if a := &in.Seen.View.Answers[i]; a.Pod.Name == pod && a.Answered() {
			return a
		}
	}
	return nil
}

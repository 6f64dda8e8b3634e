// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// isolated is check 7: nodes that do not know each other. When no slot has an owner the
// cluster is formed, which needs every pod, and all of them empty; one that was formed
// before is formed again only as a Cache. Otherwise empty nodes join, and a node that has
// data and no history stays outside: what it holds would be deleted.
func isolated(s *situation) finding {
	if !s.assigned() {
		return s.form()
	}
	for _, a := range s.nodes {
		if a.Keys > 0 && len(a.Own().Slots) == 0 && len(a.Nodes) == 1 && s.wanted(a.Pod) {
			return blocked(ForeignData, fmt.Sprintf("pod %s knows no other node and holds %d keys of slots that others own: remove its data to let it join", a.Pod.Name, a.Keys))
		}
	}
	edges := s.edges(func(a, b *survey.Answer) bool { return strange(a, b) || strange(b, a) })
	if len(edges) == 0 {
		return finding{}
	}
	return finding{steps: []Step{Meet{Because: "nodes do not know each other", Edges: edges}}}
}

// form is the bootstrap, all of it in one plan. Shards form first, each for itself; then
// everybody meets. A node tells its slots and its role in the first packet that it sends,
// so all agree as soon as they have met, and nobody has to hear of a change later.
func (s *situation) form() finding {
	if absent := s.absent(); len(absent) > 0 {
		return finding{stop: true} // check 1 said which
	}
	if s.desired.Initialized && s.desired.Durable && !s.desired.AcceptLoss.Covers(s.owners.Unassigned) {
		return blocked(SlotsLost, "the cluster was formed before and no node owns a slot: it is not formed again, since its data may be restored; accept the loss of all slots to form it anew")
	}
	if n := s.keys(); n > 0 {
		return blocked(ForeignData, fmt.Sprintf("no slot has an owner, and yet there are %d keys: the cluster is formed of empty nodes only", n))
	}
	for shard := range s.desired.Shards {
		for index := range s.desired.Replicas + 1 {
			if !s.has(shard, index) {
				return finding{waits: []Wait{{Message: fmt.Sprintf("pod %d of shard %d was not asked", index, shard)}}, stop: true}
			}
		}
	}
	return finding{steps: s.bootstrap()}
}

func (s *situation) has(shard, index int32) bool {
	for _, a := range s.nodes {
		if a.Pod.Shard == shard && a.Pod.Index == index {
			return true
		}
	}
	return false
}

// bootstrap are the steps of forming a cluster of empty nodes.
func (s *situation) bootstrap() []Step {
	const because = "no slot has an owner and every node is empty"
	epochs := Epochs{Because: because}
	assign := Assign{Because: because}
	within := Meet{Because: because}
	replicas := Attach{Because: because}
	for shard := range s.desired.Shards {
		nodes := s.shard(shard)
		primary := s.firstPrimary(nodes)
		for _, a := range nodes {
			if !s.wanted(a.Pod) {
				continue
			}
			if len(a.Nodes) == 1 && a.Own().Epoch == 0 {
				epochs.Nodes = append(epochs.Nodes, Epoch{ref(a), s.epoch(a, a == primary)})
			}
			if a == primary {
				assign.Claims = append(assign.Claims, Claim{ref(a), s.formula(shard)})
				continue
			}
			if strange(a, primary) || strange(primary, a) {
				within.Edges = append(within.Edges, Edge{From: ref(a), To: ref(primary)})
			}
			if own := a.Own(); !own.Replica || own.Primary != primary.ID {
				replicas.Replicas = append(replicas.Replicas, Attachment{Replica: ref(a), Primary: ref(primary)})
			}
		}
	}
	everybody := Meet{Because: because, Edges: s.edges(func(a, b *survey.Answer) bool {
		return s.wanted(a.Pod) && s.wanted(b.Pod) && a.Pod.Shard != b.Pod.Shard && (strange(a, b) || strange(b, a))
	})}
	var steps []Step
	for _, step := range []struct {
		n    int
		step Step
	}{
		{len(epochs.Nodes), epochs},
		{len(assign.Claims), assign},
		{len(within.Edges), within},
		{len(replicas.Replicas), replicas},
		{len(everybody.Edges), everybody},
	} {
		if step.n > 0 {
			steps = append(steps, step.step)
		}
	}
	return steps
}

// firstPrimary is the node of a shard that becomes its primary: the lowest index that is
// not a replica.
func (s *situation) firstPrimary(nodes []*survey.Answer) *survey.Answer {
	for _, a := range nodes {
		if !a.Own().Replica && s.wanted(a.Pod) {
			return a
		}
	}
	return nodes[0]
}

// epoch numbers the nodes, primaries above replicas: a server ignores what a node says
// while the epoch that it names, a replica its primary's, is lower than one heard before.
func (s *situation) epoch(a *survey.Answer, primary bool) uint64 {
	replicas := uint64(s.desired.Shards) * uint64(s.desired.Replicas)
	if primary {
		return replicas + uint64(a.Pod.Shard) + 1
	}
	return uint64(a.Pod.Shard)*uint64(s.desired.Replicas) + uint64(max(a.Pod.Index, 1))
}

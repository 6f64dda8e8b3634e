// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// attach is check 10: every other pod of a shard replicates the one that owns its slots,
// whatever its ordinal. Nobody is attached whose data may be the only copy: a node with
// slots or keys of its own, or a replica whose primary owns slots and does not answer. Keys
// that the owners of their slots have as well are deleted first.
func attach(s *situation) finding {
	const because = "pods do not replicate the owner of their shard's slots"
	var f finding
	step := Attach{Because: because}
	var empties []Step
	for shard := range s.desired.Shards {
		primary, why := s.followed(shard)
		if why != "" {
			f.waits = append(f.waits, Wait{Message: why})
		}
		if primary == nil {
			continue
		}
		for _, a := range s.shard(shard) {
			if a == primary || !s.wanted(a.Pod) || a.Own().Replica && a.Own().Primary == primary.ID {
				continue
			}
			why, empty := s.unattachable(a, primary), (*Empty)(nil)
			if why == "" && !a.Own().Replica && a.Keys > 0 {
				empty, why = s.stranded(a)
			}
			switch {
			case why != "":
				f.waits = append(f.waits, Wait{Pod: a.Pod.Name, Message: "pod " + a.Pod.Name + " " + why})
			case empty != nil:
				empties = append(empties, *empty)
			default:
				step.Replicas = append(step.Replicas, Attachment{Replica: ref(a), Primary: ref(primary)})
			}
		}
	}
	if len(step.Replicas) > 0 {
		f.steps = []Step{step}
	}
	// Last, since they may find out that they cannot be done.
	f.steps = append(f.steps, empties...)
	return f
}

// followed is the node that the others of a shard replicate: the owner of its slots, or,
// in a shard that owns none yet, its first primary. A shard whose owner may be a node that
// does not answer has none.
func (s *situation) followed(shard int32) (*survey.Answer, string) {
	if owner := s.owner(shard); owner != nil {
		return owner, ""
	}
	nodes := s.shard(shard)
	for _, a := range nodes {
		own := a.Own()
		if slots := s.owners.Slots[own.Primary]; own.Replica && s.byID[own.Primary] == nil && slots.Count() > 0 {
			return nil, fmt.Sprintf("the primary of shard %d does not answer", shard)
		}
	}
	if slots := s.ownerless(); len(nodes) > 0 && slots.Count() > 0 {
		return nil, fmt.Sprintf("slots %s belong to a node that does not answer", slots)
	}
	return s.primary(shard), ""
}

// ownerless are the slots of nodes that did not answer.
func (s *situation) ownerless() slot.Ranges {
	var all slot.Ranges
	for id, slots := range s.owners.Slots {
		if s.byID[id] == nil {
			all = all.Plus(slots)
		}
	}
	return all
}

// unattachable says why a pod may not be made a replica now, "" if it may once it has no
// keys.
func (s *situation) unattachable(a, primary *survey.Answer) string {
	own := a.Own()
	e, known := a.Sees(primary.ID)
	switch {
	case s.owners.Slots[a.ID].Count() > 0:
		return fmt.Sprintf("owns slots %s beside %s", s.owners.Slots[a.ID], primary.Pod.Name)
	case own.Replica && s.byID[own.Primary] == nil && s.owners.Slots[own.Primary].Count() > 0:
		return "replicates a node that owns slots and does not answer"
	case !own.Replica && len(own.Slots) > 0:
		return "has not yet heard that its slots have another owner"
	case !known || e.Handshake:
		return "does not know " + primary.Pod.Name + " yet"
	case e.Replica:
		return "has not yet heard that " + primary.Pod.Name + " is a primary"
	}
	return ""
}

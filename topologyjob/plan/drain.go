// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/valkey-render/valkey-render/topologyjob/allocation"
)

// drain is check 12: shards beyond the wanted count give their slots straight to the final
// owners. It works from who owns what now and remembers nothing, so a shard that is wanted
// again gets its slots back the same way. A shard is drained when it owns no slot and none
// of its pods has a key left.
func drain(s *situation) finding {
	if !s.desired.Drain {
		return finding{}
	}
	shares, why := s.shares()
	leaving := 0
	for _, share := range shares {
		if share.Leaving {
			leaving += share.Slots.Count()
		}
	}
	if why != "" && s.leaving() == 0 || why == "" && leaving == 0 {
		return s.emptied()
	}
	return s.begin(why, "shards beyond the wanted count own slots", func() []allocation.Move {
		if s.desired.RebalanceEnabled {
			return allocation.Even(shares)
		}
		return allocation.Drain(shares)
	})
}

// begin begins to move slots unless something speaks against it.
func (s *situation) begin(why, because string, moves func() []allocation.Move) finding {
	still, ok := s.still()
	if ok && why == "" {
		return s.move(because, moves())
	}
	if why == "" {
		why = still
	}
	if why == "" {
		why = "slots move when all nodes agree"
	}
	return finding{waits: []Wait{{Message: why}}, stop: true}
}

// leaving is how many slots the shards beyond the wanted count own.
func (s *situation) leaving() int {
	n := 0
	for _, a := range s.nodes {
		if a.Pod.Shard >= s.desired.Shards {
			n += s.owners.Slots[a.ID].Count()
		}
	}
	return n
}

// emptied waits until no pod of a drained shard has a key. What a primary of one has is
// deleted, if it is elsewhere; its replicas follow.
func (s *situation) emptied() finding {
	var f finding
	for _, a := range s.nodes {
		if a.Pod.Shard < s.desired.Shards || a.Keys == 0 {
			continue
		}
		why := fmt.Sprintf("of a drained shard holds %s", count(int(a.Keys), "key"))
		if own := a.Own(); !own.Replica && len(own.Slots) == 0 {
			var step *Empty
			if step, why = s.stranded(a); step != nil {
				f.steps = append(f.steps, *step)
				continue
			}
		}
		f.waits = append(f.waits, Wait{Pod: a.Pod.Name, Message: "pod " + a.Pod.Name + " " + why})
	}
	return f
}

// uneven is check 14: the fewest slots move that make all shards even.
func uneven(s *situation) finding {
	if !s.desired.RebalanceEnabled || s.leaving() > 0 {
		return finding{}
	}
	shares, why := s.shares()
	if why == "" && len(allocation.Even(shares)) == 0 {
		return finding{}
	}
	return s.begin(why, "shards own different numbers of slots", func() []allocation.Move { return allocation.Even(shares) })
}

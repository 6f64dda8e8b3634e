// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/valkey-render/valkey-render/topologyjob/allocation"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// Reshard are slots that somebody wants to move from one shard to another.
type Reshard struct {
	From int32 `json:"from"`
	To   int32 `json:"to"`
	// Count is how many, of those that move with the least trouble.
	Count int `json:"count,omitempty"`
	// Slots, when not empty, are which. Only these can be moved again without moving more.
	Slots slot.Ranges `json:"slots,omitempty"`
}

// reshard moves the slots that were asked for: what the target does not own yet.
func reshard(s *situation) finding {
	r := s.desired.Reshard
	if r == nil {
		return finding{}
	}
	shares, why := s.shares()
	if why != "" {
		return s.begin(why, "", nil)
	}
	if still, ok := s.still(); !ok {
		// Who owns what is not known for good: nothing is wrong with what was asked for yet.
		return s.begin(still, "", nil)
	}
	slots := r.Slots
	if len(slots) == 0 {
		m, err := allocation.Reshard(shares, r.From, r.To, r.Count)
		if err != nil {
			return blocked(BadReshard, err.Error())
		}
		slots = m.Slots
	}
	var from, to *allocation.Share
	for i := range shares {
		switch shares[i].Shard {
		case r.From:
			from = &shares[i]
		case r.To:
			to = &shares[i]
		}
	}
	if from == nil || to == nil || to.Leaving || r.From == r.To {
		return blocked(BadReshard, fmt.Sprintf("reshard: from shard %d to shard %d: there are no two such shards", r.From, r.To))
	}
	left := slots.Minus(to.Slots)
	if left.Count() == 0 {
		return finding{}
	}
	if elsewhere := left.Minus(from.Slots); elsewhere.Count() > 0 {
		return blocked(BadReshard, fmt.Sprintf("reshard: shard %d does not own slots %s", r.From, elsewhere))
	}
	f := s.begin("", "a reshard was asked for", func() []allocation.Move {
		return []allocation.Move{{From: r.From, To: r.To, Slots: left}}
	})
	for i := range f.steps {
		if m, ok := f.steps[i].(MoveSlots); ok {
			m.Picked = slots
			f.steps[i] = m
		}
	}
	return f
}

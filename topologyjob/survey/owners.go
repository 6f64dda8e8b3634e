// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"slices"

	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// claim is that a node owns slots, as of an epoch.
type claim struct {
	id    string
	epoch uint64
	slots slot.Ranges
}

// Owners merges what all nodes say. A node that answered speaks for itself alone, and
// what others believe of it counts for nothing. Of a node that did not answer every
// belief counts. The higher config epoch wins, as it does among the servers.
func (v *View) Owners() Owners {
	answered := map[string]bool{}
	for i := range v.Answers {
		answered[v.Answers[i].ID] = v.Answers[i].Answered()
	}
	var claims []claim
	latest := map[string]int{}
	for i := range v.Answers {
		for _, e := range v.Answers[i].Nodes {
			if len(e.Slots) == 0 || !e.Myself && answered[e.ID] {
				continue
			}
			// All believe the same of a node that does not answer, mostly.
			if last, found := latest[e.ID]; found && claims[last].epoch == e.Epoch && slices.Equal(claims[last].slots, e.Slots) {
				continue
			}
			latest[e.ID] = len(claims)
			claims = append(claims, claim{id: e.ID, epoch: e.Epoch, slots: e.Slots})
		}
	}
	return merge(claims)
}

func merge(claims []claim) Owners {
	var (
		owner     [name.SlotCount]uint32 // index+1 of the claim that wins
		tied      [name.SlotCount]bool   // another claim is as good
		contested []slot.Range
	)
	for i, c := range claims {
		for _, r := range c.slots {
			for s := r.First; s <= r.Last; s++ {
				winner := int(owner[s]) - 1
				switch {
				case winner < 0 || claims[winner].epoch < c.epoch:
					owner[s], tied[s] = uint32(i)+1, false
				case claims[winner].epoch == c.epoch && claims[winner].id != c.id:
					tied[s] = true
				}
			}
		}
	}
	for s, is := range tied {
		if is {
			contested = append(contested, slot.Range{First: s, Last: s})
		}
	}
	of := map[string][]slot.Range{}
	var unassigned []slot.Range
	for first := 0; first < name.SlotCount; {
		last := first
		for last+1 < name.SlotCount && owner[last+1] == owner[first] {
			last++
		}
		r := slot.Range{First: first, Last: last}
		if owner[first] == 0 {
			unassigned = append(unassigned, r)
		} else {
			id := claims[owner[first]-1].id
			of[id] = append(of[id], r)
		}
		first = last + 1
	}
	owners := Owners{Slots: map[string]slot.Ranges{}, Unassigned: slot.Of(unassigned...), Contested: slot.Of(contested...)}
	for id, ranges := range of {
		owners.Slots[id] = slot.Of(ranges...)
	}
	return owners
}

// Believers are the nodes that still believe something else of a slot's owner than what
// Owners says, by ID with the number of slots.
func (v *View) Believers(owners Owners) map[string]int {
	wrong := map[string]int{}
	for i := range v.Answers {
		a := &v.Answers[i]
		if !a.Answered() {
			continue
		}
		seen := map[string]slot.Ranges{}
		for _, e := range a.Nodes {
			seen[e.ID] = e.Slots
		}
		off := 0
		for id, slots := range owners.Slots {
			off += slots.Minus(seen[id]).Count()
		}
		for _, e := range a.Nodes {
			off += e.Slots.And(owners.Unassigned).Count()
		}
		if off > 0 {
			wrong[a.ID] = off
		}
	}
	return wrong
}

// Known reports whether at least one node that answered knows an ID, other than as itself
// or as a handshake.
func (v *View) Known(id string) bool {
	for i := range v.Answers {
		if e, found := v.Answers[i].Sees(id); found && known(e) {
			return true
		}
	}
	return false
}

func known(e node.Entry) bool { return !e.Myself && !e.Handshake }

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// interrupted is check 3: slots that a migration key by key left open are moved on to where
// they were going. That is right wherever it was cut off: keys may be on both sides, and
// what the target has is never given back. Nothing is made STABLE: on a source that has not
// heard yet that its slot is gone, this would take writes that are lost. None of it is done
// while a former primary may come back: see returning.
func interrupted(s *situation) finding {
	var f finding
	step := MoveSlots{Because: "slots were left open by an interrupted migration", Timeout: s.desired.NodeTimeout.Milliseconds()}
	type way struct{ from, to *survey.Answer }
	slotsOf := map[way]slot.Ranges{}
	var ways []way
	done := map[int]bool{}
	for _, o := range s.openings() {
		from, to, why := s.course(o)
		if why == "" && !(from.StateOK && to.StateOK) {
			// Neither gives or takes a key then, and what is to be done about it comes later.
			why = "the cluster is down"
		}
		if why == "" && s.ousted(to) {
			// With a slot more it would win the others back.
			why = to.Pod.Name + " has not heard yet that its slots have another owner"
		}
		if why == "" {
			why = s.returning()
		}
		if why != "" {
			f.waits = append(f.waits, Wait{Pod: o.at.Pod.Name, Message: fmt.Sprintf("slot %d is open and %s", o.Slot, why)})
			continue
		}
		if done[o.Slot] {
			continue
		}
		done[o.Slot] = true
		w := way{from, to}
		if slotsOf[w] == nil {
			ways = append(ways, w)
		}
		slotsOf[w] = slotsOf[w].Plus(slot.Ranges{{First: o.Slot, Last: o.Slot}})
	}
	// Who takes slots gets a new config epoch, which the others have to hear of before they
	// take any from it: no node does both in one step.
	gives, takes := map[*survey.Answer]bool{}, map[*survey.Answer]bool{}
	for _, w := range ways {
		step.Left += slotsOf[w].Count()
		if takes[w.from] || gives[w.to] {
			continue
		}
		gives[w.from], takes[w.to] = true, true
		step.Moves = append(step.Moves, Move{From: ref(w.from), To: ref(w.to), Slots: slotsOf[w]})
	}
	if len(step.Moves) > 0 {
		f.steps = []Step{step}
	}
	return f
}

// opening is a slot that a primary says is open.
type opening struct {
	node.OpenSlot
	at *survey.Answer
}

// openings are the open slots of all primaries, the sides that give first.
func (s *situation) openings() []opening {
	var list []opening
	for _, a := range s.nodes {
		own := a.Own()
		for _, o := range own.Open {
			if !own.Replica {
				list = append(list, opening{o, a})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b opening) int {
		switch {
		case a.Importing == b.Importing:
			return a.Slot - b.Slot
		case a.Importing:
			return 1
		}
		return -1
	})
	return list
}

// course is from where to where an open slot moves, or why that cannot be told.
func (s *situation) course(o opening) (from, to *survey.Answer, why string) {
	owner := s.ownerOf(o.Slot)
	if owner == nil {
		return nil, nil, "its owner does not answer"
	}
	if o.Importing {
		if owner == o.at {
			return nil, nil, o.at.Pod.Name + " imports what it owns"
		}
		return owner, o.at, ""
	}
	if owner != o.at {
		// It is gone, and this side has not heard.
		return o.at, owner, ""
	}
	other := s.byID[o.Other]
	if other != nil && other.Own().Replica {
		other = s.byID[other.Own().Primary]
	}
	switch other {
	case nil:
		return nil, nil, "the node that it moves to does not answer"
	case o.at:
		return nil, nil, o.at.Pod.Name + " moves it to itself"
	}
	return o.at, other, ""
}

// returning says which primary may be about to take slots that it was importing, "" if none
// may. A server that comes back as a primary and hears that the source of a slot which it has
// marked as importing does not claim it any more takes the slot, with a config epoch above
// all others. If its replica was elected meanwhile, this epoch also wins all other slots of
// the shard back, and what was written since is deleted. So no slot may leave its owner while
// a primary is away, whatever marks it has, nor after it is back until it has heard that it
// was replaced.
func (s *situation) returning() string {
	for _, a := range s.nodes {
		if s.ousted(a) && slices.ContainsFunc(a.Own().Open, func(o node.OpenSlot) bool { return o.Importing }) {
			return a.Pod.Name + ", which may take slots, has not heard yet that its own have another owner"
		}
	}
	if len(s.absent()) == 0 {
		return ""
	}
	for _, a := range s.nodes {
		for _, e := range a.Nodes {
			if !e.Replica && !e.Handshake && s.byID[e.ID] == nil {
				return "node " + short(e.ID) + ", which may come back and take slots, does not answer"
			}
		}
	}
	return ""
}

// ousted is whether a primary claims slots that have another owner by now.
func (s *situation) ousted(a *survey.Answer) bool {
	return !a.Own().Replica && a.Own().Slots.Minus(s.owners.Slots[a.ID]).Count() > 0
}

// ownerOf is the node that owns a slot, nil if it did not answer.
func (s *situation) ownerOf(n int) *survey.Answer { return s.byID[s.ownerID(n)] }

// ownerID is the ID of the node that owns a slot, "" if nobody does.
func (s *situation) ownerID(n int) string {
	for id, slots := range s.owners.Slots {
		if slots.Contains(n) {
			return id
		}
	}
	return ""
}

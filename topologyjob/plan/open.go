// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Close ends open slots that hold no key on the side that was to get them.
type Close struct {
	Because
	Nodes []Closing
}

// Closing is a primary with the slots to close on it and, through it, on its replicas.
type Closing struct {
	Ref
	Slots slot.Ranges
}

// Kind implements Step.
func (Close) Kind() string { return "close" }

func (s Close) String() string {
	var all slot.Ranges
	for _, n := range s.Nodes {
		all = all.Plus(n.Slots)
	}
	return fmt.Sprintf("close %s", count(all.Count(), "open slot"))
}

// open is the rest of check 3, after interrupted has had all finished that can be: marks on
// replicas, and slots whose other end is gone. They are closed where the importing side has
// no key: those that it has are no longer on the other one, which would say that there are
// none. What an end has that does not answer is not known, so the slot stays open until it
// does; a dead one is replaced by the checks that follow. Where nothing can replace the owner,
// and the loss of its slots is accepted, the importing side gets the slot with the keys that it
// has: the owner is forgotten next, the mark would go with it, and the slot to somebody else.
func open(s *situation) finding {
	closing, left := map[string]slot.Ranges{}, Assign{Because: "the node that slots were moved from is gone for good"}
	var f finding
	for _, a := range s.nodes {
		for _, o := range a.Own().Open {
			if _, _, why := s.course(opening{o, a}); why == "" && !a.Own().Replica {
				continue // interrupted has said what it waits for
			}
			only, owner := slot.Ranges{{First: o.Slot, Last: o.Slot}}, s.ownerID(o.Slot)
			switch {
			case !o.Importing || a.Own().Replica:
				on, wait := s.closeOn(a, o)
				if on != nil {
					closing[on.ID] = closing[on.ID].Plus(only)
				}
				if wait != "" {
					f.waits = append(f.waits, Wait{Pod: a.Pod.Name, Message: wait})
				}
			case a.OpenKeys[o.Slot] == 0 && !s.mayBeAway(o.Other):
				closing[a.ID] = closing[a.ID].Plus(only)
			case owner != "" && s.over(owner):
				left.take(ref(a), only, owner)
			default:
				f.waits = append(f.waits, Wait{Pod: a.Pod.Name, Message: fmt.Sprintf("slot %d was being moved to %s from a node that does not own it or does not answer", o.Slot, a.Pod.Name)})
				// What becomes of an owner that is dead comes later.
				dead := owner != "" && s.byID[owner] == nil
				f.stop = f.stop || !dead && !s.mayBeAway(o.Other)
			}
		}
	}
	if len(left.Claims) > 0 {
		f.steps = append(f.steps, left)
	}
	if nodes := s.closings(closing); len(nodes) > 0 {
		f.steps = append(f.steps, Close{Because: "an interrupted move left slots open", Nodes: nodes})
	}
	return f
}

// take adds a slot that a node was importing from one that is gone.
func (s *Assign) take(by Ref, slots slot.Ranges, gone string) {
	if !slices.Contains(s.Gone, gone) {
		s.Gone = append(s.Gone, gone)
	}
	if i := len(s.Claims) - 1; i >= 0 && s.Claims[i].Ref == by {
		s.Claims[i].Slots = s.Claims[i].Slots.Plus(slots)
		return
	}
	s.Claims = append(s.Claims, Claim{by, slots})
}

// closeOn is the primary on which to close a slot that a node gives away, or that a replica
// marks, whose mark goes when its primary, which may have none, is told; or why it has to
// wait. It is nil for what is not to be closed: where the primary has the slot open, too, that
// one's mark decides, and what waits for a node that may come back waits on its replicas as well.
func (s *situation) closeOn(a *survey.Answer, o node.OpenSlot) (*survey.Answer, string) {
	primary := a
	if a.Own().Replica {
		primary = s.byID[a.Own().Primary]
		if primary == nil || primary.Own().Replica || primary.Own().Opens(o.Slot) {
			return nil, ""
		}
		if !a.LinkUp {
			return nil, fmt.Sprintf("slot %d is open on %s, which is not in sync with its primary", o.Slot, a.Pod.Name)
		}
	}
	importer := s.importer(o.Slot)
	heir := importer != nil && importer.Own().Replica
	switch {
	case importer == nil && s.mayBeAway(o.Other):
		return nil, fmt.Sprintf("slot %d is open on %s and the node at its other end does not answer", o.Slot, a.Pod.Name)
	case importer == nil && s.successorOf(o.Other) != nil:
		// It was attached after the slot was opened, and so marks nothing. What had gone over
		// it alone may have. Once it is the primary, the other end moves the slot to it.
		return nil, fmt.Sprintf("slot %d is open on %s, and the node at its other end is to be replaced by %s", o.Slot, a.Pod.Name, s.successorOf(o.Other).Pod.Name)
	case heir && (importer.OpenKeys[o.Slot] > 0 || s.mayBeAway(importer.Own().Primary)):
		// What it has not got yet its primary may have, and come back with.
		return nil, fmt.Sprintf("slot %d is open on %s, and the node at its other end is to come back or to be replaced by %s", o.Slot, a.Pod.Name, importer.Pod.Name)
	case importer == nil || importer.OpenKeys[o.Slot] == 0:
		return primary, ""
	}
	return nil, ""
}

// successorOf is a replica with keys of a node that does not answer, nil if there is none.
func (s *situation) successorOf(id string) *survey.Answer {
	for _, a := range s.nodes {
		if own := a.Own(); own.Replica && own.Primary == id && s.byID[id] == nil && a.Keys > 0 {
			return a
		}
	}
	return nil
}

// mayBeAway is whether a node may be one of the pods that do not answer.
func (s *situation) mayBeAway(id string) bool { return s.byID[id] == nil && len(s.absent()) > 0 }

// importer is the primary that marks a slot as importing, or a replica that does and whose
// primary is dead, so that it will be one. It is nil if none does.
func (s *situation) importer(number int) *survey.Answer {
	var heir *survey.Answer
	for _, a := range s.nodes {
		own := a.Own()
		switch {
		case !a.Own().Imports(number):
		case !own.Replica:
			return a
		case s.byID[own.Primary] == nil:
			heir = a
		}
	}
	return heir
}

func (s *situation) closings(closing map[string]slot.Ranges) []Closing {
	var nodes []Closing
	for id, slots := range closing {
		nodes = append(nodes, Closing{Ref: ref(s.byID[id]), Slots: slots})
	}
	slices.SortFunc(nodes, func(a, b Closing) int { return cmp.Compare(a.Pod, b.Pod) })
	return nodes
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Forget removes members that are gone from the memory of all others.
type Forget struct {
	Because
	// IDs are who is forgotten, By who forgets.
	IDs []string
	By  []Ref
}

// Kind implements Step.
func (Forget) Kind() string { return "forget" }

func (s Forget) String() string {
	return fmt.Sprintf("FORGET %s", count(len(s.IDs), "node"))
}

// stale is check 11: members that no pod is any more. Who is forgotten cannot come back for
// a minute, and what it owned has no owner then, so one has to be gone for good: every pod
// answers, and none has that ID; all nodes that know it have heard nothing of it for
// several node timeouts and hold it for dead; and nobody replicates it. One that owns slots
// is forgotten only where their loss is accepted, as in a Cache, or where nothing was in them, as in
// a bootstrap that is not over: with no replica left and every pod alive under another ID,
// nothing can bring them back.
func stale(s *situation) finding {
	if len(s.absent()) > 0 {
		return finding{}
	}
	step := Forget{Because: "members that no pod is any more"}
	var lost slot.Ranges
	for id, seers := range s.strangers() {
		if !s.deadForGood(id, seers) {
			continue
		}
		followed, data := s.followers(id)
		slots := s.owners.Slots[id].Minus(s.desired.AcceptLoss)
		switch {
		case data:
			continue
		case s.desired.Durable && slots.Count() > 0 && !s.unfilled():
			lost = lost.Plus(slots)
			continue
		case followed:
			continue
		}
		step.IDs = append(step.IDs, id)
		for _, a := range seers {
			if r := ref(a); !slices.Contains(step.By, r) {
				step.By = append(step.By, r)
			}
		}
	}
	if lost.Count() > 0 {
		return blocked(SlotsLost, fmt.Sprintf("slots %s belong to a node that no pod is any more, and no replica of it has data: restore them from a backup, or accept their loss", lost))
	}
	if len(step.IDs) == 0 {
		return finding{}
	}
	slices.Sort(step.IDs)
	slices.SortFunc(step.By, func(a, b Ref) int {
		if a.Pod < b.Pod {
			return -1
		}
		return 1
	})
	return finding{steps: []Step{step}}
}

// over is whether a node with all its data is gone for good, and so may be forgotten with the
// slots that it owned.
func (s *situation) over(id string) bool {
	followed, _ := s.followers(id)
	return s.byID[id] == nil && len(s.absent()) == 0 && s.deadForGood(id, s.strangers()[id]) && !followed && s.givenUp(id)
}

// strangers are the IDs that no pod has, with the nodes that know them.
func (s *situation) strangers() map[string][]*survey.Answer {
	strangers := map[string][]*survey.Answer{}
	for _, a := range s.nodes {
		for _, e := range a.Nodes {
			if !e.Handshake && s.byID[e.ID] == nil {
				strangers[e.ID] = append(strangers[e.ID], a)
			}
		}
	}
	return strangers
}

// followers is whether any node that answered replicates a node, and whether one of them may
// have its data.
func (s *situation) followers(id string) (followed, data bool) {
	for _, a := range s.nodes {
		if own := a.Own(); own.Replica && own.Primary == id {
			followed, data = true, data || synced(a) || a.Keys > 0
		}
	}
	return followed, data
}

// deadForGood is whether all that know a node hold it for dead, and for long.
func (s *situation) deadForGood(id string, seers []*survey.Answer) bool {
	for _, a := range seers {
		if e, _ := a.Sees(id); !e.Failed && !e.NoAddress && e.Linked {
			return false
		}
		if a.Silence(id) < s.desired.after(10, 30*time.Second) {
			return false
		}
	}
	return true
}

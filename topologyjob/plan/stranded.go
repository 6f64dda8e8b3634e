// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Empty deletes the keys of a primary that owns no slot, if the owners of their slots have
// all of them. Only then can it be made a replica.
type Empty struct {
	Because
	Ref
	// Keys is how many there are.
	Keys int64
	// Owners are all other nodes with slots.
	Owners []Claim
	// Forgo are slots whose keys may be deleted without being anywhere else.
	Forgo slot.Ranges
}

// Kind implements Step.
func (Empty) Kind() string { return "empty" }

func (s Empty) String() string {
	return fmt.Sprintf("empty pod %s, if the owners of their slots have its %s", s.Pod, count(int(s.Keys), "key"))
}

// stranded is the step for a primary that owns no slot and has keys, or why it has to wait.
//
// A primary that loses its last slots to another shard stays a primary, and in 8.0 keeps the
// keys that it had of them. That happens when it comes back after its replica was promoted
// and has moved slots on. Such keys are old copies. Those of a move that was cut off and
// whose marks somebody took away may be the only ones. A survey cannot tell: the step
// compares.
func (s *situation) stranded(a *survey.Answer) (*Empty, string) {
	holds := fmt.Sprintf("holds %s and owns no slot", count(int(a.Keys), "key"))
	if a.Stranded != "" {
		return nil, a.Stranded
	}
	if s.owners.Unassigned.Count() > 0 || s.ownerless().Count() > 0 {
		return nil, holds + ", and not every slot has an owner that answers"
	}
	if len(a.Own().Open) > 0 {
		return nil, holds + ", and slots are open"
	}
	for _, m := range a.Migrations {
		if !m.Ended() {
			return nil, holds + ", and slots are being moved"
		}
	}
	step := &Empty{Because: "a primary that lost its slots still has keys of them", Ref: ref(a), Keys: a.Keys, Forgo: s.desired.AcceptLoss}
	for id, slots := range s.owners.Slots {
		step.Owners = append(step.Owners, Claim{ref(s.byID[id]), slots})
	}
	slices.SortFunc(step.Owners, func(a, b Claim) int { return cmp.Compare(a.Pod, b.Pod) })
	return step, ""
}

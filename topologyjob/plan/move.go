// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/valkey-render/valkey-render/topologyjob/allocation"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// MoveSlots moves slots with their keys from the primaries that own them to others. The
// checks that ask for it see a survey in which all slots have an owner, none is open but
// those that are to be finished, and both ends of every move answer and are primaries.
//
// Whoever does it reads again, on the connections that it acts on, that the source still
// owns the slots and that the target is a primary; may move them in any number of parts;
// and proves that the target owns them and, key by key, that the source holds no key of
// them.
type MoveSlots struct {
	Because
	Moves []Move
	// Atomic moves whole sets of slots in one piece, which every node must know (≥9.0);
	// otherwise slot by slot, key by key.
	Atomic bool
	// Left is how many slots are to move in all, these included.
	Left int
	// Picked are all the slots of a reshard, whose number alone was asked for.
	Picked slot.Ranges
	// Timeout is cluster-node-timeout in milliseconds: a primary that does nothing but send
	// a key for that long is taken for dead.
	Timeout int64
}

// Move are slots for a node. From an interrupted move key by key, they may be open already,
// migrating on one side, importing on the other, or both, with keys on either.
type Move struct {
	From, To Ref
	Slots    slot.Ranges
}

// Kind implements Step.
func (MoveSlots) Kind() string { return "move" }

// Count is how many slots the step moves.
func (s MoveSlots) Count() int {
	n := 0
	for _, m := range s.Moves {
		n += m.Slots.Count()
	}
	return n
}

func (s MoveSlots) String() string {
	from, to := map[string]bool{}, map[string]bool{}
	for _, m := range s.Moves {
		from[m.From.ID], to[m.To.ID] = true, true
	}
	how, of := "", ""
	if !s.Atomic {
		how = " key by key"
	}
	if s.Left > s.Count() {
		of = fmt.Sprintf(" (of %d)", s.Left)
	}
	return fmt.Sprintf("move %s%s from %s to %d%s", count(s.Count(), "slot"), of, count(len(from), "primary"), len(to), how)
}

// shares are the slots of every shard that has an owner or is wanted. It says why when they
// cannot be told, or nobody is there to take part.
func (s *situation) shares() ([]allocation.Share, string) {
	var shares []allocation.Share
	for shard := range s.shards() {
		share := allocation.Share{Shard: shard, Leaving: shard >= s.desired.Shards}
		for _, a := range s.shard(shard) {
			slots := s.owners.Slots[a.ID]
			if len(slots) > 0 && len(share.Slots) > 0 {
				return nil, fmt.Sprintf("shard %d has two nodes that own slots", shard)
			}
			share.Slots = share.Slots.Plus(slots)
		}
		if !share.Leaving && s.primary(shard) == nil {
			return nil, fmt.Sprintf("shard %d has no primary to move slots to", shard)
		}
		if !share.Leaving || len(share.Slots) > 0 {
			shares = append(shares, share)
		}
	}
	return shares, ""
}

// still says why no move of slots may begin: somebody does not agree, slots are open or on
// their way, a shard lacks a pod, or a primary that is away may come back and take slots. What
// is only waited for has been said by the checks before.
func (s *situation) still() (why string, ok bool) {
	switch {
	case len(settled(s).waits) > 0, s.owners.Unassigned.Count() > 0, s.owners.Contested.Count() > 0, s.ownerless().Count() > 0:
		return "", false
	case len(migrating(s).waits) > 0, len(s.openings()) > 0:
		return "", false
	case !s.atomic() && len(s.absent()) > 0:
		// Before 9.0 every SETSLOT waits for all replicas of its shard.
		return "slots move key by key only while every pod answers", false
	}
	why = s.returning()
	return why, why == ""
}

// atomic reports whether every node that answered knows CLUSTER MIGRATESLOTS.
func (s *situation) atomic() bool {
	for _, a := range s.nodes {
		if !survey.AtomicMigration(a.Version) {
			return false
		}
	}
	return true
}

// move makes the next step of moves: as many at once as are wanted, different sources
// first, and so many slots of each.
func (s *situation) move(because string, moves []allocation.Move) finding {
	if len(moves) == 0 {
		return finding{}
	}
	batch, most := s.desired.batch(), s.desired.concurrent()
	step := MoveSlots{Because: Because(because), Atomic: s.atomic(), Left: allocation.Count(moves), Timeout: s.desired.NodeTimeout.Milliseconds()}
	taken := make([]bool, len(moves))
	for len(step.Moves) < min(most, len(moves)) {
		busy := map[int32]bool{}
		for i, m := range moves {
			if taken[i] || busy[m.From] || len(step.Moves) >= most {
				continue
			}
			taken[i], busy[m.From] = true, true
			step.Moves = append(step.Moves, Move{From: ref(s.owner(m.From)), To: ref(s.primary(m.To)), Slots: m.Slots.Take(batch)})
		}
	}
	return finding{steps: []Step{step}}
}

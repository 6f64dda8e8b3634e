// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// primaryless gives a shard a primary that owns no slot and has only replicas, of a node that
// no pod is any more. Such a node was the primary on an ordinal that went away, of a shard that
// is new or was drained and is wanted again. The servers elect a replica in its place by
// themselves, unless it has restarted since it was in sync, or its data is too old: its shard
// could never get a slot. TAKEOVER needs no votes, and none here: there is no slot that two could
// own.
//
// So does a replica of such a node in a shard that goes away, if it has keys. It is in sync with
// nobody for ever, and takes no command that would delete them.
//
// Since 9.1 a replica that becomes a primary deletes its keys of slots that others own. So the
// owners must have them before, as before keys are deleted that a primary without slots has.
func primaryless(s *situation) finding {
	if len(s.absent()) > 0 {
		return finding{}
	}
	var f finding
	step := Promote{Because: "a shard without slots has no primary, and servers elect none", How: Takeover, Slotless: true}
	for shard := range s.shards() {
		best, id := s.heir(shard)
		switch {
		case best == nil:
		case !s.deadForGood(id, s.strangers()[id]):
			f.waits = append(f.waits, Wait{Message: fmt.Sprintf("the primary of shard %d, which no pod is, was heard of %s ago", shard, s.heard(id).Round(time.Second))})
		default:
			copies, waits := s.copies(shard)
			if f.waits = append(f.waits, waits...); len(waits) == 0 {
				step.Promotions = append(step.Promotions, Promotion{Replica: ref(best), Primary: Ref{ID: id}, Copies: copies})
			}
		}
	}
	if len(step.Promotions) > 0 {
		f.steps = []Step{step}
	}
	return f
}

// copies are the keys of a shard without slots, or what speaks against having its replicas delete
// them.
func (s *situation) copies(shard int32) (copies []Empty, waits []Wait) {
	for _, a := range s.shard(shard) {
		if a.Keys == 0 {
			continue
		}
		step, why := s.stranded(a)
		if step == nil {
			waits = append(waits, Wait{Pod: a.Pod.Name, Message: "pod " + a.Pod.Name + " " + why})
			continue
		}
		copies = append(copies, *step)
	}
	return copies, waits
}

// heir is the best of the replicas that are all a shard without slots has, where their primary
// is no pod and owns no slots; and the ID of that one. In a shard that goes away only one with
// keys needs to be any.
func (s *situation) heir(shard int32) (*survey.Answer, string) {
	var best *survey.Answer
	for _, a := range s.shard(shard) {
		own := a.Own()
		if !own.Replica || own.Primary == "" || s.byID[own.Primary] != nil || s.owners.Slots[own.Primary].Count() > 0 {
			return nil, ""
		}
		may := s.wanted(a.Pod) || shard >= s.desired.Shards && a.Keys > 0
		if may && (best == nil || better(a, best) < 0) {
			best = a
		}
	}
	if best == nil {
		return nil, ""
	}
	return best, best.Own().Primary
}

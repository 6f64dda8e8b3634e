// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// vacate is check 13: a primary on a pod that the wanted topology no longer has, or that is
// about to be restarted, hands over first.
func vacate(s *situation) finding {
	step := Promote{Because: "primaries are on pods that go away", How: Handover}
	var f finding
	for shard := range s.desired.Shards {
		owner := s.owner(shard)
		if owner == nil || s.stays(owner.Pod) {
			continue
		}
		to, why := s.successor(owner, func(a *survey.Answer) bool { return s.stays(a.Pod) })
		if to == nil {
			f.waits = append(f.waits, Wait{Pod: owner.Pod.Name, Message: fmt.Sprintf("pod %s cannot hand over: %s", owner.Pod.Name, why)})
			continue
		}
		step.Promotions = append(step.Promotions, Promotion{Replica: ref(to), Primary: ref(owner)})
	}
	if len(step.Promotions) > 0 {
		f.steps = []Step{step}
	}
	return f
}

// stays is whether a pod may be a primary.
func (s *situation) stays(p survey.Pod) bool {
	return s.wanted(p) && !slices.Contains(s.desired.Vacate, p.Name)
}

// successor is the replica that a primary hands over to: of those that may, in sync, the
// one on the lowest ordinal. All of them are caught up for certain only once the primary
// has stopped writes, which is part of the handover; how far behind one is decides only
// when the difference is large.
func (s *situation) successor(primary *survey.Answer, may func(*survey.Answer) bool) (*survey.Answer, string) {
	for _, m := range primary.Migrations {
		if !m.Ended() {
			return nil, "slots are being moved"
		}
	}
	if len(primary.Own().Open) > 0 {
		return nil, "slots are open"
	}
	const near = 1 << 20 // bytes; a link that is up makes up for it in no time
	for _, a := range s.shard(primary.Pod.Shard) {
		own := a.Own()
		if own.Replica && own.Primary == primary.ID && a.LinkUp && may(a) && primary.Offset-a.Offset < near {
			return a, ""
		}
	}
	return nil, "no replica that may take its place is in sync"
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"
)

// orphaned is check 8: a shard whose primary is dead and that has a replica with data is
// failed over by the servers, within a few node timeouts. Past that it is told to: FORCE
// still needs the votes of the majority, which is there, but no longer asks how old the
// replica's data is. Only when every node that answers has declared the primary failed: one
// that is cut off from us alone goes on serving.
func orphaned(s *situation) finding {
	var f finding
	step := Promote{Because: "the servers did not replace a dead primary by themselves", How: Force}
	deads := s.deadPrimaries()
	if s.missing(deads) > 0 {
		return finding{} // nobody can be voted for
	}
	for _, d := range deads {
		if len(d.replicas) == 0 {
			continue
		}
		best := d.replicas[0]
		switch heard, deadline := s.heard(d.id), s.desired.after(10, 15*time.Second); {
		case !s.declaredFailed(d.id):
			f.waits = append(f.waits, Wait{Message: fmt.Sprintf("the primary of shard %d does not answer, and not every node has declared it failed", best.Pod.Shard)})
		case heard < deadline:
			f.waits = append(f.waits, Wait{Message: fmt.Sprintf("the servers are to replace the primary of shard %d", best.Pod.Shard)})
		default:
			step.Promotions = append(step.Promotions, Promotion{Replica: ref(best), Primary: Ref{ID: d.id}, Away: names(s.away(best.Pod.Shard))})
		}
	}
	if len(step.Promotions) > 0 {
		f.steps = []Step{step}
	}
	return f
}

// declaredFailed is whether every node that answered has agreed with a majority that a node
// is dead.
func (s *situation) declaredFailed(id string) bool {
	for _, a := range s.nodes {
		if e, known := a.Sees(id); known && !e.Failed {
			return false
		}
	}
	return true
}

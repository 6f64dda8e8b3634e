// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// quorum is check 5: with a majority of the primaries lost no election can be won, and the
// servers stay down until somebody decides. A TAKEOVER decides without votes, so it needs
// more than silence: all that answer have heard nothing of the dead primary for long, it is
// fenced (Kubernetes says of every pod of its shard that does not answer that nothing of it
// runs), and it was allowed. The replica with the highest offset takes over. The loss of a
// minority is the servers' own business.
func quorum(s *situation) finding {
	deads := s.deadPrimaries()
	missing := s.missing(deads)
	if missing == 0 {
		return finding{}
	}
	const because = "a majority of the primaries is lost"
	step := Promote{Because: because, How: Takeover}
	var f finding
	wait := func(format string, args ...any) {
		f.waits = append(f.waits, Wait{Message: because + ": " + fmt.Sprintf(format, args...)})
	}
	refused := false
	for _, d := range deads {
		if len(d.replicas) == 0 {
			wait("node %s has no replica that was ever in sync", short(d.id))
			continue
		}
		best := d.replicas[0]
		away := s.away(best.Pod.Shard)
		switch why := s.unfenced(d, away); {
		case why != "":
			wait("%s", why)
		case !s.desired.Takeover:
			refused = true
		default:
			step.Promotions = append(step.Promotions, Promotion{Replica: ref(best), Primary: Ref{ID: d.id}, Away: names(away)})
		}
	}
	switch {
	case len(step.Promotions) > 0:
		// As soon as the majority is back the servers elect the rest.
		step.Promotions = step.Promotions[:min(missing, len(step.Promotions))]
		f.steps = []Step{step}
	case refused:
		f.blocked = &Blocked{Reason: QuorumLost, Message: because + ", and no replica may take over by itself: allow a takeover, or bring the primaries back"}
	}
	return f
}

// missing is how many primaries a majority of them lacks.
func (s *situation) missing(deads []dead) int {
	return max(0, len(s.owners.Slots)/2+1-(len(s.owners.Slots)-len(deads)))
}

// unfenced says why a primary that does not answer may be alive, "" when it cannot be.
func (s *situation) unfenced(d dead, away []*survey.Answer) string {
	var running []string
	for _, a := range away {
		if a.Pod.Runs != survey.Stopped {
			running = append(running, a.Pod.Name)
		}
	}
	if len(running) > 0 {
		return fmt.Sprintf("pod %s does not answer and may still run", strings.Join(running, ", "))
	}
	debounce := s.desired.after(5, 10*time.Second)
	if heard := s.heard(d.id); heard < debounce {
		return fmt.Sprintf("node %s was heard of %s ago, waiting for %s", short(d.id), heard.Round(time.Second), debounce)
	}
	return ""
}

// heard is how long ago any node that answered has heard of a node.
func (s *situation) heard(id string) time.Duration {
	shortest, knows := time.Duration(0), false
	for _, a := range s.nodes {
		if _, found := a.Sees(id); !found {
			continue
		}
		if silence := a.Silence(id); !knows || silence < shortest {
			shortest, knows = silence, true
		}
	}
	return shortest
}

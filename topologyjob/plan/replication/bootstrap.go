// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package replication

import (
	"fmt"

	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// bootstrap forms the topology: every pod is there and empty, and none is the primary. The
// lowest ordinal becomes it; the others are attached in the next pass. Servers that were in
// sync with a primary are another matter, see elect. Durable data that was there before
// does not just vanish: then a human decides.
func bootstrap(s *situation) finding {
	if len(s.primaries) > 0 || !allEmpty(s.servers) || !s.complete() || s.sentinelsHave() || len(s.heirs()) > 0 {
		return finding{}
	}
	if s.desired.Initialized && s.desired.Durable && s.desired.Keep == "" {
		return blocked(plan.PrimaryDown, "the topology was formed before and every pod is empty: it is not formed again, since its data may be restored; say which pod to keep to begin anew")
	}
	var first *survey.Answer
	for _, a := range s.servers {
		if s.stays(a.Pod) && (first == nil || a.Pod.Index < first.Pod.Index) {
			first = a
		}
	}
	if first == nil {
		return finding{stop: true, waits: []plan.Wait{{Message: "no pod may be the primary"}}}
	}
	if outside := s.outside(); outside != nil {
		return blocked(plan.ForeignData, fmt.Sprintf("pod %s is in sync with %s, which is none of the pods", outside.Pod.Name, outside.Replication.Follows))
	}
	step := Elect{Because: "there is no primary and every pod is empty", Server: ref(first), Forming: true, Away: names(s.away), Detection: s.detection()}
	for _, a := range s.servers {
		if a != first {
			step.Others = append(step.Others, ref(a))
		}
	}
	return finding{steps: []plan.Step{step}}
}

// outside is a server that is in sync with somebody who is none of the pods.
func (s *situation) outside() *survey.Answer {
	for _, a := range s.servers {
		if r := a.Replication; !r.Primary && a.LinkUp && r.Silence < s.detection() && s.view.At(r.Follows) == nil {
			return a
		}
	}
	return nil
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package replication

import (
	"fmt"

	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// reachable says which pods do not answer and why.
func reachable(s *situation) finding {
	var f finding
	add := func(pod survey.Pod, p *survey.Problem) {
		f.waits = append(f.waits, plan.Wait{
			Pod: pod.Name, Absent: len(s.servers) > 0 && absent(p.Code),
			Message: "pod " + pod.Name + " " + string(p.Code) + ": " + p.Message,
		})
	}
	for _, a := range s.away {
		if s.wanted(a.Pod) {
			add(a.Pod, a.Problem)
		}
	}
	for i := range s.view.Sentinels {
		if sentinel := &s.view.Sentinels[i]; !sentinel.Answered() && sentinel.Pod.Index < s.desired.Sentinels {
			add(sentinel.Pod, sentinel.Problem)
		}
	}
	f.stop = len(s.servers) == 0
	return f
}

// absent is whether a pod may just not be there. One that refuses us, or is loading, is.
func absent(code survey.Code) bool { return code == survey.Unreachable || code == survey.Unresolved }

// majority: who reaches only a minority of the pods may be on the wrong side of a broken
// network, and decides nothing. A pod of which nothing runs is on no side.
func majority(s *situation) finding {
	unknown := 0
	for _, a := range s.away {
		if a.Pod.Runs != survey.Stopped {
			unknown++
		}
	}
	if len(s.servers) > unknown {
		return finding{}
	}
	return finding{stop: true, waits: append(s.unfenced(), plan.Wait{
		Message: fmt.Sprintf("%d of %d pods answer, which is no majority: nothing is decided", len(s.servers), len(s.servers)+unknown),
	})}
}

// unfenced are the waits for pods that do not answer and of which something may still run,
// the primary possibly.
func (s *situation) unfenced() []plan.Wait {
	var waits []plan.Wait
	for _, a := range s.away {
		if a.Pod.Runs != survey.Stopped {
			waits = append(waits, plan.Wait{
				Pod: a.Pod.Name, Fence: len(s.primaries) == 0 && absent(a.Problem.Code),
				Message: fmt.Sprintf("pod %s does not answer and may still be the primary", a.Pod.Name),
			})
		}
	}
	return waits
}

// settle: while a FAILOVER is under way roles are about to change.
func settle(s *situation) finding {
	for _, a := range s.servers {
		if state := a.Replication.FailingOver; state != "" {
			return finding{steps: []plan.Step{Settle{Because: plan.Because("a FAILOVER is under way: " + state), Server: ref(a)}}}
		}
	}
	return finding{}
}

// disk tells of servers that cannot write what they should keep: a primary refuses writes
// then.
func disk(s *situation) finding {
	var f finding
	for _, a := range s.servers {
		if why := a.Replication.DiskError; why != "" && s.wanted(a.Pod) {
			f.waits = append(f.waits, plan.Wait{Pod: a.Pod.Name, Message: fmt.Sprintf("pod %s cannot write its data directory (%s): it may be full or read-only", a.Pod.Name, why)})
		}
	}
	return f
}

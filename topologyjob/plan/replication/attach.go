// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package replication

import (
	"fmt"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// attach makes every wanted pod follow the primary. Who follows it already is left alone,
// in sync or not.
func attach(s *situation) finding {
	p := s.primary
	if p == nil {
		return finding{stop: true}
	}
	var f finding
	step := Attach{Because: plan.Because("pods do not follow the primary " + p.Pod.Name), Primary: ref(p), Chosen: s.chosen()}
	for _, x := range s.servers {
		if x == p || !s.wanted(x.Pod) || !x.Replication.Primary && p.Names(x.Replication.Follows) {
			continue
		}
		if !step.Chosen && !Yields(x, p) && !Replaces(p, x) {
			f = blocked(plan.ForeignData, fmt.Sprintf("%s, which is no part of what the primary has: %s: remove its data to let it join, or say which one to keep", holds(x), holds(p)))
			continue
		}
		step.Replicas = append(step.Replicas, ref(x))
	}
	if len(step.Replicas) > 0 {
		f = finding{steps: []plan.Step{step}}
	}
	return f
}

// linked tells of replicas that follow the primary and are not in sync.
func linked(s *situation) finding {
	var f finding
	for _, x := range s.servers {
		if x == s.primary || !s.wanted(x.Pod) {
			continue
		}
		switch r := x.Replication; {
		case x.LinkUp && x.ReplicationID == s.primary.ReplicationID:
		case r.Syncing:
			f.waits = append(f.waits, plan.Wait{Pod: x.Pod.Name, Message: fmt.Sprintf("pod %s is copying %s", x.Pod.Name, s.primary.Pod.Name)})
		case x.LinkUp:
			f.waits = append(f.waits, plan.Wait{Pod: x.Pod.Name, Message: fmt.Sprintf("pod %s has not yet taken over the history of %s", x.Pod.Name, s.primary.Pod.Name)})
		case !r.Linked:
			f.waits = append(f.waits, plan.Wait{Pod: x.Pod.Name, Message: fmt.Sprintf("pod %s follows %s and is not in sync yet", x.Pod.Name, s.primary.Pod.Name)})
		default:
			f.waits = append(f.waits, plan.Wait{Pod: x.Pod.Name, Message: fmt.Sprintf("pod %s follows %s and is not in sync for %s", x.Pod.Name, s.primary.Pod.Name, r.Silence.Round(time.Second))})
		}
	}
	return f
}

// vacate: a primary on a pod that the wanted topology no longer has, that is about to be
// restarted, or that is not the one that was asked for, hands over.
func vacate(s *situation) finding {
	p := s.primary
	if s.stays(p.Pod) {
		return finding{}
	}
	to := s.successor()
	if to == nil {
		return finding{waits: []plan.Wait{{Pod: p.Pod.Name, Message: "pod " + p.Pod.Name + " cannot hand over: no replica that may take its place is in sync"}}}
	}
	step := Handover{Because: plan.Because("the primary is to leave pod " + p.Pod.Name), Primary: ref(p), Replica: ref(to)}
	if s.withSentinels() {
		if f := s.barred(); f.steps != nil || f.stop {
			return f
		}
		if step.Sentinels = s.watchers(); len(step.Sentinels) == 0 {
			return finding{waits: []plan.Wait{{Pod: p.Pod.Name, Message: "pod " + p.Pod.Name + " cannot hand over: no sentinel watches it"}}}
		}
	}
	return finding{steps: []plan.Step{step}}
}

// successor is the replica to hand over to: in sync, in the primary's history, and on the
// lowest ordinal. A small distance is none: the handover waits for it.
func (s *situation) successor() *survey.Answer {
	const near = 1 << 20 // bytes; a link that is up makes up for it in no time
	var best *survey.Answer
	for _, a := range s.servers {
		r := a.Replication
		if a == s.primary || !s.stays(a.Pod) || !a.LinkUp || r.Priority == 0 && s.desired.Primary == "" || r.DiskError != "" ||
			a.ReplicationID != s.primary.ReplicationID || s.primary.Offset-a.Offset >= near || !s.primary.Names(r.Follows) {
			continue
		}
		if best == nil || a.Pod.Index < best.Pod.Index {
			best = a
		}
	}
	return best
}

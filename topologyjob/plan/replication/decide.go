// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package replication

import (
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Decide makes the plan of a topology without slots.
func Decide(desired plan.Desired, view survey.View) plan.Plan {
	s := newSituation(desired, view)
	var p plan.Plan
	for _, c := range chain(desired.Topology) {
		found := c.look(s)
		for i := range found.waits {
			found.waits[i].Check = c.name
		}
		p.Waiting = append(p.Waiting, found.waits...)
		if found.blocked != nil || len(found.steps) > 0 {
			p.Check, p.Blocked, p.Steps = c.name, found.blocked, found.steps
			break
		}
		if found.stop {
			break
		}
	}
	return p
}

// check is one link of a chain.
type check struct {
	name string
	look func(*situation) finding
}

// finding is what a check found; the zero value is nothing.
type finding struct {
	steps   []plan.Step
	waits   []plan.Wait
	blocked *plan.Blocked
	// stop ends the chain, when what is waited for decides what comes next.
	stop bool
}

// chain is the order of the checks.
func chain(topology v1alpha1.Topology) []check {
	switch topology {
	case v1alpha1.TopologyStandalone:
		return []check{{"reachable", reachable}, {"disk", disk}}
	case v1alpha1.TopologySentinel:
		return []check{
			{"reachable", reachable},
			{"settle", settle},
			{"majority", majority},
			{"sentinels", sentinels},
			{"authority", authority},
			{"primaries", primaries},
			{"emptied", emptied},
			{"bootstrap", bootstrap},
			{plan.CheckElect, elect},
			{"watch", watch},
			{"attach", attach},
			{"disk", disk},
			{"linked", linked},
			{"priority", priority},
			{"known", known},
			{plan.CheckHandOver, vacate},
			{"stale", stale},
		}
	}
	return []check{
		{"reachable", reachable},
		{"settle", settle},
		{"majority", majority},
		{"primaries", primaries},
		{"emptied", emptied},
		{"bootstrap", bootstrap},
		{plan.CheckElect, elect},
		{"attach", attach},
		{"disk", disk},
		{"linked", linked},
		{plan.CheckHandOver, vacate},
	}
}

// situation is a view with what every check needs worked out once.
type situation struct {
	desired plan.Desired
	view    survey.View
	// servers are the pods that answered, away those that did not.
	servers, away []*survey.Answer
	// primaries are those that follow nobody.
	primaries []*survey.Answer
	// primary is the one that the others follow, once that is decided.
	primary *survey.Answer
	// unwatched is whether no sentinel watches anything: then none of them promotes.
	unwatched bool
}

func newSituation(desired plan.Desired, view survey.View) *situation {
	s := &situation{desired: desired, view: view}
	for i := range s.view.Answers {
		a := &s.view.Answers[i]
		if !a.Answered() {
			s.away = append(s.away, a)
			continue
		}
		s.servers = append(s.servers, a)
		if a.Replication.Primary {
			s.primaries = append(s.primaries, a)
		}
	}
	if len(s.primaries) == 1 {
		s.primary = s.primaries[0]
	}
	return s
}

// size is how many pods there are to be.
func (s *situation) size() int { return int(s.desired.Replicas) + 1 }

// wanted reports whether a pod's place is in the wanted topology.
func (s *situation) wanted(p survey.Pod) bool { return p.Index <= s.desired.Replicas }

// stays is whether a pod may be the primary.
func (s *situation) stays(p survey.Pod) bool {
	if !s.wanted(p) || s.desired.Primary != "" && p.Name != s.desired.Primary {
		return false
	}
	for _, pod := range s.desired.Vacate {
		if pod == p.Name {
			return false
		}
	}
	return true
}

// complete is whether every wanted pod answered.
func (s *situation) complete() bool {
	n := 0
	for _, a := range s.servers {
		if s.wanted(a.Pod) {
			n++
		}
	}
	return n == s.size()
}

// detection is for how long nothing was heard of a primary that is gone.
func (s *situation) detection() time.Duration {
	if s.desired.Detection > 0 {
		return s.desired.Detection
	}
	return 3 * time.Second
}

func ref(a *survey.Answer) plan.Ref { return plan.Ref{Pod: a.Pod.Name, ID: a.ID} }

func names(answers []*survey.Answer) []string {
	var list []string
	for _, a := range answers {
		list = append(list, a.Pod.Name)
	}
	return list
}

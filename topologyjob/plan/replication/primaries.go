// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package replication

import (
	"fmt"
	"strings"

	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// primaries decides between several primaries: the one that all others yield to stays, and
// they follow it at once, since until then both acknowledge writes. Without such a one
// nobody is touched.
func primaries(s *situation) finding {
	if len(s.primaries) < 2 {
		return finding{}
	}
	if s.primary == nil {
		s.primary = s.victor()
	}
	if s.primary == nil {
		if allEmpty(s.primaries) && !s.complete() {
			return finding{stop: true, waits: []plan.Wait{{Message: "several pods are empty primaries, and not every pod answers"}}}
		}
		var all []string
		for _, a := range s.primaries {
			all = append(all, holds(a))
		}
		return blocked(plan.ForeignData, strings.Join(all, ", ")+": they are primaries, and no history holds the others: say which one to keep")
	}
	step := Attach{Because: "there are several primaries", Primary: ref(s.primary), Chosen: s.chosen()}
	var f finding
	for _, x := range s.primaries {
		if x == s.primary {
			continue
		}
		if !step.Chosen && !Yields(x, s.primary) {
			if s.demoted(x) {
				return finding{stop: true, waits: []plan.Wait{{Pod: x.Pod.Name, Message: fmt.Sprintf("the sentinels have promoted %s, and are about to make %s its replica", s.primary.Pod.Name, x.Pod.Name)}}}
			}
			f = blocked(plan.ForeignData, fmt.Sprintf("%s, and %s, which is the primary: neither holds the other: say which one to keep", holds(x), holds(s.primary)))
			continue
		}
		if n := Ahead(x, s.primary); n > 0 {
			step.Because = plan.Because(fmt.Sprintf("there are several primaries; pod %s took %d bytes of writes that were never replicated before %s took over, and they are given up", x.Pod.Name, n, s.primary.Pod.Name))
		}
		step.Replicas = append(step.Replicas, ref(x))
	}
	if len(step.Replicas) > 0 {
		f = finding{steps: []plan.Step{step}}
	}
	return f
}

// demoted is whether the sentinels, who have named the primary, know another one as its
// replica: they make it one, after ten seconds in which it may have gone on.
func (s *situation) demoted(x *survey.Answer) bool {
	if !s.sentinelsHave() {
		return false
	}
	for _, w := range s.watching() {
		for _, k := range w.Watched.Replicas {
			if s.primary.Names(w.Watched.Endpoint) && x.Names(k.Endpoint) {
				return true
			}
		}
	}
	return false
}

// chosen is whether a human said that the data of the primary is to be kept.
func (s *situation) chosen() bool {
	return s.primary != nil && s.desired.Keep == s.primary.Pod.Name
}

// victor is the primary that all others yield to. Among empty ones it is who has replicas,
// else the lowest ordinal; but only when all pods answered, since others may have data.
func (s *situation) victor() *survey.Answer {
	for _, p := range s.primaries {
		if p.Pod.Name == s.desired.Keep {
			return p
		}
	}
	if allEmpty(s.primaries) && !s.complete() {
		return nil
	}
	var best *survey.Answer
	for _, p := range s.primaries {
		all := true
		for _, x := range s.primaries {
			all = all && (x == p || Yields(x, p))
		}
		if all && (best == nil || s.before(p, best)) {
			best = p
		}
	}
	return best
}

// before orders primaries that yield to each other.
func (s *situation) before(a, b *survey.Answer) bool {
	if n, m := len(online(a)), len(online(b)); n != m {
		return n > m
	}
	if s.stays(a.Pod) != s.stays(b.Pod) {
		return s.stays(a.Pod)
	}
	return a.Pod.Index < b.Pod.Index
}

func allEmpty(answers []*survey.Answer) bool {
	for _, a := range answers {
		if !Empty(a) {
			return false
		}
	}
	return true
}

// emptied: a primary that came back without its data is none. Its replicas, which lost it
// when it went, still have theirs, and would copy nothing over it. So it is fenced, while
// it has nothing to lose, and one of them is elected. One that has a history or replicas
// is empty because somebody emptied it.
func emptied(s *situation) finding {
	p := s.primary
	if p == nil || !Empty(p) || s.chosen() {
		return finding{}
	}
	for _, x := range s.servers {
		if x == p || Empty(x) || Related(x, p) {
			continue
		}
		if p.Replication.FormerID == "" && len(online(p)) == 0 {
			return finding{steps: []plan.Step{Fence{Because: plan.Because(fmt.Sprintf("%s, and the primary %s has nothing", holds(x), p.Pod.Name)), Server: ref(p)}}}
		}
	}
	return finding{}
}

func blocked(reason plan.Reason, message string) finding {
	return finding{blocked: &plan.Blocked{Reason: reason, Message: message}}
}

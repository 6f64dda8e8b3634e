// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package replication

import (
	"fmt"
	"strings"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// staleness is for how long a replica may have been without its primary before another
// server of unknown data started, at most: a crash and a start, not an hour apart.
const staleness = 30 * time.Second

// elect: there is no primary, and some server has data. Nobody is elected while somebody
// else may be the primary: every pod that does not answer is known not to run, and no
// replica hears of one. Of the replicas of one history the furthest is elected, on the
// lowest ordinal among equals.
func elect(s *situation) finding {
	if s.primary != nil || len(s.primaries) > 0 || s.sentinelsHave() {
		return finding{}
	}
	if why := s.alive(); len(why) > 0 {
		return finding{stop: true, waits: why}
	}
	best, f := s.best()
	if best == nil {
		best = s.kept()
	}
	if best == nil {
		return f
	}
	step := Elect{Because: plan.Because("there is no primary, and " + holds(best)), Server: ref(best), Away: names(s.away), Detection: s.detection()}
	for _, a := range s.servers {
		if a != best {
			step.Others = append(step.Others, ref(a))
		}
	}
	return finding{steps: []plan.Step{step}}
}

// alive says why there may be a primary nevertheless.
func (s *situation) alive() []plan.Wait {
	waits := s.unfenced()
	for _, a := range s.servers {
		r := a.Replication
		if r.Primary || !a.LinkUp || r.Silence >= s.detection() {
			continue
		}
		if to := s.view.At(r.Follows); to == nil || !to.Answered() {
			waits = append(waits, plan.Wait{Pod: a.Pod.Name, Message: fmt.Sprintf("pod %s is in sync with %s", a.Pod.Name, r.Follows)})
		}
	}
	return waits
}

// kept is the pod that a human said to keep.
func (s *situation) kept() *survey.Answer {
	for _, a := range s.servers {
		if a.Pod.Name == s.desired.Keep {
			return a
		}
	}
	return nil
}

// best is whom to elect, nil with what to do instead.
func (s *situation) best() (*survey.Answer, finding) {
	heirs := s.heirs()
	if len(heirs) == 0 {
		return s.orphans()
	}
	best := heirs[0]
	for _, a := range heirs[1:] {
		if s.further(a, best) {
			best = a
		}
	}
	n := 0
	for _, a := range s.servers {
		switch {
		case a == best || Within(a, best) && (synced(a) || !Empty(a)):
			n++
		case Empty(a), Older(a, best):
		case !synced(a):
		default:
			return nil, blocked(plan.PrimaryDown, fmt.Sprintf("%s, and %s: neither holds the other: say which one to keep", holds(best), holds(a)))
		}
	}
	if n*2 > s.size() {
		return best, finding{}
	}
	return s.outweigh(best, n)
}

// outweigh decides about the furthest replica when it and what it holds are no majority.
// Data that others may have counts only while it can come back: that of a pod whose data
// outlives it, where there are more than two, or of servers that do not know what it is and
// started when the replica lost its primary, or later.
func (s *situation) outweigh(best *survey.Answer, n int) (*survey.Answer, finding) {
	unknown := s.anonymous()
	if len(unknown) == 0 && s.desired.Durable && s.size() > 2 && !s.complete() {
		return nil, finding{stop: true, waits: []plan.Wait{{Message: fmt.Sprintf("%s, as do %d of %d pods: the others may hold more", holds(best), n, s.size())}}}
	}
	for _, a := range unknown {
		if best.Replication.Silence > a.Uptime+staleness {
			return nil, blocked(plan.PrimaryDown, fmt.Sprintf("%s, and was cut off %s before pod %s started, which holds %d keys and may know more: say which one to keep",
				holds(best), (best.Replication.Silence-a.Uptime).Round(time.Second), a.Pod.Name, a.Keys))
		}
	}
	return best, finding{}
}

// heirs are the servers that may be elected by what they hold.
func (s *situation) heirs() []*survey.Answer {
	var heirs []*survey.Answer
	empty := allEmpty(s.servers)
	for _, a := range s.servers {
		if synced(a) && a.Replication.Priority != 0 && !a.Replication.Syncing && (empty || !Empty(a)) {
			heirs = append(heirs, a)
		}
	}
	return heirs
}

// further is whether a knows more than b: it was promoted from b's history, or has more of
// the same. Among equals it is who stays, whose disk works, and the lowest ordinal.
func (s *situation) further(a, b *survey.Answer) bool {
	switch {
	case Older(b, a) != Older(a, b):
		return Older(b, a)
	case a.ReplicationID == b.ReplicationID && a.Offset != b.Offset:
		return a.Offset > b.Offset
	case s.stays(a.Pod) != s.stays(b.Pod):
		return s.stays(a.Pod)
	case (a.Replication.DiskError == "") != (b.Replication.DiskError == ""):
		return a.Replication.DiskError == ""
	}
	return a.Pod.Index < b.Pod.Index
}

// anonymous are the servers with data that cannot be told.
func (s *situation) anonymous() []*survey.Answer {
	var list []*survey.Answer
	for _, a := range s.servers {
		if Anonymous(a) {
			list = append(list, a)
		}
	}
	return list
}

// orphans: nobody remembers a primary. When a single pod has data, and all are there, it is
// all there is.
func (s *situation) orphans() (*survey.Answer, finding) {
	unknown := s.anonymous()
	switch {
	case !s.complete():
		return nil, finding{stop: true, waits: []plan.Wait{{Message: "there is no primary, and no pod that answers was ever in sync with one: the others may hold the data"}}}
	case len(unknown) == 1:
		return unknown[0], finding{}
	case len(unknown) == 0:
		return nil, finding{stop: true, waits: []plan.Wait{{Message: "there is no primary, and no pod may be it"}}}
	}
	var all []string
	for _, a := range unknown {
		all = append(all, fmt.Sprintf("pod %s (%d keys)", a.Pod.Name, a.Keys))
	}
	return nil, blocked(plan.PrimaryDown, "there is no primary, and it cannot be told whose data is the newest: "+strings.Join(all, ", ")+": say which one to keep")
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package replication

import (
	"fmt"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// withSentinels is whether sentinels promote.
func (s *situation) withSentinels() bool { return s.desired.Topology == v1alpha1.TopologySentinel }

// sentinelsHave is whether the primary is the sentinels' business.
func (s *situation) sentinelsHave() bool { return s.withSentinels() && !s.unwatched }

// asked are the wanted sentinels that answered.
func (s *situation) asked() []*survey.Sentinel {
	var list []*survey.Sentinel
	for i := range s.view.Sentinels {
		if w := &s.view.Sentinels[i]; w.Answered() && w.Pod.Index < s.desired.Sentinels {
			list = append(list, w)
		}
	}
	return list
}

// watching are those of all sentinels that watch something.
func (s *situation) watching() []*survey.Sentinel {
	var list []*survey.Sentinel
	for i := range s.view.Sentinels {
		if w := &s.view.Sentinels[i]; w.Answered() && w.Watched != nil {
			list = append(list, w)
		}
	}
	return list
}

// watchers are the wanted sentinels that watch the primary and see it.
func (s *situation) watchers() []plan.Ref {
	var list []plan.Ref
	for _, w := range s.asked() {
		if w.Watched != nil && s.primary.Names(w.Watched.Endpoint) && !w.Watched.Down() {
			list = append(list, plan.Ref{Pod: w.Pod.Name, ID: w.ID})
		}
	}
	return list
}

// sentinels: without a majority of them it is not known what they think, nor can they be
// kept from acting.
func sentinels(s *situation) finding {
	if n := len(s.asked()); n*2 <= int(s.desired.Sentinels) {
		return finding{stop: true, waits: []plan.Wait{{Message: fmt.Sprintf("%d of %d sentinels answer, which is no majority", n, s.desired.Sentinels)}}}
	}
	return finding{}
}

// authority: who the primary is the sentinels say. When what they watch is not there, or no
// primary, they promote another one; nothing is done meanwhile. Only when they have not in
// their own time it is taken from them, and found as if there were none.
func authority(s *situation) finding {
	watching := s.watching()
	s.unwatched = len(watching) == 0
	if s.unwatched {
		return finding{}
	}
	for _, w := range watching {
		if w.Watched.Has("failover_in_progress") {
			return finding{stop: true, waits: []plan.Wait{{Pod: w.Pod.Name, Message: "sentinel " + w.Pod.Name + ": a failover is under way"}}}
		}
	}
	s.primary = nil
	named := s.elected(watching)
	if p := s.view.At(named); p != nil && p.Answered() && p.Replication.Primary {
		for _, w := range watching {
			if p.Names(w.Watched.Endpoint) && w.Watched.Down() {
				return finding{stop: true, waits: []plan.Wait{{Pod: w.Pod.Name, Message: fmt.Sprintf("sentinel %s takes %s for down, which answers", w.Pod.Name, p.Pod.Name)}}}
			}
		}
		s.primary = p
		return finding{}
	}
	step := Unwatch{Because: plan.Because(fmt.Sprintf("the sentinels watch %s, which is no primary, and promoted no other in time", named)), Watched: named}
	for _, w := range watching {
		if waited, limit := waited(w.Watched), s.limit(w.Watched); waited < limit {
			return finding{stop: true, waits: []plan.Wait{{Pod: w.Pod.Name, Message: fmt.Sprintf("sentinel %s watches %s, which is no primary, and has %s to promote another",
				w.Pod.Name, w.Watched.Endpoint, (limit - waited).Round(time.Second))}}}
		}
		step.Sentinels = append(step.Sentinels, plan.Ref{Pod: w.Pod.Name, ID: w.ID})
	}
	return finding{steps: []plan.Step{step}}
}

// elected is what most of those that watch something watch: of several with as many the one
// that is a primary, else the one of the latest failover.
func (s *situation) elected(watching []*survey.Sentinel) survey.Endpoint {
	var best *survey.Sentinel
	votes, most := map[string]int{}, 0
	key := func(w *survey.Sentinel) string {
		if p := s.view.At(w.Watched.Endpoint); p != nil {
			return p.Pod.Name
		}
		return w.Watched.String()
	}
	for _, w := range watching {
		votes[key(w)]++
	}
	isPrimary := func(w *survey.Sentinel) bool {
		p := s.view.At(w.Watched.Endpoint)
		return p != nil && p.Answered() && p.Replication.Primary
	}
	for _, w := range watching {
		n := votes[key(w)]
		if best == nil || n > most || n == most && isPrimary(w) && !isPrimary(best) ||
			n == most && isPrimary(w) == isPrimary(best) && w.Watched.Epoch > best.Watched.Epoch {
			best, most = w, n
		}
	}
	return best.Watched.Endpoint
}

// waited is for how long a sentinel knows that what it watches is no primary.
func waited(w *survey.Watched) time.Duration {
	if w.Role == "slave" {
		return max(w.DownFor, w.RoleFor)
	}
	return w.DownFor
}

// limit is the time that a sentinel has for that: to see it, and for one whole failover.
func (s *situation) limit(w *survey.Watched) time.Duration {
	if s.desired.Patience > 0 {
		return s.desired.Patience
	}
	return w.FailoverTimeout + 2*w.DownAfter
}

// watch: every sentinel watches the primary, with the same quorum. The quorum is set last,
// so one that differs also tells of settings that were not finished.
func watch(s *situation) finding {
	if s.primary == nil {
		return finding{}
	}
	step := Watch{Because: plan.Because("sentinels do not watch the primary " + s.primary.Pod.Name), Primary: ref(s.primary), Quorum: s.desired.Quorum}
	var f finding
	for _, w := range s.asked() {
		if w.Watched != nil && s.primary.Names(w.Watched.Endpoint) && w.Watched.Quorum == s.desired.Quorum {
			continue
		}
		if w.Watched != nil && !s.primary.Names(w.Watched.Endpoint) && waited(w.Watched) < s.limit(w.Watched) {
			f.waits = append(f.waits, plan.Wait{Pod: w.Pod.Name, Message: fmt.Sprintf("sentinel %s still watches %s", w.Pod.Name, w.Watched.Endpoint)})
			continue
		}
		step.Sentinels = append(step.Sentinels, plan.Ref{Pod: w.Pod.Name, ID: w.ID})
	}
	if len(step.Sentinels) > 0 {
		f.steps = []plan.Step{step}
	}
	return f
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package replication

import (
	"fmt"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// known: each sentinel has to know the replicas and the other sentinels, or it can replace
// nobody. They find each other through the primary, which takes seconds.
func known(s *situation) finding {
	var f finding
	wait := func(w *survey.Sentinel, format string, args ...any) {
		f.waits = append(f.waits, plan.Wait{Pod: w.Pod.Name, Message: "sentinel " + w.Pod.Name + " " + fmt.Sprintf(format, args...)})
	}
	for _, w := range s.asked() {
		if w.Watched == nil || !s.primary.Names(w.Watched.Endpoint) {
			continue
		}
		if w.Watched.Down() {
			wait(w, "takes the primary for down")
		}
		for _, other := range s.asked() {
			if other.ID != w.ID && !sees(w.Watched.Sentinels, func(k survey.Known) bool { return k.ID == other.ID }) {
				wait(w, "does not know %s yet", other.Pod.Name)
			}
		}
		for _, a := range s.servers {
			if a != s.primary && s.wanted(a.Pod) && !sees(w.Watched.Replicas, func(k survey.Known) bool { return a.Names(k.Endpoint) }) {
				wait(w, "does not know replica %s yet", a.Pod.Name)
			}
		}
	}
	return f
}

func sees(all []survey.Known, is func(survey.Known) bool) bool {
	for _, k := range all {
		if is(k) && !k.Down() && !k.Has("disconnected") {
			return true
		}
	}
	return false
}

// forgettable is for how long something must be down before a sentinel is made to forget
// it.
const forgettable = 30 * time.Second

// stale: a sentinel never forgets by itself. Sentinels that are gone count when a majority
// is needed, and at the address of a replica that is gone may be somebody else one day. One
// at a time is reset, and only when all else is well: until it has found everything again
// it replaces nobody.
func stale(s *situation) finding {
	if len(s.away) > 0 || len(s.asked()) < int(s.desired.Sentinels) || len(linked(s).waits) > 0 || len(known(s).waits) > 0 {
		return finding{}
	}
	var f finding
	for _, w := range s.asked() {
		if w.Watched == nil || !s.primary.Names(w.Watched.Endpoint) {
			return finding{}
		}
		gone, age := s.gone(w)
		switch limit := s.patience(forgettable); {
		case gone == "":
		case age < limit:
			f.waits = append(f.waits, plan.Wait{Pod: w.Pod.Name, Message: fmt.Sprintf("sentinel %s still knows %s, which is to be forgotten in %s", w.Pod.Name, gone, (limit - age).Round(time.Second))})
		default:
			f.waits = nil
			f.steps = []plan.Step{Reset{
				Because:  plan.Because(fmt.Sprintf("sentinel %s knows %s, which no pod is any more", w.Pod.Name, gone)),
				Sentinel: plan.Ref{Pod: w.Pod.Name, ID: w.ID}, Replicas: len(s.servers) - 1, Sentinels: len(s.asked()) - 1,
			}}
			return f
		}
	}
	return f
}

// gone is one thing that a sentinel knows and no pod is, with for how long it is down. A
// replica that answers may be one of another cluster, which copies this one.
func (s *situation) gone(w *survey.Sentinel) (string, time.Duration) {
	what, longest := "", time.Duration(-1)
	note := func(kind string, k survey.Known) {
		if k.DownFor > longest {
			what, longest = kind+" "+k.String(), k.DownFor
		}
	}
	for _, k := range w.Watched.Replicas {
		if k.Down() && s.view.At(k.Endpoint) == nil {
			note("replica", k)
		}
	}
	for _, k := range w.Watched.Sentinels {
		ours := false
		for i := range s.view.Sentinels {
			ours = ours || s.view.Sentinels[i].ID == k.ID
		}
		if !ours {
			note("sentinel", k)
		}
	}
	return what, longest
}

func (s *situation) patience(usual time.Duration) time.Duration {
	if s.desired.Patience > 0 {
		return s.desired.Patience
	}
	return usual
}

// barred: a sentinel picks whom it promotes by itself, so those that must not be it get
// replica-priority 0 first, and the sentinels have to have seen that.
func (s *situation) barred() finding {
	step := Prioritize{Because: "sentinels are not to promote them now"}
	var f finding
	for _, a := range s.servers {
		if a == s.primary || s.stays(a.Pod) {
			continue
		}
		if a.Replication.Priority != 0 {
			step.Servers = append(step.Servers, ref(a))
			continue
		}
		for _, w := range s.asked() {
			if w.Watched == nil {
				continue
			}
			for _, k := range w.Watched.Replicas {
				if a.Names(k.Endpoint) && k.Priority != 0 {
					f.stop = true
					f.waits = append(f.waits, plan.Wait{Pod: w.Pod.Name, Message: fmt.Sprintf("sentinel %s has not yet heard that %s must not be promoted", w.Pod.Name, a.Pod.Name)})
				}
			}
		}
	}
	if len(step.Servers) > 0 {
		f = finding{steps: []plan.Step{step}}
	}
	return f
}

// priority undoes what barred did, once the primary is where it is to be.
func priority(s *situation) finding {
	if !s.stays(s.primary.Pod) || s.desired.ReplicaPriority == 0 {
		return finding{}
	}
	step := Prioritize{Because: "they may be promoted again", Priority: s.desired.ReplicaPriority}
	for _, a := range s.servers {
		if a != s.primary && a.Replication.Priority == 0 {
			step.Servers = append(step.Servers, ref(a))
		}
	}
	if len(step.Servers) == 0 {
		return finding{}
	}
	return finding{steps: []plan.Step{step}}
}

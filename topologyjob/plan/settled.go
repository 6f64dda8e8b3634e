// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// settled ends the chain: it waits until all nodes agree, since a plan that has nothing to
// do proves nothing while some of them have not heard.
func settled(s *situation) finding {
	var f finding
	wait := func(a *survey.Answer, format string, args ...any) {
		f.waits = append(f.waits, Wait{Pod: a.Pod.Name, Message: "pod " + a.Pod.Name + " " + fmt.Sprintf(format, args...)})
	}
	if slots := s.ownerless(); slots.Count() > 0 {
		f.waits = append(f.waits, Wait{Message: fmt.Sprintf("slots %s belong to a node that does not answer", slots)})
	}
	believers := s.view.Believers(s.owners)
	for _, a := range s.nodes {
		if why := s.unheard(a); why != "" {
			wait(a, "%s", why)
			continue
		}
		if n := believers[a.ID]; n > 0 {
			wait(a, "has not heard who owns %s", count(n, "slot"))
		}
		if !a.StateOK {
			wait(a, "says that the cluster is down")
		}
		if own := a.Own(); own.Replica && !a.LinkUp && !s.leftOver(a) {
			wait(a, "is not in sync with its primary")
		}
	}
	return f
}

// leftOver is whether a replica is to go, has no key, and replicates a node without slots that no
// pod is any more: of a shard that was drained when its primary was lost. It is in sync with
// nobody for ever, and there is nothing that it could lack.
func (s *situation) leftOver(a *survey.Answer) bool {
	primary := a.Own().Primary
	return !s.wanted(a.Pod) && a.Keys == 0 && s.byID[primary] == nil && !s.mayBeAway(primary) && s.owners.Slots[primary].Count() == 0
}

// unheard says what a node has not heard of the others that answered, "" if nothing.
func (s *situation) unheard(a *survey.Answer) string {
	seen := map[string]int{}
	for i, e := range a.Nodes {
		seen[e.ID] = i
	}
	unknown, dead, roles := 0, 0, 0
	for _, other := range s.nodes {
		i, found := seen[other.ID]
		if !found {
			unknown++
			continue
		}
		e, own := a.Nodes[i], other.Own()
		switch {
		case !e.Alive():
			dead++
		case e.Replica != own.Replica || e.Primary != own.Primary:
			roles++
		}
	}
	switch {
	case unknown > 0:
		return "does not know " + count(unknown, "node")
	case dead > 0:
		return "cannot reach " + count(dead, "node")
	case roles > 0:
		return "has not heard the role of " + count(roles, "node")
	}
	return ""
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// histories is check 2: nodes with data that do not come from one cluster are never
// joined, because the servers would settle who owns a slot by epoch and delete the keys of
// the other side.
//
// A node without data counts as well if it knows others that own slots, or that live and are
// none of ours: who meets it meets them.
//
// Nodes that know each other's IDs are one history, and kept claims of it are adopted.
// Several histories with data are one thing only: the pieces of an interrupted bootstrap,
// in which every node is one of ours and owns nothing but its shard's first share.
func histories(s *situation) finding {
	if twice := s.sameID(); twice != "" {
		return blocked(ForeignData, twice)
	}
	withData := map[int][]*survey.Answer{}
	for _, a := range s.nodes {
		if s.counts(a) {
			withData[s.group[a.ID]] = append(withData[s.group[a.ID]], a)
		}
	}
	if len(withData) <= 1 {
		if f := s.outsiders(); f.stop || f.blocked != nil {
			return f
		}
		return s.contested()
	}
	if !s.desired.Initialized {
		switch ours, why := s.pieces(); {
		case ours && why == "":
			return finding{}
		case ours:
			return finding{waits: []Wait{{Message: why + ": nothing is joined"}}, stop: true}
		}
	}
	var groups []string
	for _, nodes := range withData {
		var names []string
		for _, a := range nodes {
			names = append(names, fmt.Sprintf("%s (slots %s, %d keys)", a.Pod.Name, a.Own().Slots, a.Keys))
		}
		slices.Sort(names)
		groups = append(groups, strings.Join(names, ", "))
	}
	slices.Sort(groups)
	return blocked(ForeignData, "data of more than one cluster, nothing is joined: "+strings.Join(groups, " | ")+
		"; remove the data of the pods that do not belong here")
}

// outsiders: before anything is joined, the living members of the one history must be ours.
// As many as there are pods that do not answer may be those; more are somebody else's, or
// the former selves of pods that were just replaced, which others soon find dead.
func (s *situation) outsiders() finding {
	joining := map[int]bool{}
	for _, a := range s.nodes {
		joining[s.group[a.ID]] = true
	}
	living := map[string]bool{}
	for _, a := range s.nodes {
		for _, e := range a.Nodes {
			if s.byID[e.ID] == nil && e.Alive() {
				living[e.ID] = true
			}
		}
	}
	if len(joining) < 2 || len(living) <= len(s.absent()) {
		return finding{}
	}
	message := fmt.Sprintf("%s that no pod is: nothing is joined", count(len(living), "living member"))
	if !s.desired.Initialized {
		return blocked(ForeignData, message)
	}
	return finding{waits: []Wait{{Message: message}}, stop: true}
}

// counts is whether joining a node could join more than an empty node.
func (s *situation) counts(a *survey.Answer) bool {
	for _, e := range a.Nodes {
		if len(e.Slots) > 0 || s.byID[e.ID] == nil && e.Alive() {
			return true
		}
	}
	return a.Keys > 0
}

// sameID tells of two pods that run with one identity.
func (s *situation) sameID() string {
	for _, a := range s.nodes {
		if other := s.byID[a.ID]; other != a {
			return fmt.Sprintf("pods %s and %s run with the same node ID %s: one data directory was copied or is used twice", a.Pod.Name, other.Pod.Name, short(a.ID))
		}
	}
	return ""
}

// contested: within one history the servers settle a slot that two claim with one epoch
// by themselves.
func (s *situation) contested() finding {
	if n := s.owners.Contested.Count(); n > 0 {
		return finding{waits: []Wait{{Message: fmt.Sprintf("%s claimed by two nodes with the same epoch: %s", count(n, "slot"), s.owners.Contested)}}, stop: true}
	}
	return finding{}
}

// pieces reports whether all there is are pieces of an interrupted bootstrap, and what has to
// be waited for until that can be told.
func (s *situation) pieces() (ours bool, wait string) {
	for _, a := range s.nodes {
		for _, e := range a.Nodes {
			if e.Handshake || s.byID[e.ID] != nil {
				continue
			}
			former, why := s.former(e)
			if !former {
				return false, ""
			}
			wait = cmp.Or(wait, why)
		}
		if !s.formula(a.Pod.Shard).Covers(a.Own().Slots) || a.Keys > 0 && len(a.Own().Slots) == 0 && !a.Own().Replica {
			return false, ""
		}
	}
	return true, wait
}

// former reports whether a member that no pod is may be what a pod was before it was replaced,
// in the middle of a bootstrap, and what has to be waited for until that can be told. Such a
// one is dead, there is no key anywhere, and if it owns slots they are of the first share of a
// shard and nobody else's: a member of another cluster of the same shape remembers owners of
// all shares. One with slots has to be gone for as long as it takes to be forgotten.
func (s *situation) former(e node.Entry) (former bool, wait string) {
	dead := e.Failed || e.Suspected || e.NoAddress
	switch {
	case dead && len(e.Slots) == 0 && s.keys() == 0:
		return true, ""
	case len(s.absent()) > 0:
		return true, fmt.Sprintf("node %s may be a pod that does not answer", short(e.ID))
	case e.Alive() || s.keys() > 0 || len(e.Slots) > 0 && !s.share(e.Slots):
		return false, ""
	case !dead || !s.deadForGood(e.ID, s.strangers()[e.ID]):
		return true, fmt.Sprintf("node %s, which no pod is, was heard of not long ago", short(e.ID))
	}
	return true, ""
}

// share reports whether slots are of the first share of a shard, and no node that answers has
// any of them.
func (s *situation) share(slots slot.Ranges) bool {
	for _, a := range s.nodes {
		if a.Own().Slots.And(slots).Count() > 0 {
			return false
		}
	}
	for shard := range s.desired.Shards {
		if s.formula(shard).Covers(slots) {
			return true
		}
	}
	return false
}

func blocked(reason Reason, message string) finding {
	return finding{blocked: &Blocked{Reason: reason, Message: message}}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// situation is a view with what every check needs worked out once.
type situation struct {
	desired Desired
	view    survey.View
	// nodes are the pods that answered.
	nodes []*survey.Answer
	// byID has them by node ID.
	byID   map[string]*survey.Answer
	owners survey.Owners
	// group is the number of the history that a node belongs to, by ID; nodes that know
	// each other's IDs are of one history, wherever they think the other is.
	group map[string]int
}

func newSituation(desired Desired, view survey.View) *situation {
	s := &situation{desired: desired, view: view, byID: map[string]*survey.Answer{}, owners: view.Owners()}
	for i := range view.Answers {
		if a := &view.Answers[i]; a.Answered() {
			s.nodes = append(s.nodes, a)
			s.byID[a.ID] = a
		}
	}
	s.group = groups(s.nodes)
	return s
}

// groups numbers the histories.
func groups(nodes []*survey.Answer) map[string]int {
	group := map[string]int{}
	members := [][]string{}
	join := func(a, b string) {
		ga, gb := group[a], group[b]
		if ga == gb {
			return
		}
		for _, id := range members[gb] {
			group[id] = ga
		}
		members[ga] = append(members[ga], members[gb]...)
		members[gb] = nil
	}
	add := func(id string) {
		if _, found := group[id]; !found {
			group[id] = len(members)
			members = append(members, []string{id})
		}
	}
	for _, a := range nodes {
		add(a.ID)
		for _, e := range a.Nodes {
			// The ID of a handshake is made up.
			if !e.Handshake {
				add(e.ID)
				join(a.ID, e.ID)
			}
		}
	}
	return group
}

// absent are the wanted pods that did not answer.
func (s *situation) absent() []*survey.Answer {
	var list []*survey.Answer
	for i := range s.view.Answers {
		if a := &s.view.Answers[i]; !a.Answered() {
			list = append(list, a)
		}
	}
	return list
}

// wanted reports whether a pod's place is in the wanted topology.
func (s *situation) wanted(p survey.Pod) bool {
	return p.Shard < s.desired.Shards && p.Index <= s.desired.Replicas
}

// shards is how many shards are wanted, or more where pods of others answered.
func (s *situation) shards() int32 {
	n := s.desired.Shards
	for _, a := range s.nodes {
		n = max(n, a.Pod.Shard+1)
	}
	return n
}

// shard are the nodes that answered of one shard, by index.
func (s *situation) shard(shard int32) []*survey.Answer {
	var list []*survey.Answer
	for _, a := range s.nodes {
		if a.Pod.Shard == shard {
			list = append(list, a)
		}
	}
	slices.SortStableFunc(list, func(a, b *survey.Answer) int { return int(a.Pod.Index) - int(b.Pod.Index) })
	return list
}

// owner is the node of a shard that owns its slots: of several the one with the most, nil
// if none answered.
func (s *situation) owner(shard int32) *survey.Answer {
	var owner *survey.Answer
	most := 0
	for _, a := range s.shard(shard) {
		if n := s.owners.Slots[a.ID].Count(); n > most {
			owner, most = a, n
		}
	}
	return owner
}

// formula are the slots that a shard gets when the cluster is formed.
func (s *situation) formula(shard int32) slot.Ranges { return s.desired.Formula(shard) }

// assigned is whether any slot has an owner, alive or not.
func (s *situation) assigned() bool { return len(s.owners.Slots) > 0 }

// keys is the number of keys of all nodes.
func (s *situation) keys() int64 {
	n := int64(0)
	for _, a := range s.nodes {
		n += a.Keys
	}
	return n
}

func ref(a *survey.Answer) Ref { return Ref{Pod: a.Pod.Name, ID: a.ID} }

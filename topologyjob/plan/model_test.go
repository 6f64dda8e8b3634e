// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// world is a cluster as it is, from which views are made in which all agree. Tests then
// change single answers.
type world struct {
	desired Desired
	answers []survey.Answer
}

// id is the node ID of a pod's first life.
func id(shard, index int32) string {
	return fmt.Sprintf("%02x%02x%s", shard, index, strings.Repeat("0", 36))
}

// blank are pods that know nobody.
func blank(shards, replicas int32) *world {
	w := &world{desired: Desired{Shards: shards, Replicas: replicas}}
	for shard := range shards {
		for index := range replicas + 1 {
			w.add(shard, index, id(shard, index))
		}
	}
	return w
}

// add is one more pod that knows nobody.
func (w *world) add(shard, index int32, id string) *survey.Answer {
	w.answers = append(w.answers, survey.Answer{
		Pod: survey.Pod{Name: fmt.Sprintf("c-%d-%d", shard, index), Shard: shard, Index: index},
		ID:  id, Version: "9.1.2", StateOK: true,
		Nodes: []node.Entry{{ID: id, Myself: true, Linked: true}},
	})
	return &w.answers[len(w.answers)-1]
}

// formed is a healthy cluster with 10 keys a shard.
func formed(shards, replicas int32) *world {
	w := blank(shards, replicas)
	w.desired.Initialized = true
	for i := range w.answers {
		a := &w.answers[i]
		a.Keys, a.Nodes[0].Epoch = 10, uint64(a.Pod.Shard)+1
		if a.Pod.Index == 0 {
			a.Nodes[0].Slots = slot.Bootstrap(a.Pod.Shard, shards)
			continue
		}
		a.LinkUp = true
		a.Nodes[0].Replica, a.Nodes[0].Primary = true, id(a.Pod.Shard, 0)
	}
	w.gossip()
	return w
}

// gossip makes everybody know everybody as they say of themselves.
func (w *world) gossip() {
	for i := range w.answers {
		own := w.answers[i].Own()
		w.answers[i].Nodes = []node.Entry{own}
		for j := range w.answers {
			if i != j && w.answers[j].Answered() {
				e := w.answers[j].Own()
				e.Myself, e.Open = false, nil
				w.answers[i].Nodes = append(w.answers[i].Nodes, e)
			}
		}
	}
}

// pod is the answer of a pod.
func (w *world) pod(shard, index int32) *survey.Answer {
	for i := range w.answers {
		if p := w.answers[i].Pod; p.Shard == shard && p.Index == index {
			return &w.answers[i]
		}
	}
	panic("no such pod")
}

// silent makes a pod not answer; the others keep what they believe of it.
func (w *world) silent(shard, index int32) {
	a := w.pod(shard, index)
	*a = survey.Answer{Pod: a.Pod, Problem: &survey.Problem{Code: survey.Unreachable, Message: "refused"}}
}

// sees changes what everybody else believes of a node.
func (w *world) sees(id string, change func(*node.Entry)) {
	for i := range w.answers {
		for j := range w.answers[i].Nodes {
			if e := &w.answers[i].Nodes[j]; e.ID == id && !e.Myself {
				change(e)
			}
		}
	}
}

// replace makes a pod another, empty node that knows nobody; its former self is dead.
func (w *world) replace(shard, index int32) *survey.Answer {
	a := w.pod(shard, index)
	w.sees(a.ID, func(e *node.Entry) { e.Failed, e.Linked = true, false })
	id := "f" + a.ID[1:]
	*a = survey.Answer{Pod: a.Pod, ID: id, Version: a.Version, Nodes: []node.Entry{{ID: id, Myself: true, Linked: true}}}
	return a
}

func (w *world) plan() Plan { return Decide(w.desired, survey.View{Answers: w.answers}) }

// scenario is one line of a table.
type scenario struct {
	name string
	w    *world
	edit func(*world)
	// check is the name of the one that decides, "" for none.
	check string
	// want is in what the plan prints.
	want string
}

func decide(t *testing.T, scenarios []scenario) {
	t.Helper()
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			if s.edit != nil {
				s.edit(s.w)
			}
			p := s.w.plan()
			if p.Check != s.check || !strings.Contains(p.String(), s.want) {
				t.Errorf("check %q: %s\nwant check %q: %s", p.Check, p, s.check, s.want)
			}
		})
	}
}

// refs are the pods of the edges' ends, sorted.
func refs(edges []Edge) []string {
	var names []string
	for _, e := range edges {
		names = append(names, e.From.Pod, e.To.Pod)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

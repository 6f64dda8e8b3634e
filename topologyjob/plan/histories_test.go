// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

func TestHistories(t *testing.T) {
	decide(t, []scenario{
		{"a node of another cluster", formed(3, 1), func(w *world) {
			a := w.replace(2, 1)
			a.Nodes[0].Slots, a.Keys = slot.All(), 5
		}, "histories", "blocked: ForeignData: data of more than one cluster, nothing is joined: c-0-0 (slots 0-5460, 10 keys)"},
		{"a node that lost its identity and kept its data", formed(3, 1), func(w *world) {
			w.replace(2, 0).Nodes[0].Slots = slot.Ranges{{First: 11000, Last: 11000}}
		}, "histories", "c-2-0 (slots 11000, 0 keys)"},
		{"keys of nobody knows what", formed(3, 1), func(w *world) { w.replace(2, 1).Keys = 5 }, "histories", "c-2-1 (slots none, 5 keys)"},
		{"an empty replica of another cluster", formed(3, 1), func(w *world) {
			a := w.replace(2, 1)
			a.Nodes = append(a.Nodes, node.Entry{ID: strings.Repeat("e", 40), Failed: true, Slots: slot.All()})
		}, "histories", "blocked: ForeignData"},
		{"an empty node that knows a living stranger", formed(3, 1), func(w *world) {
			a := w.replace(2, 1)
			a.Nodes = append(a.Nodes, node.Entry{ID: strings.Repeat("e", 40), Linked: true})
		}, "histories", "c-2-1 (slots none, 0 keys)"},
		{"an empty node that remembers a dead one", formed(3, 1), func(w *world) {
			a := w.replace(2, 1)
			a.Nodes = append(a.Nodes, node.Entry{ID: strings.Repeat("e", 40), Failed: true})
		}, "isolated", "would: MEET"},
		{"a bootstrap with a member of another cluster", blank(2, 0), func(w *world) {
			w.pod(1, 0).Nodes = append(w.pod(1, 0).Nodes, node.Entry{ID: strings.Repeat("e", 40), Linked: true, Slots: slot.All()})
		}, "histories", "blocked: ForeignData"},
		{"a pod joins while a stranger lives among the members", formed(3, 1), func(w *world) {
			w.replace(2, 1)
			w.pod(0, 0).Nodes = append(w.pod(0, 0).Nodes, node.Entry{ID: strings.Repeat("e", 40), Linked: true})
			w.sees(id(2, 1), func(e *node.Entry) { e.Failed = true })
		}, "", "waiting: 1 living member that no pod is: nothing is joined"},
		{"a pod joins while another does not answer us", formed(3, 1), func(w *world) {
			w.replace(2, 1)
			w.sees(id(2, 1), func(e *node.Entry) { e.Failed = true })
			w.silent(1, 1)
		}, "isolated", "would: MEET"},
		{"two pods with one identity", formed(3, 1), func(w *world) { w.pod(2, 1).ID = id(1, 1) }, "histories", "pods c-1-1 and c-2-1 run with the same node ID 01010000"},
		{"pieces of a bootstrap", blank(2, 0), func(w *world) {
			w.pod(0, 0).Nodes[0].Slots = slot.Bootstrap(0, 2)
			w.pod(1, 0).Nodes[0].Slots = slot.Bootstrap(1, 2)
		}, "isolated", "would: MEET 2 nodes; because nodes do not know each other"},
		{"pieces of a bootstrap that were written to", blank(2, 0), func(w *world) {
			w.pod(0, 0).Nodes[0].Slots, w.pod(0, 0).Keys = slot.Bootstrap(0, 2), 5
			w.pod(1, 0).Nodes[0].Slots = slot.Bootstrap(1, 2)
		}, "isolated", "would: MEET 2 nodes"},
		{"what looks like pieces after the bootstrap", blank(2, 0), func(w *world) {
			w.desired.Initialized = true
			w.pod(0, 0).Nodes[0].Slots = slot.Bootstrap(0, 2)
			w.pod(1, 0).Nodes[0].Slots = slot.Bootstrap(1, 2)
		}, "histories", "blocked: ForeignData"},
		{"a piece that knows a stranger", blank(2, 0), func(w *world) {
			w.pod(0, 0).Nodes[0].Slots = slot.Bootstrap(0, 2)
			w.pod(1, 0).Nodes[0].Slots = slot.Bootstrap(1, 2)
			w.pod(1, 0).Nodes = append(w.pod(1, 0).Nodes, node.Entry{ID: strings.Repeat("e", 40), Linked: true})
		}, "histories", "blocked: ForeignData"},
		{"a piece that knows who was replaced", blank(2, 0), func(w *world) {
			w.pod(0, 0).Nodes[0].Slots = slot.Bootstrap(0, 2)
			w.pod(1, 0).Nodes[0].Slots = slot.Bootstrap(1, 2)
			w.pod(1, 0).Nodes = append(w.pod(1, 0).Nodes, node.Entry{ID: strings.Repeat("e", 40), Failed: true})
		}, "isolated", "would: MEET 2 nodes"},
		{"a piece that knows who was replaced, and has keys", blank(2, 0), func(w *world) {
			w.pod(0, 0).Nodes[0].Slots = slot.Bootstrap(0, 2)
			w.pod(1, 0).Nodes[0].Slots, w.pod(1, 0).Keys = slot.Bootstrap(1, 2), 5
			w.pod(1, 0).Nodes = append(w.pod(1, 0).Nodes, node.Entry{ID: strings.Repeat("e", 40), Failed: true})
		}, "histories", "blocked: ForeignData"},
		{"a piece that knows who was just replaced", blank(2, 0), func(w *world) {
			w.pod(0, 0).Nodes[0].Slots = slot.Bootstrap(0, 2)
			w.pod(1, 0).Nodes[0].Slots = slot.Bootstrap(1, 2)
			w.pod(1, 0).Nodes = append(w.pod(1, 0).Nodes, node.Entry{ID: strings.Repeat("e", 40)})
		}, "", "waiting: node eeeeeeee, which no pod is, was heard of not long ago: nothing is joined"},
		{"a piece with slots of another shard", blank(2, 0), func(w *world) {
			w.pod(0, 0).Nodes[0].Slots = slot.Bootstrap(1, 2)
			w.pod(1, 0).Nodes[0].Slots = slot.Bootstrap(0, 2)
		}, "histories", "blocked: ForeignData"},
		{"a slot claimed twice with one epoch", formed(3, 1), func(w *world) {
			w.pod(0, 0).Nodes[0].Slots = slot.Ranges{{First: 0, Last: 5461}}
			w.pod(0, 0).Nodes[0].Epoch = w.pod(1, 0).Nodes[0].Epoch
		}, "", "waiting: 1 slot claimed by two nodes with the same epoch: 5461"},
	})
}

// bereaved are the pieces of a bootstrap of three shards that stopped before they met. Then the
// primary of shard 1 lost its volume, so long ago; its replica remembers it.
func bereaved(since time.Duration) *world {
	w := blank(3, 1)
	for i := range w.answers {
		w.answers[i].Now, w.answers[i].Uptime = 10_000_000, time.Hour
	}
	w.pod(0, 0).Nodes[0].Slots = slot.Bootstrap(0, 3)
	w.pod(2, 0).Nodes[0].Slots = slot.Bootstrap(2, 3)
	a := w.pod(1, 1)
	a.Nodes[0].Replica, a.Nodes[0].Primary = true, strings.Repeat("e", 40)
	a.Nodes = append(a.Nodes, node.Entry{ID: strings.Repeat("e", 40), Suspected: true, Pong: a.Now - since.Milliseconds(), Slots: slot.Bootstrap(1, 3)})
	return w
}

// TestBootstrapThatLostAnOwner: its pieces are told from the data of another cluster.
func TestBootstrapThatLostAnOwner(t *testing.T) {
	remembers := func(e node.Entry) func(*world) {
		return func(w *world) { w.pod(1, 1).Nodes = append(w.pod(1, 1).Nodes, e) }
	}
	decide(t, []scenario{
		{"gone for good", bereaved(time.Minute), nil, "isolated", "would: MEET 6 nodes"},
		{"heard of lately", bereaved(20 * time.Second), nil, "", "waiting: node eeeeeeee, which no pod is, was heard of not long ago: nothing is joined"},
		{"alive", bereaved(time.Minute), func(w *world) { e := &w.pod(1, 1).Nodes[1]; e.Suspected, e.Linked = false, true }, "histories", "blocked: ForeignData"},
		{"a pod is away", bereaved(time.Minute), func(w *world) { w.silent(0, 1) }, "", "node eeeeeeee may be a pod that does not answer: nothing is joined"},
		{"there are keys", bereaved(time.Minute), func(w *world) { w.pod(0, 0).Keys = 1 }, "histories", "blocked: ForeignData"},
		{"its slots are no share", bereaved(time.Minute), func(w *world) { w.pod(1, 1).Nodes[1].Slots = slot.Ranges{{First: 5460, Last: 9000}} }, "histories", "blocked: ForeignData"},
		{"a cluster of the same shape that is down", bereaved(time.Minute), remembers(node.Entry{ID: strings.Repeat("d", 40), Failed: true, Slots: slot.Bootstrap(0, 3)}), "histories", "blocked: ForeignData"},
		{"formed before", bereaved(time.Minute), func(w *world) { w.desired.Initialized = true }, "histories", "blocked: ForeignData"},
	})
}

// TestBootstrapThatLostAnOwnerIsEnded: once all have met, who is gone is forgotten with its
// share, which never held anything, whatever the profile.
func TestBootstrapThatLostAnOwnerIsEnded(t *testing.T) {
	met := func(w *world) {
		old, replica := w.pod(1, 1).Nodes[1], w.pod(1, 1)
		old.Suspected, old.Failed = false, true
		replica.Nodes[0].Replica, replica.Nodes[0].Primary = false, ""
		for shard := range int32(3) {
			if a := w.pod(shard, 1); shard != 1 {
				a.Nodes[0].Replica, a.Nodes[0].Primary, a.LinkUp = true, id(shard, 0), true
			}
		}
		for i := range w.answers {
			w.answers[i].Nodes[0].Epoch = uint64(i) + 1
		}
		w.gossip()
		for i := range w.answers {
			w.answers[i].Nodes = append(w.answers[i].Nodes, old)
		}
		w.desired.Durable = true
	}
	follows := func(w *world) {
		met(w)
		a := w.pod(1, 1)
		a.Nodes[0].Replica, a.Nodes[0].Primary = true, strings.Repeat("e", 40)
	}
	decide(t, []scenario{
		{"no replica was attached", bereaved(time.Minute), met, "stale", "would: FORGET 1 node"},
		{"its replica never got in sync", bereaved(time.Minute), follows, "orphaned", "would: promote 1 replica"},
		{"there are keys", bereaved(time.Minute), func(w *world) { met(w); w.pod(0, 0).Keys = 1 }, "stale", "blocked: SlotsLost: slots 5461-10922"},
		{"formed before", bereaved(time.Minute), func(w *world) { met(w); w.desired.Initialized = true }, "stale", "blocked: SlotsLost: slots 5461-10922"},
		{"a pod is away", bereaved(time.Minute), func(w *world) { met(w); w.silent(0, 1) }, "", "waiting: pod c-0-1"},
	})
}

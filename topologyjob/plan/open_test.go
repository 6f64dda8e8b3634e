// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

func TestOpen(t *testing.T) {
	mark := func(w *world, shard, index int32, o node.OpenSlot, keys int64) {
		a := w.pod(shard, index)
		a.Nodes[0].Open = append(a.Nodes[0].Open, o)
		if a.OpenKeys == nil {
			a.OpenKeys = map[int]int64{}
		}
		a.OpenKeys[o.Slot] = keys
	}
	// lose has shard 0's primary come back as another node that all know, a minute ago.
	lose := func(w *world) {
		old := w.pod(0, 0).Own()
		a := w.replace(0, 0)
		a.StateOK = true
		w.gossip()
		for i := range w.answers {
			b := &w.answers[i]
			b.Now, b.Uptime = 10_000_000, time.Hour
			b.Nodes = append(b.Nodes, node.Entry{ID: old.ID, Failed: true, Pong: b.Now - 60_000, Epoch: old.Epoch, Slots: old.Slots})
		}
	}
	migrating, importing := node.OpenSlot{Slot: 100, Other: id(1, 0)}, node.OpenSlot{Slot: 100, Importing: true, Other: id(0, 0)}
	decide(t, []scenario{
		{"no key went over", aged(3, 1), func(w *world) { mark(w, 0, 0, migrating, 5); mark(w, 1, 0, importing, 0) }, "interrupted", "would: move 1 slot from 1 primary to 1 key by key; because slots were left open"},
		{"keys went over", aged(3, 1), func(w *world) { mark(w, 0, 0, migrating, 5); mark(w, 1, 0, importing, 2) }, "interrupted", "would: move 1 slot from 1 primary to 1 key by key"},
		{"all keys went over", aged(3, 1), func(w *world) { mark(w, 0, 0, migrating, 0); mark(w, 1, 0, importing, 2) }, "interrupted", "would: move 1 slot from 1 primary to 1 key by key"},
		{"only migrating", aged(3, 1), func(w *world) { mark(w, 0, 0, migrating, 5) }, "interrupted", "would: move 1 slot from 1 primary to 1 key by key"},
		{"only importing, with keys", aged(3, 1), func(w *world) { mark(w, 1, 0, importing, 2) }, "interrupted", "would: move 1 slot from 1 primary to 1 key by key"},
		{"on a replica alone", aged(3, 1), func(w *world) { mark(w, 1, 1, importing, 0) }, "open", "would: close 1 open slot"},
		{"on a replica of one that imports", aged(3, 1), func(w *world) { mark(w, 1, 0, importing, 2); mark(w, 1, 1, importing, 2) }, "interrupted", "would: move 1 slot from 1 primary to 1 key by key"},
		{"the source does not answer", aged(3, 1), func(w *world) { mark(w, 1, 0, importing, 2); w.silent(0, 0) }, "", "slot 100 was being moved to c-1-0 from a node that does not own it or does not answer"},
		{"the source of an empty target does not answer", aged(3, 1), func(w *world) { mark(w, 1, 0, importing, 0); w.silent(0, 0) }, "", "slot 100 was being moved to c-1-0 from a node that does not own it or does not answer"},
		{"the target does not answer", aged(3, 1), func(w *world) { mark(w, 0, 0, migrating, 5); w.silent(1, 0) }, "", "slot 100 is open on c-0-0 and the node at its other end does not answer"},
		{"on a replica alone, and the target does not answer", aged(3, 1), func(w *world) { mark(w, 0, 1, migrating, 5); w.silent(1, 0) }, "", "slot 100 is open on c-0-1 and the node at its other end does not answer"},
		{"the target came back as another node, and its replica has keys", aged(3, 1), func(w *world) {
			mark(w, 0, 0, migrating, 5)
			mark(w, 1, 1, importing, 2)
			w.replace(1, 0)
		}, "isolated", "would: MEET 6 nodes"},
		{"the target is gone for good, and its replica, attached since, has keys", aged(3, 1), func(w *world) {
			mark(w, 0, 0, migrating, 5)
			a := w.replace(1, 0)
			a.StateOK = true
			w.gossip()
			w.pod(0, 0).Nodes = append(w.pod(0, 0).Nodes, node.Entry{ID: id(1, 0), Failed: true, Epoch: 2, Slots: slot.Bootstrap(1, 3)})
		}, "orphaned", "would: promote 1 replica by FAILOVER FORCE"},
		{"the target was replaced, and may come back with the slot", aged(3, 1), func(w *world) {
			heir := &w.pod(1, 1).Nodes[0]
			heir.Replica, heir.Primary, heir.Epoch, heir.Slots = false, "", 9, slot.Bootstrap(1, 3)
			w.gossip()
			moved := node.OpenSlot{Slot: 100, Other: id(1, 1)}
			mark(w, 0, 0, moved, 0)
			mark(w, 0, 1, moved, 0)
			w.silent(1, 0)
		}, "", "slot 100 is open and node 01000000, which may come back and take slots, does not answer"},
		{"the target does not answer, and its replica has no key", aged(3, 1), func(w *world) {
			mark(w, 0, 0, migrating, 5)
			mark(w, 1, 1, importing, 0)
			w.silent(1, 0)
		}, "", "slot 100 is open on c-0-0, and the node at its other end is to come back or to be replaced by c-1-1"},
		{"on a replica that is not in sync", aged(3, 1), func(w *world) {
			mark(w, 1, 1, importing, 0)
			w.pod(1, 1).LinkUp = false
		}, "", "slot 100 is open on c-1-1, which is not in sync with its primary"},
		{"the target takes no keys", aged(3, 1), func(w *world) {
			mark(w, 0, 0, migrating, 5)
			mark(w, 1, 0, importing, 2)
			w.pod(1, 0).StateOK = false
		}, "", "waiting: slot 100 is open and the cluster is down"},
		{"the target takes no keys, since all members moved", aged(3, 1), func(w *world) {
			mark(w, 0, 0, migrating, 5)
			mark(w, 1, 0, importing, 2)
			for i := range w.answers {
				w.answers[i].StateOK = false
				w.sees(w.answers[i].ID, func(e *node.Entry) { e.Linked = false })
			}
		}, "moved", "would: MEET 6 nodes"},
		{"the source is gone for good, in a Cache", aged(3, 0), func(w *world) { mark(w, 1, 0, importing, 2); lose(w) }, "open", "would: assign 1 slot to 1 primary; because the node that slots were moved from is gone for good"},
		{"two slots of a source that is gone for good", aged(3, 0), func(w *world) {
			mark(w, 1, 0, importing, 2)
			mark(w, 1, 0, node.OpenSlot{Slot: 7, Importing: true, Other: id(0, 0)}, 1)
			lose(w)
		}, "open", "would: assign 2 slots to 1 primary"},
		{"the source is gone for good, and its loss accepted", aged(3, 0), func(w *world) {
			mark(w, 1, 0, importing, 2)
			lose(w)
			w.desired.Durable, w.desired.AcceptLoss = true, slot.Bootstrap(0, 3)
		}, "open", "would: assign 1 slot to 1 primary"},
		{"the source is gone for good, and Durable", aged(3, 0), func(w *world) { mark(w, 1, 0, importing, 2); lose(w); w.desired.Durable = true }, "stale", "blocked: SlotsLost: slots 0-5460 belong to a node that no pod is any more"},
		{"the source is gone, and not for long", aged(3, 0), func(w *world) {
			mark(w, 1, 0, importing, 2)
			lose(w)
			w.sees(id(0, 0), func(e *node.Entry) { e.Pong = 9_990_000 })
		}, "", "slot 100 was being moved to c-1-0 from a node that does not own it or does not answer"},
		{"the source is gone for good, and another pod is away", aged(3, 0), func(w *world) { mark(w, 1, 0, importing, 2); lose(w); w.silent(2, 0) }, "", "slot 100 was being moved to c-1-0"},
		{"the source is gone for good, and its replica takes its place", aged(3, 1), func(w *world) { mark(w, 1, 0, importing, 2); lose(w) }, "orphaned", "would: promote 1 replica by FAILOVER FORCE"},
		{"the source is gone for good, and its replica takes its place without a majority", aged(2, 1), func(w *world) {
			mark(w, 1, 0, importing, 2)
			lose(w)
			w.desired.Takeover = true
		}, "quorum", "would: promote 1 replica by TAKEOVER"},
		{"both ways open", aged(3, 1), func(w *world) {
			mark(w, 1, 0, importing, 2)
			mark(w, 0, 0, node.OpenSlot{Slot: 7, Other: id(1, 0)}, 0)
		}, "interrupted", "would: move 2 slots from 1 primary to 1 key by key"},
	})
	w := aged(3, 1)
	mark(w, 1, 1, importing, 0)
	mark(w, 0, 1, migrating, 5)
	var closed []string
	for _, n := range w.plan().Steps[0].(Close).Nodes {
		closed = append(closed, n.Pod)
	}
	if !slices.Equal(closed, []string{"c-0-0", "c-1-0"}) {
		t.Error(closed)
	}
}

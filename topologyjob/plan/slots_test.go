// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// aiming makes a cluster one whose slots may move.
func aiming(w *world, drain, even bool) *world {
	w.desired.Drain, w.desired.RebalanceEnabled = drain, even
	return w
}

// grown is a formed cluster with one more shard that owns nothing.
func grown() *world {
	w := formed(3, 1)
	w.desired.Shards = 4
	primary := w.add(3, 0, id(3, 0)).ID
	replica := w.add(3, 1, id(3, 1))
	replica.Nodes[0].Replica, replica.Nodes[0].Primary, replica.LinkUp = true, primary, true
	w.gossip()
	return aiming(w, true, true)
}

// shrunk is a formed cluster that is to have one shard less.
func shrunk(even bool) *world {
	w := formed(4, 1)
	w.desired.Shards = 3
	return aiming(w, true, even)
}

func versions(w *world, version string) {
	for i := range w.answers {
		w.answers[i].Version = version
	}
}

func TestUneven(t *testing.T) {
	decide(t, []scenario{
		{"a new shard", grown(), nil, "uneven", "would: move 1536 slots (of 4095) from 3 primaries to 1; because shards own different numbers of slots"},
		{"not wanted", grown(), func(w *world) { w.desired.RebalanceEnabled = false }, "", "nothing to do"},
		{"before 9.0", grown(), func(w *world) { versions(w, "8.1.1") }, "uneven", "from 3 primaries to 1 key by key"},
		{"one node before 9.0", grown(), func(w *world) { w.pod(1, 1).Version = "8.1.1" }, "uneven", "from 3 primaries to 1 key by key"},
		{"batches", grown(), func(w *world) { w.desired.BatchSlots, w.desired.MaxConcurrent = 10, 2 }, "uneven", "would: move 20 slots (of 4095) from 2 primaries to 1"},
		{"within one slot", aiming(formed(3, 1), true, true), nil, "", "nothing to do"},
		{"a replica is away", grown(), func(w *world) { w.silent(1, 1) }, "uneven", "would: move 1536 slots"},
		{"a replica is away, before 9.0", grown(), func(w *world) { versions(w, "8.1.1"); w.silent(1, 1) }, "", "slots move key by key only while every pod answers"},
		{"a primary is away", grown(), func(w *world) { w.silent(1, 0) }, "", "waiting: pod c-1-0 Unreachable"},
		{"a primary that was replaced is away", grown(), func(w *world) { replaced(w); w.silent(1, 0) }, "", "node 01000000, which may come back and take slots, does not answer"},
		{"the new primary is away", grown(), func(w *world) { w.silent(3, 0); w.silent(3, 1) }, "", "shard 3 has no primary to move slots to"},
		{"a replica is not in sync", grown(), func(w *world) { w.pod(0, 1).LinkUp = false }, "", "slots move when all nodes agree"},
		{"the only primary is on a pod that goes", leftOver(), nil, "uneven", "would: move 1536 slots (of 4095) from 3 primaries to 1"},
		{"and the pod that stays is away", leftOver(), func(w *world) { w.silent(3, 0) }, "", "shard 3 has no primary to move slots to"},
		{"it owns slots", leftOver(), func(w *world) {
			from, to := &w.pod(0, 0).Nodes[0], &w.pod(3, 1).Nodes[0]
			to.Slots = from.Slots.Take(1)
			from.Slots = from.Slots.Minus(to.Slots)
			w.gossip()
		}, "vacate", "would: hand over 1 primary"},
	})
}

// leftOver is a cluster with a shard that owns nothing, whose primary is on an ordinal that
// is not wanted any more.
func leftOver() *world {
	w := grown()
	w.desired.Replicas = 0
	old, now := w.pod(3, 0), w.pod(3, 1)
	old.Nodes[0].Replica, old.Nodes[0].Primary, old.LinkUp = true, now.ID, true
	now.Nodes[0].Replica, now.Nodes[0].Primary = false, ""
	w.gossip()
	return w
}

func TestDrain(t *testing.T) {
	decide(t, []scenario{
		{"one shard less", shrunk(false), nil, "drain", "would: move 1536 slots (of 4096) from 1 primary to 3; because shards beyond the wanted count own slots"},
		{"and even", shrunk(true), nil, "drain", "would: move 1536 slots (of 4096) from 1 primary to 3"},
		{"not wanted", shrunk(true), func(w *world) { w.desired.Drain = false }, "", "nothing to do"},
		{"wanted again", shrunk(true), func(w *world) { w.desired.Shards = 4 }, "", "nothing to do"},
		{"empty", shrunk(true), func(w *world) {
			w.pod(0, 0).Nodes[0].Slots = w.pod(0, 0).Nodes[0].Slots.Plus(w.pod(3, 0).Nodes[0].Slots)
			w.pod(3, 0).Nodes[0].Slots, w.pod(3, 0).Keys, w.pod(3, 1).Keys = nil, 0, 0
			w.gossip()
		}, "uneven", "would: move 1024 slots (of 2730) from 1 primary to 2"},
		{"keys are left", shrunk(false), func(w *world) {
			w.pod(0, 0).Nodes[0].Slots = w.pod(0, 0).Nodes[0].Slots.Plus(w.pod(3, 0).Nodes[0].Slots)
			w.pod(3, 0).Nodes[0].Slots, w.pod(3, 0).Keys = nil, 0
			w.gossip()
		}, "", "waiting: pod c-3-1 of a drained shard holds 10 keys"},
		{"its primary is away", shrunk(false), func(w *world) { w.silent(3, 0) }, "", "waiting: pod c-3-0 Unreachable"},
	})
}

func TestReshard(t *testing.T) {
	ask := func(r Reshard) func(*world) { return func(w *world) { w.desired.Reshard = &r } }
	low := slot.Ranges{{First: 0, Last: 9}}
	decide(t, []scenario{
		{"a number of slots", formed(3, 1), ask(Reshard{From: 0, To: 1, Count: 100}), "reshard", "would: move 100 slots from 1 primary to 1; because a reshard was asked for"},
		{"these slots", formed(3, 1), ask(Reshard{From: 0, To: 1, Slots: low}), "reshard", "would: move 10 slots"},
		{"done", formed(3, 1), ask(Reshard{From: 1, To: 0, Slots: low}), "", "nothing to do"},
		{"too many", formed(3, 1), ask(Reshard{From: 0, To: 1, Count: 9000}), "reshard", "blocked: BadReshard: reshard: 9000 slots, shard 0 owns 5461"},
		{"of another shard", formed(3, 1), ask(Reshard{From: 1, To: 2, Slots: low}), "reshard", "blocked: BadReshard: reshard: shard 1 does not own slots 0-9"},
		{"to no shard", formed(3, 1), ask(Reshard{From: 0, To: 7, Slots: low}), "reshard", "blocked: BadReshard: reshard: from shard 0 to shard 7"},
		{"of a shard whose primary is away", formed(3, 1), func(w *world) {
			ask(Reshard{From: 1, To: 2, Slots: slot.Ranges{{First: 6000, Last: 6009}}})(w)
			w.silent(1, 0)
		}, "", "waiting: pod c-1-0 Unreachable"},
	})
	w := formed(3, 1)
	ask(Reshard{From: 0, To: 1, Count: 1000})(w)
	s := w.plan().Steps[0].(MoveSlots)
	if s.Picked.String() != "4461-5460" || s.Count() != 512 || !s.Atomic {
		t.Errorf("%+v", s)
	}
}

// TestDoubled: slots that somebody moved to a pod that is not its shard's primary.
func TestDoubled(t *testing.T) {
	strayed := func(shard int32) *world {
		w := formed(3, 1)
		stray, owner := &w.pod(shard, 1).Nodes[0], &w.pod(shard, 0).Nodes[0]
		first := owner.Slots[0].First
		stray.Replica, stray.Primary, stray.Epoch, stray.Slots = false, "", 9, slot.Ranges{{First: first, Last: first + 4}}
		owner.Slots = owner.Slots.Minus(stray.Slots)
		w.gossip()
		return w
	}
	decide(t, []scenario{
		{"they go to the primary", strayed(1), nil, "doubled", "would: move 5 slots from 1 primary to 1; because a shard has two nodes that own slots"},
		{"of a shard that goes", strayed(2), func(w *world) { w.desired.Shards, w.desired.Drain = 2, true }, "doubled", "would: move 5 slots from 1 primary to 1; because a shard has two nodes"},
		{"not while nodes disagree", strayed(1), func(w *world) { w.pod(0, 1).LinkUp = false }, "", "slots move when all nodes agree"},
		{"one at a time", strayed(1), func(w *world) { w.desired.BatchSlots = 2 }, "doubled", "would: move 2 slots (of 5)"},
	})
}

func TestMigrating(t *testing.T) {
	job := func(state string) node.Migration {
		return node.Migration{Name: "0123456789abcdef", Source: id(0, 0), Target: id(3, 0), Slots: slot.Ranges{{First: 0, Last: 5}}, State: state}
	}
	decide(t, []scenario{
		{"in flight", grown(), func(w *world) { w.pod(0, 0).Migrations = []node.Migration{job("snapshotting")} }, "", "waiting: migration 01234567 of slots 0-5 from c-0-0 to c-3-0: snapshotting; slots move when all nodes agree"},
		{"the target alone tells", grown(), func(w *world) {
			m := job("receiving")
			m.Importing = true
			w.pod(3, 0).Migrations = []node.Migration{m}
		}, "", "from c-0-0 to c-3-0: receiving"},
		{"ended", grown(), func(w *world) { w.pod(0, 0).Migrations = []node.Migration{job("failed"), job("success")} }, "uneven", "would: move"},
		{"keeps no repair", grown(), func(w *world) {
			w.pod(0, 0).Migrations = []node.Migration{job("snapshotting")}
			w.pod(1, 1).Nodes[0].Primary = id(0, 0)
			w.gossip()
		}, "attach", "would: attach 1 replica"},
	})
}

// replaced has the replica of shard 1 take its primary's place; the others still take both for
// primaries.
func replaced(w *world) {
	w.pod(1, 1).Nodes[0] = node.Entry{ID: id(1, 1), Myself: true, Linked: true, Epoch: 9, Slots: slot.Bootstrap(1, 3)}
	w.pod(1, 0).Nodes[0].Slots = nil
	w.gossip()
	own := &w.pod(1, 0).Nodes[0]
	own.Replica, own.Primary = true, id(1, 1)
}

func TestInterrupted(t *testing.T) {
	open := func(w *world, shard int32, importing bool, other string) {
		own := &w.pod(shard, 0).Nodes[0]
		own.Open = append(own.Open, node.OpenSlot{Slot: 5, Importing: importing, Other: other})
	}
	for _, test := range []struct {
		name string
		edit func(*world)
		want string
	}{
		{"both sides", func(w *world) { open(w, 0, false, id(1, 0)); open(w, 1, true, id(0, 0)) }, "c-0-0>c-1-0 5"},
		{"the target alone", func(w *world) { open(w, 1, true, id(0, 0)) }, "c-0-0>c-1-0 5"},
		{"the source alone", func(w *world) { open(w, 0, false, id(1, 0)) }, "c-0-0>c-1-0 5"},
		{"the target was promoted", func(w *world) {
			w.pod(1, 0).Nodes[0] = node.Entry{ID: id(1, 0), Myself: true, Linked: true, Replica: true, Primary: id(1, 1)}
			w.pod(1, 1).Nodes[0] = node.Entry{ID: id(1, 1), Myself: true, Linked: true, Epoch: 9, Slots: slot.Bootstrap(1, 3)}
			w.gossip()
			open(w, 0, false, id(1, 0))
		}, "c-0-0>c-1-1 5"},
		{"the source has not heard that it is done", func(w *world) {
			own := &w.pod(1, 0).Nodes[0]
			own.Epoch, own.Slots = 9, own.Slots.Plus(slot.Ranges{{First: 5, Last: 5}})
			open(w, 0, false, id(1, 0))
		}, "c-0-0>c-1-0 5"},
		{"the target is away", func(w *world) { open(w, 0, false, id(1, 0)); w.silent(1, 0) }, ""},
		{"the target was replaced and is away", func(w *world) {
			open(w, 0, false, id(1, 0))
			replaced(w)
			w.silent(1, 0)
		}, ""},
		{"the target was replaced and another came in its pod", func(w *world) {
			open(w, 0, false, id(1, 0))
			replaced(w)
			w.replace(1, 0)
			w.pod(1, 0).StateOK = true
			// Its former self is in the slot's mark alone.
			w.pod(0, 0).Nodes[0].Open[0].Other = id(1, 1)
		}, "c-0-0>c-1-1 5"},
		{"a former primary is away, whatever it had to do with the slot", func(w *world) {
			open(w, 2, true, id(0, 0))
			replaced(w)
			w.silent(1, 0)
		}, ""},
		{"the target is back and has not heard that it was replaced", func(w *world) {
			replaced(w)
			own := &w.pod(1, 0).Nodes[0]
			own.Replica, own.Primary, own.Epoch, own.Slots = false, "", 2, slot.Bootstrap(1, 3)
			open(w, 0, false, id(1, 0))
		}, ""},
		{"it imports the slot, which its successor is to get", func(w *world) {
			replaced(w)
			own := &w.pod(1, 0).Nodes[0]
			own.Replica, own.Primary, own.Epoch, own.Slots = false, "", 2, slot.Bootstrap(1, 3)
			open(w, 0, false, id(1, 1))
			open(w, 1, true, id(0, 0))
		}, ""},
		{"a replica is away", func(w *world) { open(w, 0, false, id(1, 0)); w.silent(2, 1) }, "c-0-0>c-1-0 5"},
		{"the target gives another away, which is next", func(w *world) {
			open(w, 0, false, id(1, 0))
			w.pod(1, 0).Nodes[0].Open = []node.OpenSlot{{Slot: 6000, Other: id(2, 0)}}
		}, "c-0-0>c-1-0 5"},
		{"one target of two sources", func(w *world) {
			open(w, 0, false, id(1, 0))
			w.pod(2, 0).Nodes[0].Open = []node.OpenSlot{{Slot: 11000, Other: id(1, 0)}}
		}, "c-0-0>c-1-0 5 c-2-0>c-1-0 11000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := formed(3, 1)
			test.edit(w)
			p := w.plan()
			got := ""
			for _, s := range p.Steps {
				if s, ok := s.(MoveSlots); ok && !s.Atomic {
					for _, m := range s.Moves {
						got += " " + m.From.Pod + ">" + m.To.Pod + " " + m.Slots.String()
					}
				}
			}
			if diff := cmp.Diff(test.want, strings.TrimSpace(got)); diff != "" || p.Done() {
				t.Errorf("%s\n%s", diff, p)
			}
		})
	}
}

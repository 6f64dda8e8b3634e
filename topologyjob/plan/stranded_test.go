// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// outlived is a cluster in which pod 0 of shard 0 lost its slots, some to its replica and
// the rest to shard 1, and is a primary with keys still.
func outlived() *world {
	w := formed(3, 1)
	old, now, other := w.pod(0, 0), w.pod(0, 1), w.pod(1, 0)
	now.Nodes[0].Slots = slot.Ranges{{First: 0, Last: 5000}}
	now.Nodes[0].Replica, now.Nodes[0].Primary, now.Nodes[0].Epoch = false, "", 9
	other.Nodes[0].Slots, other.Nodes[0].Epoch = slot.Ranges{{First: 5001, Last: 10922}}, 10
	old.Nodes[0].Slots, old.Keys = nil, 7
	w.gossip()
	return w
}

func TestPrimaryWithoutSlotsHasKeys(t *testing.T) {
	const held = "pod c-0-0 holds 7 keys and owns no slot"
	decide(t, []scenario{
		{"they are compared", outlived(), nil, "attach", "would: empty pod c-0-0, if the owners of their slots have its 7 keys; because a primary that lost its slots still has keys of them"},
		{"without them it is attached", outlived(), func(w *world) { w.pod(0, 0).Keys = 0 }, "attach", "would: attach 1 replica"},
		{"others are attached before", outlived(), func(w *world) {
			a := w.replace(2, 1)
			a.Nodes[0].Epoch = 12
			w.gossip()
		}, "attach", "would: attach 1 replica, empty pod c-0-0"},
		{"some are nowhere else", outlived(), func(w *world) { w.pod(0, 0).Stranded = "holds what nobody has" }, "", "waiting: pod c-0-0 holds what nobody has"},
		{"an owner is away", outlived(), func(w *world) { w.silent(2, 0) }, "", "pod c-0-0 holds 7 keys and owns no slot, and not every slot has an owner that answers"},
		{"a migration runs", outlived(), func(w *world) {
			w.pod(0, 0).Migrations = []node.Migration{{Name: "m", Importing: true, Source: id(1, 0), Target: id(0, 0), State: "importing"}}
		}, "", held + ", and slots are being moved"},
		{"it has not heard of all", outlived(), func(w *world) { w.pod(0, 0).Nodes[0].Slots = slot.Ranges{{First: 5001, Last: 5460}} }, "", "waiting: pod c-0-0 has not yet heard that its slots have another owner"},
		{"in a drained shard", outlived(), func(w *world) {
			w.desired.Drain, w.desired.Shards = true, 2
			w.pod(0, 0).Keys = 0
			w.pod(0, 0).Nodes[0].Replica, w.pod(0, 0).Nodes[0].Primary, w.pod(0, 0).LinkUp = true, id(0, 1), true
			w.pod(1, 0).Nodes[0].Slots = slot.Ranges{{First: 5001, Last: 16383}}
			w.pod(2, 0).Nodes[0].Slots = nil
			w.gossip()
		}, "drain", "would: empty pod c-2-0, if the owners of their slots have its 10 keys"},
	})
}

// TestOpenSlotsComeBeforeKeysWithoutSlots: a move that was cut off is finished first, and as
// long as that cannot be nothing is deleted.
func TestOpenSlotsComeBeforeKeysWithoutSlots(t *testing.T) {
	w := outlived()
	w.pod(0, 0).Nodes[0].Open = []node.OpenSlot{{Slot: 5100, Importing: true, Other: id(1, 0)}}
	w.pod(0, 0).OpenKeys = map[int]int64{5100: 1}
	for _, s := range w.plan().Steps {
		if s.Kind() == "empty" {
			t.Error(w.plan())
		}
	}
	w.silent(1, 0)
	if p := w.plan(); len(p.Steps) > 0 || !strings.Contains(p.String(), "open") {
		t.Error(p)
	}
}

func TestEmptyNamesAllOwners(t *testing.T) {
	w := outlived()
	w.desired.AcceptLoss = slot.Ranges{{First: 7, Last: 8}}
	p := w.plan()
	want := Empty{
		Because: "a primary that lost its slots still has keys of them", Ref: Ref{"c-0-0", id(0, 0)}, Keys: 7, Forgo: w.desired.AcceptLoss,
		Owners: []Claim{
			{Ref{"c-0-1", id(0, 1)}, slot.Ranges{{First: 0, Last: 5000}}},
			{Ref{"c-1-0", id(1, 0)}, slot.Ranges{{First: 5001, Last: 10922}}},
			{Ref{"c-2-0", id(2, 0)}, slot.Bootstrap(2, 3)},
		},
	}
	if diff := cmp.Diff([]Step{want}, p.Steps); diff != "" {
		t.Error(diff)
	}
	if p.Waiting != nil || p.Done() || Decide(w.desired, survey.View{Answers: w.answers}).Check != "attach" {
		t.Errorf("%+v", p)
	}
}

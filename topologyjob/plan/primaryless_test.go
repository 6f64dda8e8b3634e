// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// abandoned is a cluster with a shard that owns nothing, whose primary was on an ordinal that is
// gone since a while.
func abandoned(since time.Duration) *world {
	w := leftOver()
	gone := w.pod(3, 1).ID
	w.answers = slices.DeleteFunc(w.answers, func(a survey.Answer) bool { return a.ID == gone })
	for i := range w.answers {
		w.answers[i].Now, w.answers[i].Uptime, w.answers[i].LinkUp = 10_000_000, time.Hour, w.answers[i].Pod.Shard < 3
	}
	w.sees(gone, func(e *node.Entry) { e.Failed, e.Linked, e.Pong = true, false, 10_000_000-since.Milliseconds() })
	return w
}

func TestPrimaryless(t *testing.T) {
	decide(t, []scenario{
		{"gone for good", abandoned(time.Minute), nil, "primaryless", "would: promote 1 replica by TAKEOVER; because a shard without slots has no primary, and servers elect none"},
		{"and nothing is to be moved", abandoned(time.Minute), func(w *world) { w.desired.Drain, w.desired.RebalanceEnabled = false, false }, "primaryless", "would: promote 1 replica by TAKEOVER"},
		{"heard of lately", abandoned(5 * time.Second), nil, "", "the primary of shard 3, which no pod is, was heard of 5s ago"},
		{"another pod is away", abandoned(time.Minute), func(w *world) { w.silent(0, 1) }, "", "shard 3 has no primary to move slots to"},
		{"it owns slots", abandoned(time.Minute), func(w *world) {
			w.pod(0, 0).Nodes[0].Slots = slot.Ranges{{First: 1, Last: 4095}}
			w.sees(id(0, 0), func(e *node.Entry) { e.Slots = slot.Ranges{{First: 1, Last: 4095}} })
			w.sees(id(3, 1), func(e *node.Entry) { e.Slots = slot.Ranges{{First: 0, Last: 0}} })
		}, "orphaned", "would: promote 1 replica by FAILOVER FORCE"},
		{"the shard has another primary", abandoned(time.Minute), func(w *world) {
			w.desired.Replicas = 1
			w.add(3, 1, strings.Repeat("d", 40)).Nodes = append([]node.Entry{{ID: strings.Repeat("d", 40), Myself: true, Linked: true}}, w.pod(0, 0).Nodes[1:]...)
			for i := range w.answers {
				if a := &w.answers[i]; a.Pod.Shard < 3 || a.Pod.Index == 0 {
					a.Nodes = append(a.Nodes, node.Entry{ID: strings.Repeat("d", 40), Linked: true})
				}
			}
			own := w.pod(0, 0).Own()
			own.Myself = false
			w.pod(3, 1).Nodes = append(w.pod(3, 1).Nodes, own)
		}, "attach", "would: attach 1 replica"},
	})
}

// TestDrainedShardLosesItsPrimary while its replica is still there, which holds up nobody.
func TestDrainedShardLosesItsPrimary(t *testing.T) {
	shrink := func(edit func(*world)) func(*world) {
		return func(w *world) {
			w.desired.Shards = 3
			if edit != nil {
				edit(w)
			}
		}
	}
	decide(t, []scenario{
		{"nothing is left to do", abandoned(time.Minute), shrink(nil), "", "nothing to do"},
		{"its replica has keys", abandoned(time.Minute), shrink(func(w *world) { w.pod(3, 0).Keys = 2 }), "primaryless", "would: promote 1 replica by TAKEOVER; because a shard without slots has no primary"},
		{"its replica has keys, and it was heard of lately", abandoned(5 * time.Second), shrink(func(w *world) { w.pod(3, 0).Keys = 2 }), "", "the primary of shard 3, which no pod is, was heard of 5s ago"},
		{"its replica has keys, and another pod is away", abandoned(time.Minute), shrink(func(w *world) { w.pod(3, 0).Keys = 2; w.silent(0, 1) }), "", "pod c-3-0 is not in sync with its primary"},
		{"its replica with keys is a primary now", abandoned(time.Minute), shrink(func(w *world) {
			w.pod(3, 0).Keys = 2
			w.pod(3, 0).Nodes[0].Replica, w.pod(3, 0).Nodes[0].Primary = false, ""
			w.sees(w.pod(3, 0).ID, func(e *node.Entry) { e.Replica, e.Primary = false, "" })
			w.sees(id(3, 1), func(e *node.Entry) { e.Pong = 9_999_000 })
		}), "drain", "would: empty pod c-3-0, if the owners of their slots have its 2 keys"},
		{"another pod is away", abandoned(time.Minute), shrink(func(w *world) { w.silent(0, 1) }), "", "pod c-3-0 is not in sync with its primary"},
		{"it is wanted", abandoned(time.Minute), func(w *world) { w.desired.NodeTimeout = time.Hour }, "", "pod c-3-0 is not in sync with its primary"},
	})
}

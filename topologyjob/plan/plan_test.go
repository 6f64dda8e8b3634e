// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// TestHealthyClustersAreLeftAlone also after a failover, whatever the ordinals.
func TestHealthyClustersAreLeftAlone(t *testing.T) {
	for _, size := range [][2]int32{{1, 0}, {1, 2}, {3, 1}, {20, 2}} {
		w := formed(size[0], size[1])
		for _, durable := range []bool{false, true} {
			w.desired.Durable = durable
			if p := w.plan(); !p.Done() || p.String() != "nothing to do" {
				t.Errorf("%v: %s", size, p)
			}
		}
	}
	w := formed(3, 1)
	old, now := w.pod(1, 0), w.pod(1, 1)
	now.Nodes[0].Slots, old.Nodes[0].Slots = old.Nodes[0].Slots, nil
	now.Nodes[0].Replica, now.Nodes[0].Primary, now.Nodes[0].Epoch = false, "", 9
	old.Nodes[0].Replica, old.Nodes[0].Primary, old.LinkUp = true, now.ID, true
	w.gossip()
	if p := w.plan(); !p.Done() {
		t.Errorf("after a failover: %s", p)
	}
}

func TestReachable(t *testing.T) {
	decide(t, []scenario{
		{"nobody answers", blank(1, 1), func(w *world) { w.silent(0, 0); w.silent(0, 1) }, "", "waiting: pod c-0-0 Unreachable: refused; pod c-0-1 Unreachable: refused"},
		{"a replica is away", formed(3, 1), func(w *world) { w.silent(2, 1) }, "", "waiting: pod c-2-1 Unreachable: refused"},
	})
	w := formed(3, 1)
	w.silent(2, 1)
	w.sees(id(2, 1), func(e *node.Entry) { e.Failed, e.Linked = true, false })
	if p := w.plan(); p.Done() || !p.DoneWithout() {
		t.Errorf("all that answer are as wanted: %+v", p)
	}
	for name, edit := range map[string]func(*world){
		"a replica is not in sync": func(w *world) { w.pod(1, 1).LinkUp = false },
		"a pod refuses us":         func(w *world) { w.pod(2, 1).Problem.Code = survey.Denied },
		"a pod is loading":         func(w *world) { w.pod(2, 1).Problem.Code = survey.Loading },
		"a primary is away":        func(w *world) { w.silent(0, 0) },
		"nobody answers": func(w *world) {
			for i := range w.answers {
				w.silent(w.answers[i].Pod.Shard, w.answers[i].Pod.Index)
			}
		},
	} {
		w := formed(3, 1)
		w.silent(2, 1)
		edit(w)
		if p := w.plan(); p.DoneWithout() {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestMoved(t *testing.T) {
	unlink := func(e *node.Entry) { e.Linked = false }
	decide(t, []scenario{
		{"everybody", formed(3, 1), func(w *world) {
			for i := range w.answers {
				w.sees(w.answers[i].ID, unlink)
			}
		}, "moved", "would: MEET 6 nodes; because members have no link to each other"},
		{"everybody, and nobody refuses connections at the old addresses", formed(3, 1), func(w *world) {
			for i := range w.answers {
				w.sees(w.answers[i].ID, func(e *node.Entry) { e.IP = "10.0.9.9" })
				own := slices.IndexFunc(w.answers[i].Nodes, func(e node.Entry) bool { return e.Myself })
				w.answers[i].Nodes[own].IP = "10.0.0.1"
			}
		}, "moved", "would: MEET 6 nodes; because members have no link to each other"},
		{"one that the others still hear", formed(3, 1), func(w *world) { w.sees(id(0, 0), unlink) }, "", "waiting: pod c-0-1 cannot reach 1 node"},
		{"two", formed(3, 1), func(w *world) {
			w.pod(0, 0).Nodes[5].Linked = false
			w.pod(2, 1).Nodes[1].Linked = false
		}, "moved", "would: MEET 2 nodes"},
	})
	w := formed(3, 1)
	w.pod(0, 0).Nodes[5].Linked, w.pod(2, 1).Nodes[1].Linked = false, false
	edges := w.plan().Steps[0].(Meet).Edges
	if diff := cmp.Diff([]string{"c-0-0", "c-2-1"}, refs(edges)); diff != "" || len(edges) != 1 {
		t.Error(diff, edges)
	}
}

func TestIsolated(t *testing.T) {
	decide(t, []scenario{
		{"first bootstrap", blank(3, 1), nil, "isolated", "would: number 6 nodes, assign 16384 slots to 3 primaries, MEET 6 nodes, attach 3 replicas, MEET 6 nodes; because no slot has an owner and every node is empty"},
		{"one node", blank(1, 0), nil, "isolated", "would: number 1 node, assign 16384 slots to 1 primary; because"},
		{"a pod is away", blank(3, 1), func(w *world) { w.silent(2, 1) }, "", "waiting: pod c-2-1 Unreachable"},
		{"a pod was not asked", blank(3, 1), func(w *world) { w.answers = w.answers[:5] }, "", "waiting: pod 1 of shard 2 was not asked"},
		{"keys without slots", blank(1, 1), func(w *world) { w.pod(0, 1).Keys = 1 }, "isolated", "blocked: ForeignData: no slot has an owner, and yet there are 1 keys"},
		{"Durable, formed before", blank(3, 1), func(w *world) { w.desired.Initialized, w.desired.Durable = true, true }, "isolated", "blocked: SlotsLost: the cluster was formed before"},
		{"Durable, formed before, loss accepted", blank(3, 1), func(w *world) {
			w.desired.Initialized, w.desired.Durable, w.desired.AcceptLoss = true, true, slot.All()
		}, "isolated", "would: number 6 nodes"},
		{"Durable, formed before, some loss accepted", blank(3, 1), func(w *world) {
			w.desired.Initialized, w.desired.Durable, w.desired.AcceptLoss = true, true, slot.Ranges{{First: 0, Last: 16382}}
		}, "isolated", "blocked: SlotsLost"},
		{"Cache, formed before", blank(3, 1), func(w *world) { w.desired.Initialized = true }, "isolated", "would: number 6 nodes"},
		{"an empty pod joins", formed(3, 1), func(w *world) { w.replace(1, 1) }, "isolated", "would: MEET 6 nodes; because nodes do not know each other"},
		{"bootstrap after a stop: numbered and met", blank(2, 0), func(w *world) {
			for i := range w.answers {
				w.answers[i].Nodes[0].Epoch = uint64(i) + 1
			}
			w.gossip()
		}, "isolated", "would: assign 16384 slots to 2 primaries; because"},
	})
}

func TestUnassigned(t *testing.T) {
	gap := func(w *world) {
		w.pod(1, 0).Nodes[0].Slots = slot.Ranges{{First: 5461, Last: 9999}}
		w.gossip()
	}
	decide(t, []scenario{
		{"Cache", formed(3, 1), gap, "unassigned", "would: assign 923 slots to 1 primary; because slots have no owner"},
		{"bootstrap after a stop", formed(3, 1), func(w *world) { w.desired.Initialized = false; gap(w) }, "unassigned", "would: assign 923 slots to 1 primary"},
		{"Durable", formed(3, 1), func(w *world) { w.desired.Durable = true; gap(w) }, "unassigned", "blocked: SlotsLost: slots 10000-10922 have no owner"},
		{"Durable, loss accepted", formed(3, 1), func(w *world) {
			w.desired.Durable, w.desired.AcceptLoss = true, slot.Ranges{{First: 10000, Last: 10922}}
			gap(w)
		}, "unassigned", "would: assign 923 slots"},
		{"a pod is away", formed(3, 1), func(w *world) { gap(w); w.silent(2, 1) }, "", "slots 10000-10922 have no owner, and a pod that does not answer may hold their data"},
		{"owned by a node that does not answer", formed(3, 1), func(w *world) { w.replace(1, 0); w.pod(1, 1).Nodes[0].Primary = id(1, 0); w.gossipKeeping(id(1, 0)) }, "", "the primary of shard 1 does not answer"},
	})
}

// gossipKeeping makes everybody know everybody, and still remember a dead primary of
// shard 1.
func (w *world) gossipKeeping(dead string) {
	w.gossip()
	for i := range w.answers {
		w.answers[i].Nodes = append(w.answers[i].Nodes, node.Entry{ID: dead, Failed: true, Epoch: 2, Slots: slot.Bootstrap(1, w.desired.Shards)})
	}
}

func TestAttach(t *testing.T) {
	decide(t, []scenario{
		{"an empty pod that has joined", formed(3, 1), func(w *world) { w.replace(1, 1); w.gossip() }, "attach", "would: attach 1 replica; because pods do not replicate"},
		{"a replica of another shard", formed(3, 1), func(w *world) { w.pod(1, 1).Nodes[0].Primary = id(0, 0); w.gossip() }, "attach", "would: attach 1 replica"},
		{"the last copy of another shard", formed(3, 1), func(w *world) {
			w.pod(1, 1).Nodes[0].Primary = id(0, 0)
			w.gossip()
			w.silent(0, 0)
		}, "", "pod c-1-1 replicates a node that owns slots and does not answer"},
		{"keys without slots", formed(3, 1), func(w *world) { w.replace(1, 1).Keys = 3; w.gossip() }, "attach", "would: empty pod c-1-1, if the owners of their slots have its 3 keys"},
		{"slots beside the primary", formed(3, 1), func(w *world) {
			w.pod(1, 0).Nodes[0].Slots = slot.Ranges{{First: 5461, Last: 9999}}
			a := w.replace(1, 1)
			a.Nodes[0].Slots = slot.Ranges{{First: 10000, Last: 10922}}
			w.gossip()
		}, "", "pod c-1-1 owns slots 10000-10922 beside c-1-0"},
		{"a primary that has not heard of its failover", formed(3, 1), func(w *world) {
			w.pod(1, 1).Nodes[0] = node.Entry{ID: id(1, 1), Myself: true, Linked: true, Epoch: 9, Slots: slot.Bootstrap(1, 3)}
			w.gossip()
		}, "", "pod c-1-0 has not yet heard that its slots have another owner"},
		{"a primary that knows nothing of the other yet", formed(3, 1), func(w *world) {
			w.replace(1, 1)
			w.gossip()
			w.pod(1, 1).Nodes = w.pod(1, 1).Nodes[:3]
		}, "isolated", "would: MEET 4 nodes"},
		{"a new shard without slots", formed(3, 1), func(w *world) {
			w.desired.Shards = 4
			w.add(3, 0, id(3, 0))
			w.add(3, 1, id(3, 1))
			w.gossip()
		}, "attach", "would: attach 1 replica"},
		{"pods beyond the wanted count", formed(3, 1), func(w *world) { w.desired.Replicas = 0 }, "", "nothing to do"},
	})
}

func TestSettled(t *testing.T) {
	decide(t, []scenario{
		{"slots not heard of", formed(3, 1), func(w *world) { w.pod(0, 1).Nodes[2].Slots = nil }, "", "pod c-0-1 has not heard who owns 5462 slots"},
		{"role not heard of", formed(3, 1), func(w *world) { w.pod(0, 1).Nodes[2].Replica = true }, "", "pod c-0-1 has not heard the role of 1 node"},
		{"down", formed(3, 1), func(w *world) { w.pod(0, 1).StateOK = false }, "", "pod c-0-1 says that the cluster is down"},
		{"not in sync", formed(3, 1), func(w *world) { w.pod(0, 1).LinkUp = false }, "", "pod c-0-1 is not in sync with its primary"},
		{"suspected", formed(3, 1), func(w *world) { w.pod(0, 1).Nodes[2].Suspected = true }, "", "pod c-0-1 cannot reach 1 node"},
	})
}

// TestEpochsDiffer: primaries have higher ones than replicas.
func TestEpochsDiffer(t *testing.T) {
	w := blank(5, 3)
	epochs := w.plan().Steps[0].(Epochs)
	primaries, seen := map[uint64]bool{}, map[uint64]string{}
	highest := uint64(0)
	for _, n := range epochs.Nodes {
		if other := seen[n.Epoch]; other != "" || n.Epoch == 0 {
			t.Errorf("%s and %s: epoch %d", other, n.Pod, n.Epoch)
		}
		seen[n.Epoch] = n.Pod
		if strings.HasSuffix(n.Pod, "-0") {
			primaries[n.Epoch] = true
		} else {
			highest = max(highest, n.Epoch)
		}
	}
	for epoch := range primaries {
		if epoch <= highest {
			t.Errorf("a primary has epoch %d, a replica %d", epoch, highest)
		}
	}
	if len(seen) != 20 {
		t.Errorf("%d epochs", len(seen))
	}
}

// TestPlansPrintAndKeepToThemselves: deciding twice gives the same plan, and the view is
// not changed.
func TestPlansPrintAndKeepToThemselves(t *testing.T) {
	for _, w := range []*world{blank(3, 1), formed(3, 1)} {
		w.decidesPurely(t)
	}
}

func (w *world) decidesPurely(t *testing.T) {
	t.Helper()
	before := append([]survey.Answer(nil), w.answers...)
	one, two := w.plan(), w.plan()
	if diff := cmp.Diff(one, two); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, w.answers); diff != "" {
		t.Error(diff)
	}
}

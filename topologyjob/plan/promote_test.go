// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// aged is a formed cluster that has run for an hour; all heard of all a second ago.
func aged(shards, replicas int32) *world {
	w := formed(shards, replicas)
	w.desired.NodeTimeout = 2 * time.Second
	for i := range w.answers {
		a := &w.answers[i]
		a.Now, a.Uptime, a.Offset = 10_000_000, time.Hour, 100
		for j := range a.Nodes {
			a.Nodes[j].Pong = a.Now - 1000
		}
	}
	return w
}

// dies makes a pod not answer and not run; the others hold it for dead since a while.
func (w *world) dies(shard, index int32, since time.Duration) {
	id := w.pod(shard, index).ID
	w.silent(shard, index)
	w.pod(shard, index).Pod.Runs = survey.Stopped
	w.sees(id, func(e *node.Entry) { e.Failed, e.Linked, e.Pong = true, false, 10_000_000-since.Milliseconds() })
}

func TestQuorum(t *testing.T) {
	lost := func(since time.Duration) func(*world) {
		return func(w *world) {
			w.desired.Takeover = true
			w.dies(0, 0, since)
			w.dies(1, 0, since)
		}
	}
	and := func(edits ...func(*world)) func(*world) {
		return func(w *world) {
			for _, edit := range edits {
				edit(w)
			}
		}
	}
	decide(t, []scenario{
		{"two of three", aged(3, 1), lost(time.Minute), "quorum", "would: promote 1 replica by TAKEOVER; because a majority of the primaries is lost"},
		{"half of four", aged(4, 1), lost(time.Minute), "quorum", "would: promote 1 replica by TAKEOVER"},
		{"one of one", aged(1, 2), func(w *world) { w.desired.Takeover = true; w.dies(0, 0, time.Minute) }, "quorum", "would: promote 1 replica by TAKEOVER"},
		{"two of five", aged(5, 1), lost(time.Second), "", "the servers are to replace the primary of shard 0"},
		{"heard of just now", aged(3, 1), lost(9 * time.Second), "", "was heard of 9s ago, waiting for 10s"},
		{"a viewer that just started", aged(3, 1), and(lost(time.Minute), func(w *world) { w.pod(2, 1).Uptime = 3 * time.Second }), "", "was heard of 3s ago"},
		{"one may still run", aged(3, 1), and(lost(time.Minute), func(w *world) { w.pod(1, 0).Pod.Runs = survey.Running }), "quorum", "would: promote 1 replica"},
		{"both may still run", aged(3, 1), and(lost(time.Minute), func(w *world) {
			w.pod(0, 0).Pod.Runs, w.pod(1, 0).Pod.Runs = survey.Running, survey.RunsUnknown
		}), "", "pod c-0-0 does not answer and may still run; a majority of the primaries is lost: pod c-1-0 does not answer"},
		{"a slot open to one of them", aged(3, 1), and(lost(time.Minute), func(w *world) {
			a := w.pod(2, 0)
			a.Nodes[0].Open = []node.OpenSlot{{Slot: 100, Importing: true, Other: id(0, 0)}}
			a.OpenKeys = map[int]int64{100: 2}
		}), "quorum", "would: promote 1 replica by TAKEOVER"},
		{"not allowed", aged(3, 1), and(lost(time.Minute), func(w *world) { w.desired.Takeover = false }), "quorum", "blocked: QuorumLost: "},
		{"without replicas", aged(3, 0), lost(time.Minute), "", "has no replica that was ever in sync"},
		{"replicas that were never in sync", aged(3, 1), and(lost(time.Minute), func(w *world) { w.pod(0, 1).Offset, w.pod(1, 1).Offset = 1, 0 }), "", "has no replica that was ever in sync"},
	})
	w := aged(1, 3)
	w.desired.Takeover = true
	w.dies(0, 0, time.Minute)
	w.pod(0, 2).Offset, w.pod(0, 3).Offset = 200, 200
	want := []Promotion{{Replica: Ref{"c-0-2", id(0, 2)}, Primary: Ref{ID: id(0, 0)}, Away: []string{"c-0-0"}}}
	if diff := cmp.Diff(want, w.plan().Steps[0].(Promote).Promotions); diff != "" {
		t.Error(diff)
	}
}

func TestOrphaned(t *testing.T) {
	decide(t, []scenario{
		{"the servers have time", aged(3, 1), func(w *world) { w.dies(1, 0, 10*time.Second) }, "", "waiting: pod c-1-0 Unreachable: refused; the servers are to replace the primary of shard 1"},
		{"past the deadline", aged(3, 1), func(w *world) { w.dies(1, 0, 21*time.Second) }, "orphaned", "would: promote 1 replica by FAILOVER FORCE"},
		{"one node still hears it", aged(3, 1), func(w *world) {
			w.dies(1, 0, time.Minute)
			for j := range w.pod(2, 0).Nodes {
				if e := &w.pod(2, 0).Nodes[j]; e.ID == id(1, 0) {
					e.Failed, e.Linked, e.Pong = false, true, 9_999_000
				}
			}
		}, "", "not every node has declared it failed"},
		{"only we cannot reach it", aged(3, 1), func(w *world) { w.silent(1, 0) }, "", "not every node has declared it failed"},
		{"no replica", aged(3, 0), func(w *world) { w.dies(1, 0, time.Minute) }, "", "slots 5461-10922 belong to a node that does not answer"},
		{"a restarted replica, and the primary may come back", aged(3, 1), func(w *world) { w.dies(1, 0, time.Minute); w.pod(1, 1).Offset = 0 }, "", "the primary of shard 1 does not answer"},
	})
}

// replacedPrimary is a cluster in which a pod of shard 1 that was its primary came back as
// another node, and its replica has restarted since it was last in sync, with so many keys.
func replacedPrimary(keys int64) *world {
	w := aged(3, 1)
	a := w.replace(1, 0)
	a.Now, a.Uptime = 10_000_000, time.Minute
	w.sees(id(1, 0), func(e *node.Entry) { e.Pong = 10_000_000 - 60_000 })
	for i := range w.answers {
		b := &w.answers[i]
		if b != a {
			b.Nodes = append(b.Nodes, node.Entry{ID: a.ID, Linked: true, Pong: 10_000_000})
		}
		own := b.Own()
		own.Myself, own.Pong = false, 10_000_000
		if b != a {
			a.Nodes = append(a.Nodes, own)
		}
	}
	w.pod(1, 1).Offset, w.pod(1, 1).Keys = 0, keys
	return w
}

// TestRestartedReplicaIsTheLastCopy: servers do not elect one that has not been in sync since
// it started. What it has is the best there is once its primary is gone for good.
func TestRestartedReplicaIsTheLastCopy(t *testing.T) {
	durable := func(w *world) { w.desired.Durable = true }
	decide(t, []scenario{
		{"with keys", replacedPrimary(10), durable, "orphaned", "would: promote 1 replica by FAILOVER FORCE"},
		{"without keys", replacedPrimary(0), durable, "stale", "blocked: SlotsLost: slots 5461-10922 belong to a node that no pod is any more, and no replica of it has data"},
		{"without keys, in a Cache", replacedPrimary(0), nil, "orphaned", "would: promote 1 replica by FAILOVER FORCE"},
		{"without keys, given up", replacedPrimary(0), func(w *world) { durable(w); w.desired.AcceptLoss = slot.Bootstrap(1, 3) }, "orphaned", "would: promote 1 replica by FAILOVER FORCE"},
		{"another pod is away", replacedPrimary(10), func(w *world) { durable(w); w.silent(2, 1) }, "", "the primary of shard 1 does not answer"},
	})
	w := aged(1, 3)
	w.desired.Takeover = true
	w.replace(0, 0)
	w.sees(id(0, 0), func(e *node.Entry) { e.Pong = 10_000_000 - 60_000 })
	for index, keys := range []int64{0, 5, 7, 6} {
		w.pod(0, int32(index)).Offset, w.pod(0, int32(index)).Keys = 0, keys
	}
	if p, ok := w.plan().Steps[0].(Promote); !ok || p.How != Takeover || p.Promotions[0].Replica.Pod != "c-0-2" {
		t.Errorf("not the one with the most keys: %s", w.plan())
	}
}

func TestStale(t *testing.T) {
	replaced := func(since time.Duration, flag func(*node.Entry)) func(*world) {
		return func(w *world) {
			old := w.pod(1, 1).ID
			a := w.replace(1, 1)
			a.Nodes[0].Replica, a.Nodes[0].Primary, a.LinkUp, a.StateOK, a.Offset = true, id(1, 0), true, true, 100
			w.gossip()
			for i := range w.answers {
				w.answers[i].Now, w.answers[i].Uptime = 10_000_000, time.Hour
				e := node.Entry{ID: old, Replica: true, Primary: id(1, 0), Pong: 10_000_000 - since.Milliseconds()}
				flag(&e)
				w.answers[i].Nodes = append(w.answers[i].Nodes, e)
			}
		}
	}
	failed := func(e *node.Entry) { e.Failed = true }
	decide(t, []scenario{
		{"gone for good", aged(3, 1), replaced(time.Minute, failed), "stale", "would: FORGET 1 node; because members that no pod is any more"},
		{"without address", aged(3, 1), replaced(time.Minute, func(e *node.Entry) { e.NoAddress, e.Linked = true, true }), "stale", "would: FORGET 1 node"},
		{"not for long", aged(3, 1), replaced(20*time.Second, failed), "", "nothing to do"},
		{"alive after all", aged(3, 1), replaced(time.Minute, func(e *node.Entry) { e.Linked = true }), "", "nothing to do"},
		{"one heard of it lately", aged(3, 1), func(w *world) {
			replaced(time.Minute, failed)(w)
			w.answers[3].Nodes[len(w.answers[3].Nodes)-1].Pong = 9_999_000
		}, "", "nothing to do"},
		{"a pod is away", aged(3, 1), func(w *world) { replaced(time.Minute, failed)(w); w.silent(2, 1) }, "", "waiting: pod c-2-1"},
		{"somebody replicates it", aged(3, 2), func(w *world) {
			replaced(time.Minute, failed)(w)
			w.pod(1, 2).Nodes[0].Primary = id(1, 1)
		}, "attach", "would: attach 1 replica"},
		{"a pass that meets", aged(3, 1), func(w *world) { replaced(time.Minute, failed)(w); w.replace(2, 1) }, "isolated", "would: MEET"},
	})
}

func TestStaleOwners(t *testing.T) {
	gone := func(w *world) {
		old := w.pod(1, 0).ID
		w.replace(1, 0)
		w.gossip()
		for i := range w.answers {
			w.answers[i].Now, w.answers[i].Uptime = 10_000_000, time.Hour
			w.answers[i].Nodes = append(w.answers[i].Nodes, node.Entry{ID: old, Failed: true, Pong: 1, Epoch: 2, Slots: slot.Bootstrap(1, 3)})
		}
	}
	decide(t, []scenario{
		{"Cache", aged(3, 0), gone, "stale", "would: FORGET 1 node"},
		{"Durable", aged(3, 0), func(w *world) { gone(w); w.desired.Durable = true }, "stale", "blocked: SlotsLost: slots 5461-10922 belong to a node that no pod is any more"},
		{"Durable, loss accepted", aged(3, 0), func(w *world) { gone(w); w.desired.Durable, w.desired.AcceptLoss = true, slot.Bootstrap(1, 3) }, "stale", "would: FORGET 1 node"},
		{"a replica is left", aged(3, 1), gone, "orphaned", "would: promote 1 replica by FAILOVER FORCE"},
	})
}

func TestVacate(t *testing.T) {
	decide(t, []scenario{
		{"about to restart", aged(3, 1), func(w *world) { w.desired.Vacate = []string{"c-1-0", "c-2-1"} }, "vacate", "would: hand over 1 primary; because primaries are on pods that go away"},
		{"not in sync", aged(3, 1), func(w *world) { w.desired.Vacate = []string{"c-1-0"}; w.pod(1, 1).LinkUp = false }, "", "pod c-1-0 cannot hand over: no replica that may take its place is in sync"},
		{"far behind", aged(3, 1), func(w *world) { w.desired.Vacate = []string{"c-1-0"}; w.pod(1, 0).Offset = 10 << 20 }, "", "pod c-1-0 cannot hand over"},
		{"all are to go", aged(3, 1), func(w *world) { w.desired.Vacate = []string{"c-1-0", "c-1-1"} }, "", "pod c-1-0 cannot hand over"},
		{"slots are being moved", aged(3, 1), func(w *world) {
			w.desired.Vacate = []string{"c-1-0"}
			w.pod(1, 0).Migrations = []node.Migration{{Name: "m", State: "snapshotting"}}
		}, "", "pod c-1-0 cannot hand over: slots are being moved"},
		{"slots were moved", aged(3, 1), func(w *world) {
			w.desired.Vacate = []string{"c-1-0"}
			w.pod(1, 0).Migrations = []node.Migration{{Name: "m", State: "failed"}}
		}, "vacate", "would: hand over 1 primary"},
	})
	w := aged(1, 3)
	w.desired.Vacate = []string{"c-0-0", "c-0-1"}
	if got := w.plan().Steps[0].(Promote).Promotions[0]; got.Replica.Pod != "c-0-2" || got.Primary.Pod != "c-0-0" {
		t.Errorf("%+v", got)
	}
}

func TestSpread(t *testing.T) {
	places := func(by Spread, of ...string) func(*world) {
		return func(w *world) {
			w.desired.Spread = by
			for i := range w.answers {
				w.answers[i].Pod.Node, w.answers[i].Pod.Zone = of[i], "z"+of[i]
			}
		}
	}
	decide(t, []scenario{
		{"two on one node", aged(2, 1), places(SpreadNodes, "a", "b", "a", "b"), "spread", "would: hand over 1 primary; because primaries share a place"},
		{"two in one zone", aged(2, 1), places(SpreadZones, "a", "b", "a", "b"), "spread", "would: hand over 1 primary"},
		{"not asked for", aged(2, 1), places(SpreadNone, "a", "b", "a", "b"), "", "nothing to do"},
		{"even", aged(2, 1), places(SpreadNodes, "a", "b", "b", "a"), "", "nothing to do"},
		{"as even as three can be", aged(3, 1), places(SpreadNodes, "a", "b", "a", "b", "b", "a"), "", "nothing to do"},
		{"nowhere else", aged(2, 1), places(SpreadNodes, "a", "a", "a", "a"), "", "nothing to do"},
		{"places unknown", aged(2, 1), places(SpreadNodes, "", "", "", ""), "", "nothing to do"},
	})
}

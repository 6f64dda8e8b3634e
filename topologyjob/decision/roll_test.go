// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"slices"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/status"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// old makes pods of a shard run an older template.
func (w *world) old(shard int32, indexes ...int32) {
	for _, index := range indexes {
		w.pod(shard, index).Revision = "old"
	}
}

// TestRolls: in which order, and when not: not while a replica is not in sync, and not where
// the only copy of data would go (T6).
func TestRolls(t *testing.T) {
	for _, s := range []struct {
		name string
		w    *world
		edit func(*world)
		want string
	}{
		{"replicas first", formed(3, 1), func(w *world) { w.old(0, 0, 1); w.old(1, 0, 1); w.old(2, 0, 1) }, "evict c-0-1"},
		{"several shards when that is allowed", formed(3, 1), func(w *world) {
			w.Cluster.Spec.Rollout = &v1alpha1.RolloutSpec{MaxParallelShards: new(int32(2))}
			w.old(0, 0, 1)
			w.old(1, 0, 1)
			w.old(2, 0, 1)
		}, "evict c-0-1, evict c-1-1"},
		{"the next only when the last is ready", formed(3, 1), func(w *world) {
			w.old(0, 0)
			w.old(1, 0, 1)
			w.pod(0, 1).Ready = false
		}, "nothing"},
		{"and is linked", formed(3, 1), func(w *world) {
			w.old(0, 0)
			w.told(0, 1).LinkUp = false
		}, "nothing"},
		{"and has caught up", formed(3, 1), func(w *world) {
			w.old(0, 0)
			w.told(0, 0).Offset = 1 << 30
		}, "nothing"},
		{"and is there", formed(3, 1), func(w *world) {
			w.old(0, 0)
			w.silent(0, 1)
			w.Seen.Pods = append(w.Seen.Pods[:1], w.Seen.Pods[2:]...)
		}, "nothing"},
		{"and does not stop", formed(3, 1), func(w *world) {
			w.old(0, 0, 1)
			w.pod(0, 1).Deleting = true
		}, "nothing"},
		{"then the primary hands over", formed(3, 1), func(w *world) { w.old(0, 0) }, "start handover-1 attempt 1"},
		{"while a Job works nothing is replaced", formed(3, 1), func(w *world) { w.old(0, 0, 1); w.runs(job.Handover) }, "nothing"},
		{"nor while one is not seen, whose pod may work", formed(3, 1), func(w *world) { w.old(0, 0, 1); w.unseen(job.Handover) }, "nothing"},
		{"one that sets something is no reason", formed(3, 1), func(w *world) { w.old(0, 0, 1); w.unseen(job.TLS) }, "evict c-0-1"},
		{"another shard that is not whole counts", formed(3, 1), func(w *world) { w.old(0, 0, 1); w.pod(2, 1).Ready = false }, "nothing"},
		{"an only copy is not given up", formed(3, 0), func(w *world) {
			w.Cluster.Spec.Rollout = &v1alpha1.RolloutSpec{AllowDataLoss: new(false)}
			w.old(1, 0)
		}, "roll refused"},
		{"unless it is allowed", formed(3, 0), func(w *world) {
			w.Cluster.Spec.Rollout = &v1alpha1.RolloutSpec{AllowDataLoss: new(true)}
			w.old(1, 0)
		}, "evict c-1-0"},
		{"or the data is persisted", formed(3, 0), func(w *world) {
			w.Cluster.Spec.Profile, w.Cluster.Spec.Storage = v1alpha1.ProfileDurable, &v1alpha1.StorageSpec{}
			w.Cluster.Spec.Rollout = &v1alpha1.RolloutSpec{AllowDataLoss: new(false)}
			w.old(1, 0)
		}, "evict c-1-0"},
		{"a replica that does not work is replaced first", formed(3, 1), func(w *world) {
			w.old(0, 0, 1)
			w.old(1, 0, 1)
			w.silent(1, 1)
		}, "evict c-1-1"},
		{"a template that keeps all from starting", blank(1, 1), func(w *world) {
			w.old(0, 0, 1)
			for index := range int32(2) {
				w.silent(0, index)
				w.pod(0, index).Waiting, w.Asked[index].Runs = "CrashLoopBackOff", survey.Stopped
			}
		}, "evict c-0-1"},
		{"not one that keeps its exporter alone from starting", blank(1, 1), func(w *world) {
			w.old(0, 0, 1)
			for index := range int32(2) {
				w.silent(0, index)
				w.pod(0, index).Waiting = "CrashLoopBackOff"
			}
		}, "nothing"},
		{"nor is a pod taken for the one that had its name", blank(1, 0), func(w *world) {
			w.old(0, 0)
			w.silent(0, 0)
			w.pod(0, 0).Waiting, w.Asked[0].Runs, w.Asked[0].UID = "CrashLoopBackOff", survey.Stopped, "before"
		}, "nothing"},
		{"the controller has not seen the template yet", formed(3, 1), func(w *world) {
			w.old(0, 0, 1)
			w.Seen.StatefulSets[0].Observed = false
		}, "nothing"},
		{"StatefulSets that roll by themselves", formed(3, 1), func(w *world) {
			w.Cluster.Spec.Rollout = &v1alpha1.RolloutSpec{Mode: v1alpha1.RolloutStatefulSet}
			w.old(0, 0, 1)
		}, "nothing"},
		{"slots move after a roll", formed(4, 1), func(w *world) { w.Cluster.Spec.Shards = new(int32(3)); w.old(0, 0, 1) }, "evict c-0-1"},
		{"a refused roll keeps slots from moving no more", formed(4, 0), func(w *world) {
			w.Cluster.Spec.Shards = new(int32(3))
			w.Cluster.Spec.Rollout = &v1alpha1.RolloutSpec{AllowDataLoss: new(false)}
			w.old(0, 0)
		}, "start drain-1 attempt 1, roll refused"},
	} {
		t.Run(s.name, func(t *testing.T) {
			s.edit(s.w)
			d := Decide(s.w.Input)
			if got := d.line(); got != s.want {
				t.Errorf("%s\nwant %s\n%+v", got, s.want, d.Next)
			}
		})
	}
}

func TestDrainedShards(t *testing.T) {
	empty := func(w *world) {
		w.Cluster.Spec.Shards = new(int32(3))
		own := w.told(3, 0).Own()
		for i := range w.Seen.View.Answers {
			a := &w.Seen.View.Answers[i]
			if a.Pod.Shard == 3 {
				a.Keys = 0
			}
			for j := range a.Nodes {
				e := &a.Nodes[j]
				switch e.ID {
				case nodeID(3, 0):
					e.Slots = nil
				case nodeID(2, 0):
					e.Slots = e.Slots.Plus(own.Slots)
				}
			}
		}
		w.Cluster.Spec.Rebalance = &v1alpha1.RebalanceSpec{Enabled: new(false)}
	}
	for _, s := range []struct {
		name   string
		before []int32
		edit   func(*world)
		listed int
		want   string
	}{
		{"one that owns slots", nil, func(w *world) { w.Cluster.Spec.Shards = new(int32(3)) }, 0, "start drain-1 attempt 1"},
		{"one that is empty is listed first", nil, empty, 1, "nothing"},
		{"and then goes", []int32{3}, empty, 1, "release 3"},
		{"not while a pod does not tell", []int32{3}, func(w *world) { empty(w); w.silent(3, 1) }, 1, "nothing"},
		{"a key came back", []int32{3}, func(w *world) { empty(w); w.told(3, 0).Keys = 1 }, 0, "start drain-1 attempt 1"},
		{"one that is wanted again", []int32{3}, func(w *world) { empty(w); w.Cluster.Spec.Shards = new(int32(4)) }, 0, "nothing"},
		{"while a Job for more shards may fill it", nil, func(w *world) { empty(w); w.runs(job.Rebalance).Shards = 4 }, 0, "stop c-rebalance-1"},
		{"and until it has ended", nil, func(w *world) {
			empty(w)
			r := w.runs(job.Reshard)
			r.Shards, r.Leaving = 4, true
		}, 0, "nothing"},
		{"and when it was listed before", []int32{3}, func(w *world) { empty(w); w.runs(job.Drain).Shards = 4 }, 0, "stop c-drain-1"},
		{"a repair for more shards may fill it too", []int32{3}, func(w *world) { empty(w); w.runs(job.Repair).Shards = 4 }, 0, "nothing"},
		{"as may one that nobody knows the number of", []int32{3}, func(w *world) { empty(w); w.runs(job.Repair) }, 0, "nothing"},
		{"while others are drained", nil, func(w *world) { empty(w); w.runs(job.Drain).Shards = 3 }, 0, "nothing"},
		{"and what was listed stays so long", []int32{3}, func(w *world) { empty(w); w.runs(job.Drain).Shards = 3 }, 1, "nothing"},
		{"when they have been", nil, func(w *world) { empty(w); w.ran(job.Drain, 1, time.Second, outcome.Converged).Shards = 3 }, 1, "nothing"},
		{"a repair for as many shards as are wanted", []int32{3}, func(w *world) { empty(w); w.runs(job.Repair).Shards = 3 }, 1, "release 3"},
		{"while a Job is to be seen", nil, func(w *world) { empty(w); w.unseen(job.Repair) }, 0, "nothing"},
		{"or is deleted by somebody", []int32{3}, func(w *world) { empty(w); w.unseen(job.Rebalance) }, 1, "nothing"},
		{"while slots are on their way to it", []int32{3}, func(w *world) { empty(w); w.migrates("snapshotting", nodeID(3, 0)) }, 0, "nothing"},
		{"when they have not come", []int32{3}, func(w *world) { empty(w); w.migrates("failed", nodeID(3, 0)) }, 1, "release 3"},
		{"while slots are on their way elsewhere", []int32{3}, func(w *world) { empty(w); w.migrates("snapshotting", nodeID(1, 0)) }, 1, "release 3"},
		{"while a slot is open there", []int32{3}, func(w *world) {
			empty(w)
			w.told(3, 0).Nodes[0].Open = []node.OpenSlot{{Slot: 1, Importing: true, Other: nodeID(0, 0)}}
		}, 0, "start repair-1 attempt 1"},
	} {
		t.Run(s.name, func(t *testing.T) {
			w := formed(4, 1)
			w.Cluster.Status.DrainedShards = s.before
			s.edit(w)
			d := Decide(w.Input)
			if got := d.line(); got != s.want || len(d.Drained) != s.listed {
				t.Errorf("%s, listed %v\nwant %s, %d listed\n%+v", got, d.Drained, s.want, s.listed, d.Next)
			}
		})
	}
}

// TestAShardThatIsWantedAgainIsListedNoMore, whatever else keeps anything from being decided.
func TestAShardThatIsWantedAgainIsListedNoMore(t *testing.T) {
	for name, edit := range map[string]func(*world){
		"all is well":       func(*world) {},
		"invalid":           func(w *world) { w.Invalid = "spec.port: no" },
		"suspended":         func(w *world) { w.Cluster.Spec.Suspend = true },
		"rendered Jobs":     func(w *world) { w.Cluster.Spec.Jobs = v1alpha1.JobsRendered },
		"locked out":        func(w *world) { w.LockedOut = true },
		"hibernating":       func(w *world) { w.Cluster.Spec.Hibernate = true },
		"nothing is there":  func(w *world) { w.Seen.StatefulSets = nil },
		"nobody was asked":  func(w *world) { w.Seen.View = nil },
		"somebody is mute":  func(w *world) { w.silent(3, 0) },
		"a Job is not seen": func(w *world) { w.unseen(job.Drain) },
	} {
		t.Run(name, func(t *testing.T) {
			w := formed(4, 1)
			w.Cluster.Status.DrainedShards = []int32{3, 4}
			w.Seen.Claims = []status.Claim{{Shard: 4}}
			edit(w)
			if got := Decide(w.Input).Drained; slices.Contains(got, 3) || !slices.Contains(got, 4) {
				t.Errorf("listed %v", got)
			}
		})
	}
}

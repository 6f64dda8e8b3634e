// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

func TestWhatHappensToServers(t *testing.T) {
	const degraded = v1alpha1.StateDegraded
	judge(t, map[string]trouble{
		"a primary dies": {
			change: func(w *world) { w.kill("c-1-0") },
			state:  degraded, reason: v1alpha1.ReasonPrimaryDown,
			conditions: []string{"Available: False PrimaryDown", "ShardsHealthy: False ShardsNotHealthy", "SlotsAssigned: True AllSlotsAssigned", "ClusterFormed: True TopologyComplete"},
			says:       []string{"no primary serves shard 1"},
		},
		"a replica has taken over": {
			change: func(w *world) {
				w.kill("c-1-0")
				w.promote("c-1-1", "c-1-0")
			},
			state: degraded, reason: v1alpha1.ReasonReplicasUnavailable, conditions: []string{"Available: True Serving"}, says: []string{"shard 1 lacks replica c-1-0"},
			events: []string{"FailoverCompleted", "WaitingForReplicas"},
		},
		"a replica dies": {
			change: func(w *world) { w.kill("c-1-1") },
			state:  degraded, reason: v1alpha1.ReasonReplicasUnavailable, conditions: []string{"Available: True Serving", "ClusterFormed: False MissingReplicas", "Progressing: True Reconciling"},
			says: []string{"shard 1 lacks replica c-1-1"}, events: []string{"WaitingForReplicas"},
		},
		"a replica loses its link": {
			change: func(w *world) { w.answer("c-1-1").LinkUp = false },
			state:  degraded, reason: v1alpha1.ReasonReplicaNotSyncing, conditions: []string{"ClusterFormed: True TopologyComplete", "ShardsHealthy: False ShardsNotHealthy"}, says: []string{"pod c-1-1"},
		},
		"a replica takes a full copy": {
			change: func(w *world) { w.answer("c-1-1").LinkUp, w.answer("c-1-1").Syncing = false, true },
			state:  v1alpha1.StateReconciling, reason: v1alpha1.ReasonReconciling, conditions: []string{"Degraded:", "ShardsHealthy: False ShardsNotHealthy"},
			says: []string{"c-1-1 takes the data"},
		},
		"a replica is attached and not linked yet": {
			change: func(w *world) { w.answer("c-1-1").LinkUp = false; w.pod("c-1-1").Created = w.now },
			state:  v1alpha1.StateReconciling, reason: v1alpha1.ReasonReconciling, conditions: []string{"Degraded:"}, says: []string{"c-1-1 connects"},
		},
		"most primaries die": {
			change: func(w *world) { w.kill("c-1-0"); w.kill("c-2-0") },
			state:  degraded, reason: v1alpha1.ReasonQuorumLost, conditions: []string{"Available: False PrimaryDown"}, says: []string{"2 of 3 primaries"},
		},
		"most primaries die and nobody may take over": {
			change: func(w *world) {
				w.kill("c-1-0")
				w.kill("c-2-0")
				w.o.Next.Blocked = &Blocked{v1alpha1.ReasonQuorumLost, "allow a takeover"}
			},
			state: degraded, reason: v1alpha1.ReasonQuorumLost, conditions: []string{"Stalled:"}, says: []string{"allow a takeover"},
		},
		"the servers refuse commands": {
			change: func(w *world) {
				for i := range w.o.View.Answers {
					w.o.View.Answers[i].StateOK = false
				}
			},
			state: degraded, reason: v1alpha1.ReasonPrimaryDown, conditions: []string{"Available: False SlotsUncovered", "ShardsHealthy: True AllHealthy"}, says: []string{"cluster_state"},
		},
		"slots lose their owner": {
			change: func(w *world) { w.disown("c-2-0", 16000, 16383) },
			state:  degraded, reason: v1alpha1.ReasonPrimaryDown, conditions: []string{"SlotsAssigned: False SlotsUnassigned", "Available: False SlotsUncovered"}, says: []string{"16000-16383"},
		},
		"data of another cluster appears": {
			change: func(w *world) { w.o.Next.Blocked = &Blocked{v1alpha1.ReasonForeignData, "c-2-1 (keys 5)"} },
			state:  degraded, reason: v1alpha1.ReasonForeignData, conditions: []string{"Stalled: True ForeignData", "Reconciling:"}, says: []string{"c-2-1 (keys 5)"},
		},
		"the data of slots is gone": {
			change: func(w *world) { w.o.Next.Blocked = &Blocked{v1alpha1.ReasonSlotsLost, "slots 0-100"} },
			state:  degraded, reason: v1alpha1.ReasonSlotsLost, conditions: []string{"Stalled: True SlotsLost"}, says: []string{"slots 0-100"},
		},
		"the only primary of a Replication dies": {
			spec:   replicationSpec,
			change: func(w *world) { w.kill("c-0-0") },
			state:  degraded, reason: v1alpha1.ReasonPrimaryDown, conditions: []string{"Available: False PrimaryDown", "SlotsAssigned:"},
		},
		"a primary cannot write to its disk": {
			spec:   replicationSpec,
			change: func(w *world) { w.answer("c-0-0").Replication.DiskError = "no space" },
			state:  degraded, reason: v1alpha1.ReasonPrimaryDown,
		},
		"most Sentinels are gone": {
			spec:   sentinelSpec,
			change: func(w *world) { w.pod("c-sentinel-0").Ready = false; w.pod("c-sentinel-1").Ready = false },
			state:  degraded, reason: v1alpha1.ReasonQuorumLost, conditions: []string{"Available: True Serving"}, says: []string{"1 of 3 Sentinels"},
		},
		"a server would not start again": {
			change: func(w *world) { w.o.Next.RestartWouldFail = "pod c-0-0: a live file that the server refuses" },
			state:  degraded, reason: v1alpha1.ReasonRestartWouldFail,
		},
		"a server refuses live directives": {
			change: func(w *world) { w.refuse("c-0-0", "ERR CONFIG SET failed") },
			state:  degraded, reason: v1alpha1.ReasonApplyFailed, conditions: []string{"ConfigApplied: False ApplyFailed", "Available: True Serving"},
			says: []string{"pod c-0-0: ERR CONFIG SET failed"}, events: []string{"LiveConfigApplyFailed c-0-0"},
		},
		"a server refuses users": {
			change: func(w *world) {
				known := w.o.Settings["c-0-0"]
				known.ACL = &Setting{v1alpha1.ReasonApplyFailed, "ERR unknown command"}
				w.o.Settings["c-0-0"] = known
			},
			state: v1alpha1.StateFailed, reason: v1alpha1.ReasonUsersACLError, conditions: []string{"ACLApplied: False ApplyFailed"}, events: []string{"LiveACLApplyFailed c-0-0"},
		},
	})
}

// promote makes a replica the owner of the slots of a primary.
func (w *world) promote(replica, primary string) {
	for i := range w.o.View.Answers {
		for j := range w.o.View.Answers[i].Nodes {
			e := &w.o.View.Answers[i].Nodes[j]
			switch e.ID {
			case id(primary):
				e.Slots = nil
			case id(replica):
				shard, _ := place(replica)
				e.Replica, e.Primary, e.Slots, e.Epoch = false, "", slot.Bootstrap(shard, 3), 9
			}
		}
	}
	w.answer(replica).LinkUp = false
}

// disown takes slots from their owner.
func (w *world) disown(primary string, first, last int) {
	for i := range w.o.View.Answers {
		for j := range w.o.View.Answers[i].Nodes {
			if e := &w.o.View.Answers[i].Nodes[j]; e.ID == id(primary) {
				e.Slots = e.Slots.Minus(slot.Ranges{{First: first, Last: last}})
			}
		}
	}
}

func (w *world) refuse(pod, words string) {
	known := w.o.Settings[pod]
	known.LiveConfig = &Setting{v1alpha1.ReasonApplyFailed, words}
	w.o.Settings[pod] = known
}

func ranges(first, last int) slot.Ranges { return slot.Ranges{{First: first, Last: last}} }

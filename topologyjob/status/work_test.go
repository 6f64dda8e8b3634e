// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

func TestWhatIsBeingDone(t *testing.T) {
	const reconciling = v1alpha1.StateReconciling
	doing := func(work ...Work) func(*world) { return func(w *world) { w.o.Next.Work = work } }
	judge(t, map[string]trouble{
		"objects are applied": {
			change: doing(WorkApply), state: reconciling, reason: v1alpha1.ReasonReconciling,
			conditions: []string{"Ready: False Reconciling", "Progressing: True Reconciling", "Reconciling: True Reconciling", "Available: True Serving"},
		},
		"nodes join": {change: doing(WorkJoin), state: reconciling, reason: v1alpha1.ReasonAddingNodes, says: []string{v1alpha1.MessageAddingNodes}},
		"slots are to move": {
			change: doing(WorkMove), state: reconciling, reason: v1alpha1.ReasonRebalancingSlots, events: []string{"SlotsRebalancePending"},
		},
		"slots move": {
			change: func(w *world) {
				w.o.Next.Work = []Work{WorkMove}
				w.o.Jobs = []Job{{Name: "c-rebalance-1", Kind: "rebalance", Serial: 1, Phase: JobActive, Started: noon}}
			},
			state: reconciling, reason: v1alpha1.ReasonRebalancingSlots, events: []string{"SlotsRebalancing"},
		},
		"a primary is handed over": {
			change: func(w *world) {
				w.o.Next = Next{Work: []Work{WorkFailover}, Start: []Start{{Name: "c-handover-1", Kind: "handover", Serial: 1, Attempt: 1}}}
			},
			state: reconciling, reason: v1alpha1.ReasonReconciling, events: []string{"FailoverInitiated"},
		},
		"pods are rolled": {
			change: func(w *world) {
				w.set("c-0").UpdateRevision = "r2"
				w.o.Next.Work = []Work{WorkRoll}
				w.kill("c-0-1")
			},
			state: reconciling, reason: v1alpha1.ReasonUpdatingNodes, conditions: []string{"Ready: False UpdatingNodes", "ConfigApplied: False RollInProgress", "Degraded:"},
			events: []string{"WaitingForReplicas"},
		},
		"the StatefulSet controller rolls": {
			spec:   cacheSpec + "rollout: {mode: StatefulSet}\n",
			change: func(w *world) { w.set("c-0").UpdateRevision = "r2" },
			state:  reconciling, reason: v1alpha1.ReasonUpdatingNodes, conditions: []string{"ConfigApplied: False RollInProgress"},
		},
		"a roll is suspended": {
			change: func(w *world) { w.set("c-0").UpdateRevision, w.c.Spec.Suspend = "r2", true },
			state:  v1alpha1.StateReady, reason: v1alpha1.ReasonClusterHealthy, conditions: []string{"ConfigApplied: False RollPending"},
		},
		"a roll would lose data": {
			change: func(w *world) {
				w.set("c-0").UpdateRevision, w.o.Next.RollRefused, w.o.Next.Work = "r2", "the only copy", []Work{WorkRoll}
			},
			state: v1alpha1.StateFailed, reason: v1alpha1.ReasonRollRefused, conditions: []string{"ConfigApplied: False RollRefused", "Stalled: True RollRefused", "Reconciling:"},
		},
		"a disk grows": {
			spec: durableSpec,
			change: func(w *world) {
				size := resource.MustParse("20Gi")
				w.c.Spec.Storage.Size = &size
				for i := range w.o.Claims {
					w.o.Claims[i].Resize = ResizeInProgress
				}
			},
			state: reconciling, reason: v1alpha1.ReasonReconciling, says: []string{"Claim data-c-0-0 grows"},
		},
		"somebody suspends it": {
			change: func(w *world) { w.c.Spec.Suspend = true },
			state:  v1alpha1.StateReady, reason: v1alpha1.ReasonClusterHealthy,
		},
		"somebody suspends it while a replica is missing": {
			change: func(w *world) { w.c.Spec.Suspend = true; w.kill("c-0-1"); w.past(time.Hour) },
			state:  v1alpha1.StateDegraded, reason: v1alpha1.ReasonReplicasUnavailable, events: []string{"WaitingForReplicas"},
		},
	})
}

func TestWhatFails(t *testing.T) {
	judge(t, map[string]trouble{
		"a Job failed and is tried again": {
			change: func(w *world) {
				w.o.Next.Work = []Work{WorkJoin}
				w.c.Status.ActiveJobs = []v1alpha1.ActiveJob{{Name: "c-repair-1", Kind: "repair"}}
				w.o.Jobs = []Job{ended("repair", 1, failedWith("connection timeout"))}
			},
			state: v1alpha1.StateDegraded, reason: v1alpha1.ReasonNodeAddFailed, conditions: []string{"Progressing: True AddingNodes", "Ready: False Reconciling"},
			says: []string{"Failed to add node: connection timeout"}, events: []string{"ClusterMeetFailed"},
		},
		"a move failed and is tried again": {
			change: func(w *world) {
				w.o.Next.Work = []Work{WorkMove}
				w.c.Status.ActiveJobs = []v1alpha1.ActiveJob{{Name: "c-drain-1", Kind: "drain"}}
				w.o.Jobs = []Job{ended("drain", 1, nil)}
			},
			state: v1alpha1.StateDegraded, reason: v1alpha1.ReasonRebalanceFailed, events: []string{"DrainFailed", "SlotsRebalancePending"},
		},
		"a Job failed for what is not wanted any more": {
			change: func(w *world) {
				w.o.Next.Work = []Work{WorkJoin}
				w.c.Status.ActiveJobs = []v1alpha1.ActiveJob{{Name: "c-repair-1", Kind: "repair"}}
				w.o.Jobs = []Job{ended("repair", 1, failedWith("connection timeout"))}
				w.o.Jobs[0].Superseded = true
			},
			state: v1alpha1.StateReconciling, reason: v1alpha1.ReasonAddingNodes, conditions: []string{"Degraded:", "Progressing: True AddingNodes"},
			events: []string{"ClusterMeetFailed"},
		},
		"an apply failed too often": {
			spec: cacheSpec, change: func(w *world) { w.applyFailed(false) },
			state: v1alpha1.StateFailed, reason: v1alpha1.ReasonRequestFailed, conditions: []string{"Stalled: True JobBlocked"},
		},
		"an apply failed too often, for another spec": {
			spec: cacheSpec, change: func(w *world) { w.applyFailed(true) },
			state: v1alpha1.StateReconciling, reason: v1alpha1.ReasonReconciling, conditions: []string{"Stalled:", "Progressing: True Reconciling"},
		},
		"a failure that is over": {
			change: func(w *world) { w.o.Jobs = []Job{ended("repair", 1, failedWith("connection timeout"))} },
			state:  v1alpha1.StateReady, reason: v1alpha1.ReasonClusterHealthy,
		},
		"a Job failed too often": {
			change: func(w *world) {
				w.o.Next.Work = []Work{WorkJoin}
				w.o.Jobs = []Job{ended("repair", 6, failedWith("connection timeout"))}
				w.o.Next.Blocked = &Blocked{v1alpha1.ReasonJobBlocked, "Job c-repair-6 failed, as 5 before it"}
			},
			state: v1alpha1.StateFailed, reason: v1alpha1.ReasonJobBlocked, conditions: []string{"Degraded:", "Progressing: False ReconcileComplete", "Stalled: True JobBlocked"},
			says: []string{"5 before it"},
		},
		"a request is refused": {
			change: func(w *world) {
				w.o.Failures = []Failure{{VerbUpdate, v1alpha1.KindNode, "c-0-0", "forbidden"}}
			},
			state: v1alpha1.StateFailed, reason: v1alpha1.ReasonValkeyNodeError, events: []string{"ValkeyNodeFailed"},
		},
		"a Secret cannot be written": {
			change: func(w *world) { w.o.Failures = []Failure{{VerbCreate, "Secret", "c-acl", "forbidden"}} },
			state:  v1alpha1.StateFailed, reason: v1alpha1.ReasonSystemUsersACLError, events: []string{"InternalSecretsCreationFailed"},
		},
		"ValkeyNodes cannot be listed": {
			change: func(w *world) { w.o.Failures = []Failure{{VerbList, v1alpha1.KindNode, "", "timeout"}} },
			state:  v1alpha1.StateFailed, reason: v1alpha1.ReasonValkeyNodeListError,
		},
		"a Job cannot be created for a quota": {
			change: func(w *world) { w.o.Failures = []Failure{{VerbCreate, "Job", "c-repair-1", "exceeded quota: jobs"}} },
			state:  v1alpha1.StateFailed, reason: v1alpha1.ReasonQuotaExceeded,
		},
		"a Job that forms the cluster cannot be created for a quota": {
			change: func(w *world) {
				w.o.Next.Work = []Work{WorkForm}
				w.o.Failures = []Failure{{VerbCreate, "Job", "c-bootstrap-1", "exceeded quota: jobs"}}
			},
			state: v1alpha1.StateFailed, reason: v1alpha1.ReasonQuotaExceeded,
		},
		"an eviction is refused": {
			change: func(w *world) { w.o.Failures = []Failure{{VerbEvict, "Pod", "c-0-0", "forbidden"}} },
			state:  v1alpha1.StateFailed, reason: v1alpha1.ReasonRequestFailed,
		},
		"an object cannot be applied": {
			change: func(w *world) {
				w.o.Rendering.Current = false
				w.c.Status.ActiveJobs = []v1alpha1.ActiveJob{{Name: "c-apply-1", Kind: "apply"}}
				w.o.Jobs = []Job{ended("apply", 1, &outcome.Outcome{Kind: "apply", Result: outcome.Failed, Reason: v1alpha1.ReasonServiceError, Message: "Service c: invalid"})}
			},
			state: v1alpha1.StateFailed, reason: v1alpha1.ReasonServiceError, says: []string{"Service c: invalid"}, events: []string{"ServiceUpdateFailed"},
		},
	})
}

// applyFailed has an apply be due, of which the sixth Job has failed.
func (w *world) applyFailed(superseded bool) {
	w.c.Spec.Delivery, w.o.Rendering.Current, w.o.Next.Work = v1alpha1.DeliveryInCluster, false, []Work{WorkApply}
	j := ended("apply", 1, failedWith("no such class"))
	j.Attempt, j.Final, j.Superseded = 6, true, superseded
	w.o.Jobs = []Job{j}
}

// TestWhyARollWaits is in the message of ConfigApplied.
func TestWhyARollWaits(t *testing.T) {
	for want, change := range map[string]func(*world){
		"2 pods run an older template, and stay while spec.suspend is true":                        func(w *world) { w.c.Spec.Suspend = true },
		"2 pods run an older template, and go, as spec.hibernate asks":                             func(w *world) { w.c.Spec.Hibernate = true },
		"2 pods run an older template, and stay until the spec is valid":                           func(w *world) { w.o.Invalid = "spec.shards: no" },
		"2 pods run an older template, and stay until this is put right: two histories":            func(w *world) { w.o.Next.Blocked = &Blocked{v1alpha1.ReasonForeignData, "two histories"} },
		"2 pods run an older template. Before they are replaced: Job c-repair-3 works for a while": func(w *world) { w.o.Next.Waiting = []string{"Job c-repair-3 works for 7s"} },
		"2 pods run an older template, and are replaced after what is being done now":              func(w *world) { w.o.Next.Work = []Work{WorkJoin} },
	} {
		w := healthy(t, cacheSpec)
		w.set("c-0").UpdateRevision = "r2"
		change(w)
		c := find(w.compute().Status.Conditions, v1alpha1.ConditionConfigApplied)
		if c.Reason != v1alpha1.ReasonRollPending || c.Message != want {
			t.Errorf("%s: %s, want %s", c.Reason, c.Message, want)
		}
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// look is a line of kubectl get vkc -w, with the events.
func (w *world) look() []string {
	w.past(2 * time.Second)
	r := w.settle()
	documented(w.t, r)
	s := r.Status
	lines := []string{fmt.Sprintf("%s %s %d/%d", s.State, s.Reason, s.ReadyShards, s.Shards)}
	for _, e := range r.Events {
		lines = append(lines, e.Reason+": "+e.Message)
	}
	return lines
}

func (w *world) expect(step string, want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.look()); diff != "" {
		w.t.Errorf("%s\n%s", step, diff)
	}
	if again := w.compute(); len(again.Events) > 0 {
		w.t.Errorf("%s: told twice: %v", step, told(again.Events))
	}
}

// alone makes every server know nobody but itself.
func (w *world) alone() {
	for i := range w.o.View.Answers {
		a := &w.o.View.Answers[i]
		a.Nodes, a.StateOK, a.LinkUp = []node.Entry{{ID: a.ID, Myself: true, Linked: true}}, false, false
	}
}

// TestAClusterIsFormed goes through what the contract shows of a new cluster.
func TestAClusterIsFormed(t *testing.T) {
	w := specified(t, cacheSpec)
	w.secrets()
	var created []string
	for shard := range 3 {
		for index := range 2 {
			created = append(created, fmt.Sprintf("ValkeyNodeCreated: Created ValkeyNode for shard %d node %d", shard, index))
		}
	}
	w.o.Next.Work = []Work{WorkApply}
	w.expect("nothing is there", append(append([]string{"Reconciling Initializing 0/0"}, created...), "WaitingForShards: 0 of 3 shards exist")...)

	full := rendered(t, cacheSpec)
	w.o.StatefulSets, w.o.Objects, w.o.Rendering = full.o.StatefulSets, full.o.Objects, full.o.Rendering
	w.c.Status.ActiveJobs = []v1alpha1.ActiveJob{{Name: "c-apply-1", Kind: "apply"}}
	w.o.Jobs = []Job{ended("apply", 1, &outcome.Outcome{Result: outcome.Converged, Counts: map[string]int64{"created Service": 2, "created ConfigMap": 2, "created PodDisruptionBudget": 3}})}
	w.o.Next.Work = nil
	w.expect("objects are there", "Reconciling Reconciling 0/0",
		"ServiceCreated: Created headless Service", "ConfigMapCreated: Created ConfigMap with configuration", "PodDisruptionBudgetCreated: Created PodDisruptionBudget")

	w.pods()
	w.survey()
	w.alone()
	w.o.Next = Next{Work: []Work{WorkForm}, Start: []Start{{Name: "c-bootstrap-2", Kind: "bootstrap", Serial: 2, Attempt: 1}}}
	w.expect("pods are there", "Reconciling AddingNodes 0/0")

	w.survey()
	for i := range w.o.View.Answers {
		for j := range w.o.View.Answers[i].Nodes {
			w.o.View.Answers[i].Nodes[j].Replica, w.o.View.Answers[i].Nodes[j].Primary = false, ""
		}
	}
	w.expect("primaries have their slots", "Reconciling AddingNodes 0/3",
		"ClusterMeetBatch: Introduced 6 isolated node(s) to the cluster",
		"PrimaryCreated: Created primary 10.0.0.1 with slots 0-5460", "PrimaryCreated: Created primary 10.0.1.1 with slots 5461-10922",
		"PrimaryCreated: Created primary 10.0.2.1 with slots 10923-16383", "PrimariesCreated: Assigned slots to 3 new primary node(s)",
		"WaitingForReplicas: Waiting for replicas: shard 0 has 0 of 1; shard 1 has 0 of 1; shard 2 has 0 of 1")

	w.survey()
	w.o.Next = Next{}
	w.c.Status.ActiveJobs = []v1alpha1.ActiveJob{{Name: "c-bootstrap-1", Kind: "bootstrap"}}
	w.o.Jobs = append(w.o.Jobs, ended("bootstrap", 2, &outcome.Outcome{Result: outcome.Converged}))
	w.expect("replicas are attached", "Ready ClusterHealthy 3/3",
		"ReplicaCreated: Created replica for primary "+id("c-0-0")+" (shard 0)", "ReplicaCreated: Created replica for primary "+id("c-1-0")+" (shard 1)",
		"ReplicaCreated: Created replica for primary "+id("c-2-0")+" (shard 2)", "ReplicasAttached: Attached 3 replica node(s)",
		"ClusterReady: Cluster ready with 3 shards and 1 replicas")
	if got := says(w.c.Status.Conditions, "ClusterInitialized"); got != "True BootstrapSucceeded" {
		t.Error(got)
	}
}

func TestWhatIsSeenWhileAClusterIsFormed(t *testing.T) {
	w := rendered(t, cacheSpec)
	for i := range w.o.StatefulSets {
		w.o.StatefulSets[i].Created = w.now
	}
	r := w.compute()
	for kind, want := range map[string]string{
		"Ready": "False MissingShards", "Progressing": "True Reconciling", "ClusterFormed": "False MissingShards", "SlotsAssigned": "False SlotsUnassigned",
		"Available": "False Bootstrapping", "ClusterInitialized": "False Bootstrapping", "Degraded": "", "Reconciling": "True Reconciling",
	} {
		if got := says(r.Status.Conditions, kind); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	for kind, want := range map[string]string{
		"Ready": v1alpha1.MessageMissingShards, "Progressing": v1alpha1.MessageCreatingShards, "ClusterFormed": v1alpha1.MessageWaitingForShards,
		"SlotsAssigned": v1alpha1.MessageSlotsUnassigned,
	} {
		if got := find(r.Status.Conditions, kind).Message; got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

func TestAClusterThatWasThereIsAdopted(t *testing.T) {
	w := rendered(t, cacheSpec)
	w.pods()
	w.survey()
	r := w.settle()
	if got := told(r.Events); !cmp.Equal(got[6:], []string{"AdoptedExisting", "ClusterReady"}) {
		t.Error(got)
	}
}

func TestAClusterThatCannotBeFormed(t *testing.T) {
	w := rendered(t, cacheSpec)
	w.pods()
	w.survey()
	w.alone()
	w.o.Next = Next{Work: []Work{WorkForm}, Blocked: &Blocked{v1alpha1.ReasonJobBlocked, "Job c-bootstrap-6 failed"}}
	s := w.compute().Status
	if s.State != v1alpha1.StateFailed || s.Reason != v1alpha1.ReasonBootstrapFailed || says(s.Conditions, "ClusterInitialized") != "False BootstrapFailed" || says(s.Conditions, "Stalled") != "True BootstrapFailed" {
		t.Errorf("%s %s %+v", s.State, s.Reason, s.Conditions)
	}
}

// TestAShardIsDrained: what Argo CD looks at is there until the shard owns nothing, and the
// cluster is ready while only its objects are left.
func TestAShardIsDrained(t *testing.T) {
	w := healthy(t, "shards: 4\n")
	three := int32(3)
	w.c.Spec.Shards, w.c.Generation = &three, 2
	w.expect("one shard less", "Reconciling RebalancingSlots 4/4", "SlotsDraining: Moving slots away: draining shard 3")
	if got := find(w.c.Status.Conditions, "Progressing").Message; got != "draining shard 3" {
		t.Error(got)
	}
	// Its slots are at shard 0 now.
	for i := range w.o.View.Answers {
		for j := range w.o.View.Answers[i].Nodes {
			switch e := &w.o.View.Answers[i].Nodes[j]; e.ID {
			case id("c-3-0"):
				e.Slots = nil
			case id("c-0-0"):
				e.Slots = e.Slots.Plus(slot.Bootstrap(3, 4))
			}
		}
	}
	w.expect("it owns nothing", "Reconciling RebalancingSlots 4/4")
	w.o.Drained = []int32{3}
	w.expect("it is listed", "Ready ClusterHealthy 3/3", "ClusterReady: Cluster ready with 3 shards and 1 replicas")
	prune := find(w.c.Status.Conditions, "PrunePending")
	if prune == nil || prune.Reason != v1alpha1.ReasonShardDrained || !cmp.Equal(w.c.Status.DrainedShards, []int32{3}) {
		t.Fatalf("%+v %v", prune, w.c.Status.DrainedShards)
	}
	w.drop(name.KindStatefulSet, "c-3")
	w.drop(name.KindBudget, "c-3")
	w.o.View.Answers, w.o.Pods = w.o.View.Answers[:6], w.o.Pods[:6]
	w.expect("it is gone", "Ready ClusterHealthy 3/3", "ValkeyNodeDeleted: Deleted ValkeyNode for shard 3 node 0", "ValkeyNodeDeleted: Deleted ValkeyNode for shard 3 node 1")
	if says(w.c.Status.Conditions, "PrunePending") != "" {
		t.Error("still to be pruned")
	}
}

// TestAShardIsAdded by Git: first the ValkeyCluster, then the StatefulSet, its pods, its slots.
func TestAShardIsAdded(t *testing.T) {
	w := healthy(t, cacheSpec)
	four := int32(4)
	w.c.Spec.Shards, w.c.Generation = &four, 2
	w.expect("one shard more", "Reconciling Reconciling 3/3",
		"ValkeyNodeCreated: Created ValkeyNode for shard 3 node 0", "ValkeyNodeCreated: Created ValkeyNode for shard 3 node 1", "WaitingForShards: 3 of 4 shards exist")
	full := rendered(t, "shards: 4\n")
	w.o.StatefulSets, w.o.Objects = full.o.StatefulSets, full.o.Objects
	w.pods()
	old := w.o.View.Answers
	w.survey()
	copy(w.o.View.Answers, old)
	for i := 6; i < 8; i++ {
		a := &w.o.View.Answers[i]
		a.Nodes = []node.Entry{{ID: a.ID, Myself: true, Linked: true}}
	}
	w.o.Next.Work = []Work{WorkJoin}
	w.expect("pods are there", "Reconciling AddingNodes 3/3")
	w.survey()
	w.o.Next.Work = nil
	w.expect("it has slots", "Ready ClusterHealthy 4/4",
		"ClusterMeetBatch: Introduced 2 isolated node(s) to the cluster", "PrimaryCreated: Created primary 10.0.3.1 with slots 12288-16383",
		"PrimariesCreated: Assigned slots to 1 new primary node(s)", "ReplicaCreated: Created replica for primary "+id("c-3-0")+" (shard 3)",
		"ReplicasAttached: Attached 1 replica node(s)", "ClusterReady: Cluster ready with 4 shards and 1 replicas")
}

func TestAClusterHibernatesAndWakes(t *testing.T) {
	w := healthy(t, durableSpec)
	w.c.Spec.Hibernate, w.c.Generation = true, 2
	for i := range w.o.StatefulSets {
		w.o.StatefulSets[i].Replicas = 0
	}
	w.expect("pods are going", "Reconciling Reconciling 3/3")
	w.o.Pods, w.o.View = nil, nil
	w.expect("no pods", "Hibernated Hibernated 0/0", "WaitingForShards: 0 of 3 shards exist")
	for kind, want := range map[string]string{
		"Ready": "False Hibernated", "Available": "False Hibernated", "Progressing": "False ReconcileComplete", "Degraded": "", "ClusterInitialized": "True AdoptedExisting",
	} {
		if got := says(w.c.Status.Conditions, kind); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	w.c.Spec.Hibernate, w.c.Generation = false, 3
	for i := range w.o.StatefulSets {
		w.o.StatefulSets[i].Replicas = 2
	}
	if s := w.compute().Status; s.State == v1alpha1.StateHibernated || s.State == v1alpha1.StateReady {
		t.Errorf("while waking: %s %s", s.State, s.Reason)
	}
	w.pods()
	w.survey()
	if s := w.settle().Status; s.State != v1alpha1.StateReady || !s.ClusterInitialized {
		t.Errorf("awake: %s %s %s", s.State, s.Reason, s.Message)
	}
}

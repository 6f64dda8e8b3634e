// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// TestTheStateThatWins: Hibernated, then Degraded, Ready, Reconciling and Failed, with the
// reason and message of what decided.
func TestTheStateThatWins(t *testing.T) {
	for _, hibernated := range []bool{false, true} {
		for _, degraded := range []bool{false, true} {
			for _, ready := range []bool{false, true} {
				for _, progressing := range []bool{false, true} {
					t.Run(fmt.Sprintf("hibernated %v degraded %v ready %v progressing %v", hibernated, degraded, ready, progressing), func(t *testing.T) {
						x := newComputation(&v1alpha1.ValkeyCluster{}, Observed{}, noon)
						x.c.Spec.Hibernate = hibernated
						x.conditions = conditions{}
						x.conditions.set("Ready", ready, finding{"R", "r"})
						x.conditions.set("Progressing", progressing, finding{"P", "p"})
						if degraded {
							x.conditions.set("Degraded", true, finding{"D", "d"})
						}
						want := [3]string{"Failed", "R", "r"}
						switch {
						case hibernated:
							want[0] = "Hibernated"
						case degraded:
							want = [3]string{"Degraded", "D", "d"}
						case ready:
							want[0] = "Ready"
						case progressing:
							want = [3]string{"Reconciling", "P", "p"}
						}
						if state, reason, message := x.state(); [3]string{string(state), reason, message} != want {
							t.Errorf("%s %s %s, want %v", state, reason, message, want)
						}
					})
				}
			}
		}
	}
}

// TestTheWorstIsNamed: everything goes wrong, and then one after the other is put right.
func TestTheWorstIsNamed(t *testing.T) {
	w := healthy(t, durableSpec)
	repair := []func(){}
	wrong := func(change, right func()) {
		change()
		repair = append([]func(){right}, repair...)
	}
	wrong(func() { w.o.Orphans = []string{"x-0"} }, func() { w.o.Orphans = nil })
	wrong(func() { w.answer("c-0-1").LinkUp = false }, func() { w.answer("c-0-1").LinkUp = true })
	wrong(func() { w.refuse("c-0-0", "ERR") }, func() { delete(w.o.Settings, "c-0-0") })
	wrong(func() { w.o.Next.RestartWouldFail = "no" }, func() { w.o.Next.RestartWouldFail = "" })
	wrong(func() { w.pod("c-0-1").Waiting = "CrashLoopBackOff" }, func() { w.pod("c-0-1").Waiting = "" })
	wrong(func() { w.pod("c-0-1").Unschedulable = "no" }, func() { w.pod("c-0-1").Unschedulable = "" })
	wrong(func() { w.set("c-2").Replicas = 9 }, func() { w.set("c-2").Replicas = 2 })
	wrong(func() { w.claim("data-c-0-0").Phase = corev1.ClaimLost }, func() { w.claim("data-c-0-0").Phase = corev1.ClaimBound })
	wrong(func() { w.set("c-2").Replicas, w.set("c-1").Replicas = 9, 1 }, func() { w.set("c-1").Replicas = 2 })
	wrong(func() { w.o.Next.Blocked = &Blocked{v1alpha1.ReasonSlotsLost, "x"} }, func() { w.o.Next.Blocked = nil })
	want := []string{
		"SlotsLost", "ScaledByHand", "PersistentVolumeClaimLost", "ScaledByHand", "PodUnschedulable", "PodFailing", "RestartWouldFail",
		"ApplyFailed", "ReplicaNotSyncing", "Orphaned", "ClusterHealthy",
	}
	for i, reason := range want {
		if got := w.compute().Status.Reason; got != reason {
			t.Errorf("%d: %s, want %s", i, got, reason)
		}
		if i < len(repair) {
			repair[i]()
		}
	}
}

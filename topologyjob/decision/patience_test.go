// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// since puts a condition into the status, so long ago.
func (w *world) since(kind string, is metav1.ConditionStatus, ago time.Duration) {
	w.Cluster.Status.Conditions = append(w.Cluster.Status.Conditions, metav1.Condition{
		Type: kind, Status: is, LastTransitionTime: metav1.NewTime(start.Add(-ago)),
	})
}

// TestLooksAgain as soon as what is waited for may be there, and less and less often when it
// does not come.
func TestLooksAgain(t *testing.T) {
	ready := func(w *world) { w.since(v1alpha1.ConditionReady, metav1.ConditionTrue, 24*time.Hour) }
	rolls := func(w *world, ago time.Duration) {
		w.since(v1alpha1.ConditionReady, metav1.ConditionFalse, ago)
		w.old(0, 0, 1)
		w.old(1, 0, 1)
	}
	for _, s := range []struct {
		name string
		w    *world
		edit func(*world)
		want time.Duration
	}{
		{"at rest", formed(3, 1), ready, 30 * time.Second},
		{"a roll begins", formed(3, 1), func(w *world) { ready(w); w.old(0, 0, 1) }, soonest},
		{"a replica has to catch up", formed(3, 1), func(w *world) {
			rolls(w, time.Hour)
			w.pod(0, 1).Revision, w.pod(0, 1).Created, w.told(0, 1).LinkUp = "new", start.Add(-4*time.Second), false
		}, soonest},
		{"the last one of its shard has to", formed(3, 1), func(w *world) {
			rolls(w, time.Hour)
			for index := range int32(2) {
				w.pod(0, index).Revision, w.pod(0, index).Created = "new", start.Add(-4*time.Second)
			}
			w.told(0, 1).LinkUp = false
		}, soonest},
		{"it takes longer", formed(3, 1), func(w *world) {
			rolls(w, time.Hour)
			w.pod(0, 1).Revision, w.pod(0, 1).Created, w.told(0, 1).LinkUp = "new", start.Add(-time.Minute), false
		}, 3 * time.Second},
		{"it does not", formed(3, 1), func(w *world) {
			rolls(w, time.Hour)
			w.pod(0, 1).Revision, w.told(0, 1).LinkUp = "new", false
		}, 30 * time.Second},
		{"a budget keeps a pod", formed(3, 1), func(w *world) { rolls(w, time.Hour) }, evicting},
		{"a roll is refused", formed(3, 0), func(w *world) {
			w.Cluster.Spec.Rollout = &v1alpha1.RolloutSpec{AllowDataLoss: new(false)}
			w.since(v1alpha1.ConditionReady, metav1.ConditionFalse, time.Hour)
			w.old(1, 0)
		}, 30 * time.Second},
		{"a refused one begins", formed(3, 0), func(w *world) {
			w.Cluster.Spec.Rollout = &v1alpha1.RolloutSpec{AllowDataLoss: new(false)}
			ready(w)
			w.old(1, 0)
		}, 30 * time.Second},
		{"a primary is gone", replicated(2), func(w *world) { ready(w); w.silent(0, 0) }, soonest},
		{"and others were missing before", replicated(2), func(w *world) {
			w.since(v1alpha1.ConditionReady, metav1.ConditionFalse, time.Hour)
			w.since(v1alpha1.ConditionAvailable, metav1.ConditionFalse, 4*time.Second)
			w.silent(0, 0)
		}, soonest},
		{"for long", replicated(2), func(w *world) {
			w.since(v1alpha1.ConditionReady, metav1.ConditionFalse, time.Hour)
			w.since(v1alpha1.ConditionAvailable, metav1.ConditionFalse, time.Hour)
			w.silent(0, 0)
		}, time.Second},
	} {
		t.Run(s.name, func(t *testing.T) {
			s.edit(s.w)
			if d := Decide(s.w.Input); d.After != s.want {
				t.Errorf("after %s, want %s\n%+v", d.After, s.want, d.Next)
			}
		})
	}
}

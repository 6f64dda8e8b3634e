// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// TestWhatIsNotWantedAnyMoreIsSuperseded: how a Job for it ended says nothing of now.
func TestWhatIsNotWantedAnyMoreIsSuperseded(t *testing.T) {
	fails := func(w *world, kind string, attempt int32) {
		r := w.ran(kind, attempt, time.Second, outcome.Failed)
		r.Token = "old"
		if kind == job.Apply {
			r.Token = Rendering(w.Cluster)
		}
	}
	for _, s := range []struct {
		name string
		w    *world
		edit func(*world)
		want bool
	}{
		{"the same is to be tried again", blank(3, 1), func(w *world) { fails(w, job.Bootstrap, 1) }, false},
		{"the same was tried often enough", blank(3, 1), func(w *world) { fails(w, job.Bootstrap, job.Most) }, false},
		{"the same waits for another", blank(3, 1), func(w *world) { fails(w, job.Bootstrap, 1); w.runs(job.Repair) }, false},
		{"the spec has changed", blank(3, 1), func(w *world) { fails(w, job.Bootstrap, 1); w.Cluster.Generation++ }, true},
		{"a retry was asked for", blank(3, 1), func(w *world) { fails(w, job.Bootstrap, job.Most); w.asks(v1alpha1.AnnotationRetry, "1") }, true},
		{"something else is to be done", formed(4, 1), func(w *world) {
			fails(w, job.Repair, 1)
			w.Cluster.Spec.Shards = new(int32(3))
		}, true},
		{"an apply of the same", blank(3, 1), func(w *world) {
			w.Cluster.Spec.Delivery = v1alpha1.DeliveryInCluster
			fails(w, job.Apply, job.Most)
		}, false},
		{"an apply of another spec", blank(3, 1), func(w *world) {
			w.Cluster.Spec.Delivery = v1alpha1.DeliveryInCluster
			fails(w, job.Apply, job.Most)
			w.Cluster.Generation++
		}, true},
		{"what sets something is told by its token", formed(3, 1), func(w *world) { fails(w, job.ACL, 1) }, false},
	} {
		t.Run(s.name, func(t *testing.T) {
			s.edit(s.w)
			if got := Superseded(s.w.Input, Decide(s.w.Input), s.w.Jobs[0]); got != s.want {
				t.Errorf("%v, want %v", got, s.want)
			}
		})
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"testing"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/job"
)

func TestDelivery(t *testing.T) {
	for _, s := range []struct {
		name string
		w    *world
		edit func(*world)
		want string
	}{
		{"delivery: InCluster is applied", blank(3, 1), func(w *world) {
			w.Cluster.Spec.Delivery = v1alpha1.DeliveryInCluster
			w.Seen.StatefulSets, w.Secrets = nil, 3
		}, "secrets, start apply-1 attempt 1"},
		{"and once for each generation", formed(3, 1), func(w *world) {
			w.Cluster.Spec.Delivery = v1alpha1.DeliveryInCluster
			w.Cluster.Status.Applied = []v1alpha1.AppliedStatus{{Kind: job.Apply, Token: Rendering(w.Cluster)}}
		}, "nothing"},
		{"beside what else is to be done", blank(3, 1), func(w *world) { w.Cluster.Spec.Delivery = v1alpha1.DeliveryInCluster }, "start apply-1 attempt 1, start bootstrap-2 attempt 1"},
		{"again when a shard may go", formed(3, 1), func(w *world) {
			w.Cluster.Spec.Delivery = v1alpha1.DeliveryInCluster
			w.Cluster.Status.Applied = []v1alpha1.AppliedStatus{{Kind: job.Apply, Token: Rendering(w.Cluster)}}
			w.Cluster.Status.DrainedShards = []int32{3}
		}, "start apply-1 attempt 1"},
		{"not beside another apply", formed(3, 1), func(w *world) {
			w.Cluster.Spec.Delivery = v1alpha1.DeliveryInCluster
			w.runs(job.Apply)
		}, "nothing"},
		{"nor beside one that somebody has deleted, whose pod may work", formed(3, 1), func(w *world) {
			w.Cluster.Spec.Delivery = v1alpha1.DeliveryInCluster
			w.unseen(job.Apply)
		}, "nothing"},
		{"again when somebody asks for it", formed(3, 1), func(w *world) {
			w.Cluster.Spec.Delivery = v1alpha1.DeliveryInCluster
			w.Cluster.Status.Applied = []v1alpha1.AppliedStatus{{Kind: job.Apply, Token: Rendering(w.Cluster)}}
			w.asks(v1alpha1.AnnotationRetry, "1")
		}, "start apply-1 attempt 1"},
		{"and once", formed(3, 1), func(w *world) {
			w.Cluster.Spec.Delivery = v1alpha1.DeliveryInCluster
			w.asks(v1alpha1.AnnotationRetry, "1")
			w.Cluster.Status.Applied = []v1alpha1.AppliedStatus{{Kind: job.Apply, Token: Rendering(w.Cluster)}}
		}, "nothing"},
		{"a hibernating cluster is applied too", blank(3, 1), func(w *world) {
			w.Cluster.Spec.Delivery, w.Cluster.Spec.Hibernate = v1alpha1.DeliveryInCluster, true
		}, "start apply-1 attempt 1"},
	} {
		t.Run(s.name, func(t *testing.T) {
			s.edit(s.w)
			if got := Decide(s.w.Input).line(); got != s.want {
				t.Errorf("%s\nwant %s", got, s.want)
			}
		})
	}
}

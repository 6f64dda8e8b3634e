// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/decision"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/status"
)

// TestAJobThatIsDeletedStaysOver: its pods go first, then the Job, and nobody waits for the
// deadline of one whose pod was seen to end.
func TestAJobThatIsDeletedStaysOver(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	made := metav1.NewTime(now.Add(-time.Minute))
	meta := metav1.ObjectMeta{
		Namespace: "shop", Name: "cache-bootstrap-1", CreationTimestamp: made,
		Labels:      map[string]string{name.LabelCluster: "cache"},
		Annotations: map[string]string{job.AnnotationKind: job.Bootstrap, job.AnnotationSerial: "1"},
	}
	pod := &corev1.Pod{ObjectMeta: meta, Status: corev1.PodStatus{Phase: corev1.PodFailed}}
	pod.Labels = map[string]string{name.LabelCluster: "cache", batchv1.JobNameLabel: meta.Name}
	failed := &batchv1.Job{ObjectMeta: meta}
	failed.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: made}}
	active := v1alpha1.ActiveJob{Name: meta.Name, Kind: job.Bootstrap, StartedAt: &made}
	for what, c := range map[string]struct {
		there []client.Object
		saw   bool
		want  status.Phase
	}{
		"its pod is there":                       {[]client.Object{failed, pod}, false, status.JobEnded},
		"its pod is gone and was seen to end":    {[]client.Object{failed}, true, status.JobEnded},
		"both are gone and its pod was seen":     {nil, true, status.JobGone},
		"its pod is gone, and nobody saw it end": {[]client.Object{failed}, false, status.JobActive},
		"both are gone, and nobody saw it end":   {nil, false, ""},
	} {
		t.Run(what, func(t *testing.T) {
			scheme, err := Scheme()
			if err != nil {
				t.Fatal(err)
			}
			of := func(o client.Object) []string { return []string{o.GetLabels()[name.LabelCluster]} }
			reads := fake.NewClientBuilder().WithScheme(scheme).WithObjects(c.there...).
				WithIndex(&batchv1.Job{}, clusterIndex, of).WithIndex(&corev1.Pod{}, clusterIndex, of).Build()
			r := &Reconciler{Client: reads, Live: reads, Ended: NewEnded(clocktesting.NewFakePassiveClock(now))}
			if c.saw {
				r.Ended.See(pod)
			}
			g := &gathered{now: now, cluster: &v1alpha1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cache"}}, unborn: map[string]int64{}}
			g.cluster.Status.ActiveJobs = []v1alpha1.ActiveJob{active}
			for _, o := range c.there {
				if p, ok := o.(*corev1.Pod); ok {
					g.pods = append(g.pods, *p)
				}
			}
			if err := r.jobsOf(t.Context(), g); err != nil {
				t.Fatal(err)
			}
			var got status.Phase
			if len(g.seen.Jobs) == 1 {
				got = g.seen.Jobs[0].Phase
			}
			if got != c.want || len(g.seen.Jobs) > 1 {
				t.Errorf("%+v, want %q", g.seen.Jobs, c.want)
			}
		})
	}
}

// TestADeletedJobIsStillKnownToHaveEnded: deleting it makes nobody forget that.
func TestADeletedJobIsStillKnownToHaveEnded(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	r := &Reconciler{Client: fake.NewClientBuilder().Build(), Ended: NewEnded(clocktesting.NewFakePassiveClock(now))}
	pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed}}
	pod.Namespace, pod.Labels = "shop", map[string]string{batchv1.JobNameLabel: "cache-bootstrap-1"}
	r.Ended.See(pod)
	g := &gathered{cluster: &v1alpha1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cache"}}}
	if err := r.stop(t.Context(), g, job.Record{Name: "cache-bootstrap-1", Kind: job.Bootstrap, Ended: now}); err != nil {
		t.Fatal(err)
	}
	if !r.Ended.saw("shop", "cache-bootstrap-1", time.Time{}) {
		t.Error("forgotten")
	}
}

// TestAnApplyThatFailedSaysNothingOfAnotherSpec: whoever waits for a new generation would take
// it for its end.
func TestAnApplyThatFailedSaysNothingOfAnotherSpec(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for what, s := range map[string]struct {
		change  func(*v1alpha1.ValkeyCluster)
		stalled bool
	}{
		"the same":       {func(*v1alpha1.ValkeyCluster) {}, true},
		"a changed spec": {func(c *v1alpha1.ValkeyCluster) { c.Generation++ }, false},
		"a retry":        {func(c *v1alpha1.ValkeyCluster) { c.Annotations = map[string]string{v1alpha1.AnnotationRetry: "1"} }, false},
	} {
		t.Run(what, func(t *testing.T) {
			c := &v1alpha1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cache", UID: "uid", Generation: 1}}
			c.Default()
			g := &gathered{now: now, cluster: c, resync: time.Minute}
			first := decision.Decide(g.input()).Start
			if len(first) != 1 || first[0].Kind != job.Apply {
				t.Fatalf("%+v", first)
			}
			failed := job.Record{
				Name: "cache-apply-1", Kind: job.Apply, Input: first[0].Input(), Token: first[0].Token, Serial: 1, Attempt: job.Most,
				Created: now.Add(-time.Minute), Ended: now.Add(-time.Second), Failed: true, Trouble: "DeadlineExceeded",
			}
			g.jobs, g.seen.Jobs = []job.Record{failed}, []status.Job{observed(&failed, now)}
			s.change(c)
			d := decision.Decide(g.input())
			g.superseded(d)
			g.seen.Next = d.Next
			got := status.Compute(c, g.seen, now).Status
			stalled := slices.ContainsFunc(got.Conditions, func(c metav1.Condition) bool {
				return c.Type == v1alpha1.ConditionStalled && c.Status == metav1.ConditionTrue
			})
			if stalled != s.stalled || len(d.Start) == 0 != s.stalled || got.ObservedGeneration != c.Generation {
				t.Errorf("stalled %v, starts %+v: %+v", stalled, d.Start, got)
			}
		})
	}
}

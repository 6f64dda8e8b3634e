// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/valkey-render/valkey-render/topologyjob/job"
)

// TestEndedJobsAreNotRememberedForEver, and for as long as any of them may act.
func TestEndedJobsAreNotRememberedForEver(t *testing.T) {
	for _, kind := range []string{job.Bootstrap, job.Rebalance, job.Apply, job.Rotate} {
		if acts := job.Deadline(kind) + job.Margin(kind) + partitionGrace; endedFor <= acts {
			t.Errorf("%s may act for %s", kind, acts)
		}
	}
	now := clocktesting.NewFakePassiveClock(time.Unix(1e9, 0))
	e := NewEnded(now)
	made := now.Now().Add(-time.Minute)
	pod := func(name string, phase corev1.PodPhase) *corev1.Pod {
		p := &corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
		p.CreationTimestamp.Time = made
		p.Namespace, p.Labels = "shop", map[string]string{batchv1.JobNameLabel: name}
		return p
	}
	e.See(pod("old", corev1.PodFailed))
	e.See(pod("running", corev1.PodRunning))
	if !e.saw("shop", "old", made) || e.saw("shop", "running", made) {
		t.Errorf("%v", e.jobs)
	}
	now.SetTime(now.Now().Add(endedFor + time.Second))
	e.See(pod("new", corev1.PodSucceeded))
	if e.saw("shop", "old", made) || !e.saw("shop", "new", made) || len(e.jobs) != 1 {
		t.Errorf("%v", e.jobs)
	}
	if e.saw("shop", "new", made.Add(time.Second)) {
		t.Error("a Job of that name that was created later is taken for the one that ended")
	}
}

// TestAJobGoesOnWithTheNextPod: one that was disrupted is followed by another.
func TestAJobGoesOnWithTheNextPod(t *testing.T) {
	e := NewEnded(clocktesting.NewFakePassiveClock(time.Unix(1e9, 0)))
	made := time.Unix(1e9, 0)
	see := func(after time.Duration, phase corev1.PodPhase) {
		p := &corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
		p.CreationTimestamp.Time = made.Add(after)
		p.Namespace, p.Labels = "shop", map[string]string{batchv1.JobNameLabel: "repair"}
		e.See(p)
	}
	see(0, corev1.PodFailed)
	see(time.Second, corev1.PodRunning)
	see(0, corev1.PodFailed)
	if e.saw("shop", "repair", made) {
		t.Error("the second pod runs")
	}
	see(time.Second, corev1.PodSucceeded)
	see(0, corev1.PodFailed)
	if !e.saw("shop", "repair", made) {
		t.Error("both have ended")
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// ofJobs are the events of Jobs that began or ended since.
func (t *transition) ofJobs() {
	for _, a := range t.after.ActiveJobs {
		known := slices.ContainsFunc(t.before.ActiveJobs, func(old v1alpha1.ActiveJob) bool { return old.Name == a.Name })
		if !known && (a.Kind == kindHandover || a.Kind == kindFailover || a.Kind == kindTakeover) {
			t.normal(v1alpha1.EventFailoverInitiated, "Started Job %s to make another pod the primary", a.Name)
		}
	}
	for _, j := range t.ended() {
		switch {
		case j.Succeeded():
			t.succeeded(j)
		case j.Kind == kindHandover || j.Kind == kindFailover || j.Kind == kindTakeover:
			if j.Outcome != nil && j.Outcome.Result == outcome.Deadline {
				t.warn(v1alpha1.EventFailoverTimeout, "Job %s: no other pod became the primary in time: %s", j.Name, j.said())
			} else if j.broke() {
				t.warn(v1alpha1.EventFailoverFailed, "Job %s: %s", j.Name, j.said())
			}
		case j.broke(), j.stuck():
			t.failed(j)
		}
	}
}

func (t *transition) succeeded(j *Job) {
	counts := j.Outcome.Counts
	switch j.Kind {
	case kindTakeover:
		t.normal(v1alpha1.EventReplicasTakenOver, "Promoted replicas without a vote, as most primaries were lost")
	case kindRepair:
		if counts["step.forget"] > 0 {
			t.normal(v1alpha1.EventStaleNodeForgotten, "Forgot nodes that are gone for good")
		}
		if counts["step.meet-again"] > 0 {
			t.normal(v1alpha1.EventStaleAddressesHealed, "Introduced nodes again that were at addresses which they left")
		}
	case kindApply:
		t.applied(counts)
	}
}

// applied tells what an apply Job has made and changed: its outcome counts by
// "created Service" and the like.
func (t *transition) applied(counts map[string]int64) {
	for _, e := range []struct{ count, reason, text string }{
		{"created Service", v1alpha1.EventServiceCreated, v1alpha1.TextServiceCreated},
		{"created ConfigMap", v1alpha1.EventConfigMapCreated, v1alpha1.TextConfigMapCreated},
		{"configured ConfigMap", v1alpha1.EventConfigMapUpdated, "Updated ConfigMap with configuration"},
		{"created PodDisruptionBudget", v1alpha1.EventPodDisruptionBudgetCreated, "Created PodDisruptionBudget"},
		{"configured PodDisruptionBudget", v1alpha1.EventPodDisruptionBudgetUpdated, "Updated PodDisruptionBudget"},
		{"deleted PodDisruptionBudget", v1alpha1.EventPodDisruptionBudgetDeleted, "Deleted PodDisruptionBudget"},
	} {
		if counts[e.count] > 0 {
			t.normal(e.reason, "%s", e.text)
		}
	}
}

// failed tells of a Job that did not do what it was for.
func (t *transition) failed(j *Job) {
	step := ""
	if j.Outcome != nil {
		step = j.Outcome.Reason
	}
	switch j.Kind {
	case kindBootstrap, kindRepair:
		switch step {
		case "assign":
			t.warn(v1alpha1.EventSlotAssignmentFailed, "Failed to assign slots: %s", j.said())
		case "attach":
			t.warn(v1alpha1.EventReplicaCreationFailed, v1alpha1.TextReplicaCreationFailed, j.said())
		case "forget":
			t.warn(v1alpha1.EventNodeForgetFailed, "Failed to forget a node: %s", j.said())
		default:
			t.warn(v1alpha1.EventClusterMeetFailed, "%s", j.said())
		}
	case kindRebalance, kindReshard:
		t.warn(v1alpha1.EventSlotRebalanceFailed, "Failed to move slots: %s", j.said())
	case kindDrain:
		t.warn(v1alpha1.EventDrainFailed, "Failed to drain: %s", j.said())
	case kindApply:
		switch step {
		case v1alpha1.ReasonServiceError:
			t.warn(v1alpha1.EventServiceUpdateFailed, "%s", j.said())
		case v1alpha1.ReasonConfigMapError:
			t.warn(v1alpha1.EventConfigMapUpdateFailed, "%s", j.said())
		}
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// TestEventsOfJobsFollowWhatTheyLeft: the counters that a Job writes, and the step at which it
// ran out of time.
func TestEventsOfJobsFollowWhatTheyLeft(t *testing.T) {
	for name, c := range map[string]struct {
		kind string
		left outcome.Outcome
		want string
	}{
		"nodes are forgotten":    {"repair", outcome.Outcome{Result: outcome.Converged, Counts: map[string]int64{"step.forget": 1}}, v1alpha1.EventStaleNodeForgotten},
		"addresses are healed":   {"repair", outcome.Outcome{Result: outcome.Converged, Counts: map[string]int64{"step.meet-again": 2}}, v1alpha1.EventStaleAddressesHealed},
		"nothing was wrong":      {"repair", outcome.Outcome{Result: outcome.Converged, Counts: map[string]int64{"step.meet": 2}}, ""},
		"no time, slots":         {"bootstrap", outcome.Outcome{Result: outcome.Deadline, Reason: "assign"}, v1alpha1.EventSlotAssignmentFailed},
		"no time, replicas":      {"repair", outcome.Outcome{Result: outcome.Deadline, Reason: "attach"}, v1alpha1.EventReplicaCreationFailed},
		"no time, old members":   {"repair", outcome.Outcome{Result: outcome.Deadline, Reason: "forget"}, v1alpha1.EventNodeForgetFailed},
		"no time, nothing wrong": {"repair", outcome.Outcome{Result: outcome.Deadline}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := healthy(t, cacheSpec)
			w.compute()
			c.left.Kind = c.kind
			j := ended(c.kind, 1, &c.left)
			w.c.Status.ActiveJobs = []v1alpha1.ActiveJob{{Name: j.Name, Kind: c.kind}}
			w.o.Jobs = []Job{j}
			r := Compute(w.c, w.o, w.now)
			var got []string
			for _, e := range r.Events {
				if slices.Contains([]string{
					v1alpha1.EventStaleNodeForgotten, v1alpha1.EventStaleAddressesHealed, v1alpha1.EventSlotAssignmentFailed,
					v1alpha1.EventReplicaCreationFailed, v1alpha1.EventNodeForgetFailed, v1alpha1.EventClusterMeetFailed,
				}, e.Reason) {
					got = append(got, e.Reason)
				}
			}
			if want := slices.DeleteFunc([]string{c.want}, func(s string) bool { return s == "" }); !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
			if len(r.Measured.Ended) != 1 || r.Measured.Ended[0].Name != j.Name {
				t.Errorf("counted %+v", r.Measured.Ended)
			}
			w.c.Status = r.Status
			if again := Compute(w.c, w.o, w.now); len(again.Measured.Ended) != 0 {
				t.Errorf("counted twice: %+v", again.Measured.Ended)
			}
		})
	}
}

// TestActionsTellWhenTheyBeginAndEnd, once.
func TestActionsTellWhenTheyBeginAndEnd(t *testing.T) {
	w := healthy(t, cacheSpec)
	at := metav1.NewTime(noon)
	step := func(result, want string) {
		t.Helper()
		w.o.Actions = []v1alpha1.ActionStatus{{Name: "restart", Token: "1", StartedAt: &at, Result: result, Message: "words"}}
		for _, expected := range []string{want, ""} {
			r := Compute(w.c, w.o, w.now)
			got := ""
			for _, e := range r.Events {
				if e.Reason == v1alpha1.EventActionStarted || e.Reason == v1alpha1.EventActionSucceeded || e.Reason == v1alpha1.EventActionFailed {
					got += e.Reason
				}
			}
			if got != expected {
				t.Errorf("%s: %q, want %q", result, got, expected)
			}
			w.c.Status = r.Status
		}
	}
	step(v1alpha1.ActionRunning, v1alpha1.EventActionStarted)
	step(v1alpha1.ActionSucceeded, v1alpha1.EventActionSucceeded)
	at = metav1.NewTime(noon.Add(1e9))
	step(v1alpha1.ActionRunning, v1alpha1.EventActionStarted)
	step(v1alpha1.ActionFailed, v1alpha1.EventActionFailed)
}

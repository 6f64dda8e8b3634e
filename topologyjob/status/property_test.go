// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"regexp"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// TestWhateverHappensThereIsOneStatus goes from one status to the next, and looks at each.
func TestWhateverHappensThereIsOneStatus(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spec := rapid.SampledFrom(specs()).Draw(rt, "spec")
		w := specified(t, spec)
		if rapid.Bool().Draw(rt, "rendered") {
			w = rendered(t, spec)
			if rapid.Bool().Draw(rt, "running") {
				w.pods()
				w.survey()
			}
		}
		for range rapid.IntRange(1, 6).Draw(rt, "looks") {
			happen(rt, w)
			if rapid.Bool().Draw(rt, "two") {
				happen(rt, w)
			}
			w.past(time.Duration(rapid.IntRange(1, 60).Draw(rt, "seconds")) * time.Second)
			before, seen := w.c.DeepCopy(), cmp.Diff(nil, w.o)
			r := w.compute()
			if diff := cmp.Diff(before, w.c); diff != "" || cmp.Diff(nil, w.o) != seen {
				rt.Fatalf("the input was changed: %s", diff)
			}
			holds(rt, w, r)
			settles(rt, w, r)
		}
	})
}

// reasonForm is what the API server asks of reasons.
var reasonForm = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// holds checks what is true of every status.
func holds(t *rapid.T, w *world, r Result) {
	documented(t, r)
	inOrder(t, "cluster", r.Status.Conditions, w.c.Status.Conditions, w.c.Generation)
	for _, n := range r.Nodes {
		var before []metav1.Condition
		for _, old := range w.o.Nodes {
			if old.Name == n.Name {
				before = old.Status.Conditions
			}
		}
		inOrder(t, n.Name, n.Status.Conditions, before, 1)
	}
	oneState(t, w, r.Status)
	agree(t, w, r.Status)
	for _, e := range r.Events {
		if len(e.Message) > most || !utf8.ValidString(e.Message) || e.Message == "" {
			t.Fatalf("%+v", e)
		}
	}
}

// inOrder: every type once, in the fixed order, with a transition when the status changed.
func inOrder(t *rapid.T, about string, now, before []metav1.Condition, generation int64) {
	last := -1
	for _, c := range now {
		at := slices.Index(order(), c.Type)
		if at <= last {
			t.Fatalf("%s: %s is out of order", about, c.Type)
		}
		last = at
		if !reasonForm.MatchString(c.Reason) || len(c.Message) > most || !utf8.ValidString(c.Message) || c.ObservedGeneration != generation || c.LastTransitionTime.IsZero() {
			t.Fatalf("%s: %+v", about, c)
		}
		old := find(before, c.Type)
		if kept := old != nil && old.Status == c.Status; kept != (old != nil && old.LastTransitionTime.Equal(&c.LastTransitionTime)) {
			t.Fatalf("%s: %s: transition at %s, before at %+v", about, c.Type, c.LastTransitionTime, old)
		}
	}
}

// is reports whether a condition has a status.
func is(s v1alpha1.ValkeyClusterStatus, kind, value string) bool {
	c := find(s.Conditions, kind)
	return c != nil && string(c.Status) == value
}

func oneState(t *rapid.T, w *world, s v1alpha1.ValkeyClusterStatus) {
	want := v1alpha1.StateFailed
	switch {
	case w.c.Spec.Hibernate && !slices.ContainsFunc(w.o.Pods, func(p Pod) bool { return !p.Sentinel }):
		want = v1alpha1.StateHibernated
	case is(s, "Degraded", "True"):
		want = v1alpha1.StateDegraded
	case is(s, "Ready", "True"):
		want = v1alpha1.StateReady
	case is(s, "Progressing", "True"):
		want = v1alpha1.StateReconciling
	}
	if s.State != want || s.Reason == "" || s.Message == "" || len(s.Message) > most {
		t.Fatalf("%s %s %q, want %s", s.State, s.Reason, s.Message, want)
	}
}

// agree: no two conditions contradict each other.
func agree(t *rapid.T, w *world, s v1alpha1.ValkeyClusterStatus) {
	for _, kind := range []string{"Degraded", "ConfigurationWarning", "PrunePending", "Reconciling", "Stalled"} {
		if is(s, kind, "False") {
			t.Fatalf("%s is False, not absent", kind)
		}
	}
	for kind, value := range map[string]string{"Available": "True", "ClusterFormed": "True", "ShardsHealthy": "True", "Progressing": "False"} {
		if is(s, "Ready", "True") && !is(s, kind, value) {
			t.Fatalf("Ready, and yet: %+v", s.Conditions)
		}
	}
	if is(s, "Ready", "True") && (is(s, "Degraded", "True") || is(s, "Stalled", "True")) || is(s, "Reconciling", "True") && is(s, "Stalled", "True") {
		t.Fatalf("contradiction: %+v", s.Conditions)
	}
	if (find(s.Conditions, "SlotsAssigned") != nil) != w.defaulted().IsCluster() || find(s.Conditions, "Ready") == nil || find(s.Conditions, "Progressing") == nil {
		t.Fatalf("%+v", s.Conditions)
	}
	if w.c.Status.ClusterInitialized && !s.ClusterInitialized || s.JobSerial < w.c.Status.JobSerial || s.ReadyShards > s.Shards || s.ObservedGeneration != w.c.Generation {
		t.Fatalf("%+v", s)
	}
}

// settles: nothing comes of looking at the same again, now or whenever there is no reason to
// look again; and writes the status.
func settles(t *rapid.T, w *world, r Result) {
	w.write(r)
	for _, later := range []time.Duration{0, time.Hour} {
		if later > 0 && r.Recheck > 0 {
			continue
		}
		then := *w
		then.past(later)
		again := then.compute()
		if len(again.Events) > 0 {
			t.Fatalf("told twice: %v", told(again.Events))
		}
		if diff := cmp.Diff(r.Status, again.Status); diff != "" {
			t.Fatalf("changed by itself after %s:\n%s", later, diff)
		}
		if diff := cmp.Diff(r.Nodes, again.Nodes); diff != "" {
			t.Fatalf("a node changed by itself after %s:\n%s", later, diff)
		}
	}
}

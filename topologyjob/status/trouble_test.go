// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// trouble is what becomes of a healthy cluster.
type trouble struct {
	// spec it has, cacheSpec when "".
	spec string
	// change is what happens to it.
	change func(*world)
	// state and reason that it gets.
	state  v1alpha1.ClusterState
	reason string
	// conditions as "Type: Status Reason", or "Type:" for one that is absent.
	conditions []string
	// says are parts of the message of the state.
	says []string
	// events that are told, in order, but for those of every change of readiness.
	events []string
}

func (tr trouble) check(t *testing.T, w *world) {
	t.Helper()
	tr.change(w)
	r := w.compute()
	documented(t, r)
	s := r.Status
	if s.State != tr.state || s.Reason != tr.reason {
		t.Errorf("%s %s: %s, want %s %s", s.State, s.Reason, s.Message, tr.state, tr.reason)
	}
	for _, want := range tr.conditions {
		kind, value, _ := strings.Cut(want, ":")
		if got := says(s.Conditions, kind); got != strings.TrimSpace(value) {
			t.Errorf("%s: %q, want %q (%+v)", kind, got, strings.TrimSpace(value), find(s.Conditions, kind))
		}
	}
	for _, part := range tr.says {
		if !strings.Contains(s.Message, part) {
			t.Errorf("%q does not say %q", s.Message, part)
		}
	}
	if got := told(r.Events); !slices.Equal(got, tr.events) {
		t.Errorf("events %v, want %v", got, tr.events)
	}
	w.write(r)
	if again := w.compute(); len(again.Events) > 0 {
		t.Errorf("told twice: %v", told(again.Events))
	}
}

func judge(t *testing.T, troubles map[string]trouble) {
	t.Helper()
	for _, title := range slices.Sorted(maps.Keys(troubles)) {
		t.Run(title, func(t *testing.T) {
			tr := troubles[title]
			if tr.spec == "" {
				tr.spec = cacheSpec
			}
			tr.check(t, healthy(t, tr.spec))
		})
	}
}

func ended(kind string, serial int64, o *outcome.Outcome) Job {
	return Job{Name: "c-" + kind + "-1", Kind: kind, Serial: serial, Attempt: 1, Phase: JobEnded, Started: noon, Outcome: o}
}

func failedWith(message string) *outcome.Outcome {
	return &outcome.Outcome{Kind: "x", Result: outcome.Failed, Message: message}
}

// past lets time pass.
func (w *world) past(d time.Duration) { w.now = w.now.Add(d) }

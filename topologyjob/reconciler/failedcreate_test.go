// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestWhyPodsAreNotMade is what the newest event of the StatefulSet says, unless a pod was
// made since, or nobody has tried for long.
func TestWhyPodsAreNotMade(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	event := func(set, note string, ago time.Duration) eventsv1.Event {
		return eventsv1.Event{
			Reason: "FailedCreate", Regarding: corev1.ObjectReference{Kind: "StatefulSet", Name: set}, Note: note,
			DeprecatedLastTimestamp: metav1.NewTime(now.Add(-ago)),
		}
	}
	const quota, other = `pods "c-0-1" is forbidden: exceeded quota: small`, `pods "c-0-1" is forbidden: a policy`
	said := "create Pod c-0-1 in StatefulSet c-0 failed error: "
	series := event("c-0", said+quota, time.Hour)
	series.Series = &eventsv1.EventSeries{Count: 9, LastObservedTime: metav1.NewMicroTime(now.Add(-time.Minute))}
	for what, test := range map[string]struct {
		list []eventsv1.Event
		want string
	}{
		"none":                 {nil, ""},
		"of another":           {[]eventsv1.Event{event("c-1", said+quota, 0)}, ""},
		"one":                  {[]eventsv1.Event{event("c-0", said+quota, time.Minute)}, quota},
		"several in one":       {[]eventsv1.Event{event("c-0", "(combined from similar events): "+said+quota, time.Minute)}, quota},
		"other words":          {[]eventsv1.Event{event("c-0", "no", time.Minute)}, "no"},
		"the newest":           {[]eventsv1.Event{event("c-0", said+quota, time.Minute), event("c-0", said+other, time.Second), event("c-0", said+quota, time.Hour)}, other},
		"told again and again": {[]eventsv1.Event{series}, quota},
		"before the last pod":  {[]eventsv1.Event{event("c-0", said+quota, 16*time.Minute)}, ""},
		"another reason":       {[]eventsv1.Event{{Reason: "SuccessfulCreate", Regarding: corev1.ObjectReference{Name: "c-0"}, EventTime: metav1.NewMicroTime(now)}}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			if got := refusedPod(test.list, "c-0", now.Add(-15*time.Minute), now); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
	if got := refusedPod([]eventsv1.Event{event("c-0", said+quota, time.Hour)}, "c-0", now.Add(-2*time.Hour), now); got != "" {
		t.Errorf("after an hour: %q", got)
	}
}

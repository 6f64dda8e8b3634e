// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// patience is how soon to look again at what is waited for: at once when it has just begun,
// and less and less often the longer it takes.
func (in Input) patience() time.Duration {
	since := in.Cluster.CreationTimestamp.Time
	if c := in.condition(v1alpha1.ConditionReady); c != nil {
		since = c.LastTransitionTime.Time
	}
	return in.backoff(since)
}

// backoff is how soon to look again at what has been waited for since a time.
func (in Input) backoff(since time.Time) time.Duration { return max(soonest, in.Now.Sub(since)/20) }

// condition is one of the status, nil when it has none.
func (in Input) condition(kind string) *metav1.Condition {
	for i := range in.Cluster.Status.Conditions {
		if c := &in.Cluster.Status.Conditions[i]; c.Type == kind {
			return c
		}
	}
	return nil
}

// begins reports whether what keeps a cluster from being ready is not in its status yet.
func (in Input) begins() bool {
	c := in.condition(v1alpha1.ConditionReady)
	return c != nil && c.Status == metav1.ConditionTrue
}

// headless is how soon to look again at servers of which none, or more than one, is the
// primary.
func (in Input) headless() time.Duration {
	if in.begins() {
		return soonest
	}
	after := in.patience()
	if c := in.condition(v1alpha1.ConditionAvailable); c != nil {
		after = min(after, in.backoff(c.LastTransitionTime.Time))
	}
	return after
}

// rolling is how soon to look again at a roll: no event tells that a server answers, or that
// a replica has caught up. Each pod that is replaced, and each Job, is a new start.
func (in Input) rolling() time.Duration {
	if in.begins() {
		return soonest
	}
	after := in.patience()
	for i := range in.Seen.Pods {
		after = min(after, in.backoff(in.Seen.Pods[i].Created))
	}
	for i := range in.Jobs {
		after = min(after, in.backoff(in.Jobs[i].Created))
	}
	return after
}

// evicting is how soon at the latest to evict a pod again: no event tells that its budget
// allows it by now.
const evicting = 5 * time.Second

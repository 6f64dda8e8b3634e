// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/valkey-render/valkey-render/topologyjob/job"
)

// Ended remembers the Jobs whose last pods were seen terminated. When somebody deletes a Job, its
// pod is gone soon after it has ended, and that it has ended is all that matters: without it
// the next Job has to wait until the deadline of the one that was deleted. A restart of the
// reconciler forgets it, and only costs that wait.
type Ended struct {
	clock clock.PassiveClock
	mu    sync.Mutex
	jobs  map[types.NamespacedName]ending
	swept time.Time
}

// ending is when the newest pod of a Job was created, when it was seen last, and whether it
// had terminated.
type ending struct {
	created, seen time.Time
	ended         bool
}

// endedFor is how long a Job is remembered: longer than any may act. sweepEvery is how often
// those are dropped that are older.
const (
	endedFor   = 2 * time.Hour
	sweepEvery = 10 * time.Minute
)

// NewEnded remembers nothing yet.
func NewEnded(c clock.PassiveClock) *Ended {
	return &Ended{clock: c, jobs: map[types.NamespacedName]ending{}, swept: c.Now()}
}

// See takes a pod over that was seen.
func (e *Ended) See(p *corev1.Pod) {
	of := types.NamespacedName{Namespace: p.Namespace, Name: p.Labels[batchv1.JobNameLabel]}
	if of.Name == "" {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	made := p.CreationTimestamp.Time
	if made.Before(e.jobs[of].created) {
		return // it was disrupted, and has a successor
	}
	now := e.clock.Now()
	e.jobs[of] = ending{created: made, seen: now, ended: job.Terminated(p)}
	e.sweep(now)
}

func (e *Ended) sweep(now time.Time) {
	if now.Sub(e.swept) < sweepEvery {
		return
	}
	e.swept = now
	for job, end := range e.jobs {
		if now.Sub(end.seen) > endedFor {
			delete(e.jobs, job)
		}
	}
}

// saw reports whether the pod of a Job that was created at a time was seen terminated. One
// that was created before was the pod of another Job, of a cluster of that name that is gone.
func (e *Ended) saw(namespace, job string, created time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	end, seen := e.jobs[types.NamespacedName{Namespace: namespace, Name: job}]
	return seen && end.ended && !end.created.Before(created)
}

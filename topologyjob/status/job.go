// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// Phase is where a Job is in its life.
type Phase string

// Phases of a Job.
const (
	// JobActive: its pod may run.
	JobActive Phase = "Active"
	// JobEnded: its pod was seen terminated, or can no longer run.
	JobEnded Phase = "Ended"
	// JobGone: it is in status.activeJobs, and a read past the cache has not found it.
	JobGone Phase = "Gone"
)

// Job is a Job of the cluster. One that is in status.activeJobs and in no Observed.Jobs
// stays there: it may be about to be created, or the cache may be behind.
type Job struct {
	// Name and Kind of it: name.Job(cluster, Kind, Serial).
	Name   string
	Kind   string
	Serial int64
	// Attempt counts from 1 for the same input.
	Attempt int32
	// Phase it is in.
	Phase Phase
	// Started is when it was created, Ended when it ended.
	Started, Ended time.Time
	// Outcome that its pod left. Nil while it runs, and when it left none: then Failure
	// says what Kubernetes knows of it.
	Outcome *outcome.Outcome
	Failure string
	// Superseded is whether it was for an input that is no longer wanted, so that how it
	// ended says nothing any more.
	Superseded bool
	// Final is whether it is not tried again for the same input.
	Final bool
}

// Succeeded reports whether it ended well.
func (j *Job) Succeeded() bool {
	return j.Phase == JobEnded && j.Outcome != nil && j.Outcome.Result == outcome.Converged
}

// Start is a Job about to be created.
type Start struct {
	Name    string
	Kind    string
	Serial  int64
	Attempt int32
}

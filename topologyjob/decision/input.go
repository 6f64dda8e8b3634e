// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/status"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Input is what a decision is made of.
type Input struct {
	// Now is the moment at which all of it was seen.
	Now time.Time
	// Cluster has its defaults, and its status as it was read.
	Cluster *v1alpha1.ValkeyCluster
	// Invalid says what is wrong with the spec, "" when nothing is.
	Invalid string
	// Seen is what was seen of its objects and servers.
	Seen *status.Observed
	// Asked are the pods that Seen.View is of, Sentinels those with sentinels.
	Asked, Sentinels []survey.Pod
	// Jobs are those that exist.
	Jobs []job.Record
	// Tokens tell what is wanted of servers that run, by kind of Job; a kind that is not in
	// it has nothing to set.
	Tokens map[string]string
	// Refreshed are the tokens of pods whose volumes were brought up to date, by name.
	Refreshed map[string]string
	// Unborn are Jobs that are in the status and were never created, by name.
	Unborn map[string]int64
	// LockedOut is whether servers run whose passwords are gone: new ones would only keep
	// everybody out.
	LockedOut bool
	// Passwords is what is known of passwords that change.
	Passwords Passwords
	// Secrets is how many of the cluster's Secrets are to be written.
	Secrets int
	// Resync is how long it takes to look again when nothing happens.
	Resync time.Duration
}

// Decision is what to do. Everything in it may be done at once, in the order of the fields;
// what was done is seen by the next decision.
type Decision struct {
	// Secrets is whether the Secrets of the cluster are to be written.
	Secrets bool
	// Stop are Jobs to delete: those with nothing more to tell, and one that gives way.
	Stop []job.Record
	// Start are Jobs to create once their numbers are in the status: one that changes the
	// topology at most, and one beside it.
	Start []Start
	// Ordered are the inputs of all Jobs that are wanted now, those that have to wait included.
	Ordered []string
	// Refresh are pods whose volumes are to be brought up to date at once.
	Refresh []Refresh
	// Reload is whether exporters are to read their password again.
	Reload bool
	// Applied is what status.applied is to be.
	Applied []v1alpha1.AppliedStatus
	// Actions are those of status.actions that begin or end now.
	Actions []v1alpha1.ActionStatus
	// Labels are pods whose role label is to be another, in this order: nobody else is the
	// primary by label before the one that was no longer is.
	Labels []Label
	// Evict are pods to replace, each after another look at its shard.
	Evict []Eviction
	// Release are shards, emptied, whose StatefulSets are to be deleted.
	Release []int32
	// Drained is what status.drainedShards is to be.
	Drained []int32
	// Next tells the status what is being done.
	Next status.Next
	// After is when to look again if nothing happens before.
	After time.Duration
}

// Start is a Job to create.
type Start struct {
	job.Order
	Serial  int64
	Attempt int32
}

// Eviction is a pod to replace.
type Eviction struct {
	Pod, UID string
	Why      string
	// Grace is what the pod has to end, 0 for what its spec says.
	Grace time.Duration
}

// Refresh is a token for a pod.
type Refresh struct{ Pod, UID, Token string }

// Label is a role for a pod.
type Label struct {
	Pod, UID string
	Role     v1alpha1.NodeRole
}

// soonest is the shortest time after which to look again.
const soonest = 250 * time.Millisecond

// sooner brings the next look forward.
func (d *Decision) sooner(after time.Duration) {
	d.After = min(d.After, max(after, soonest))
}

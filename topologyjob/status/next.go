// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
)

// Work is what is being done to a cluster, or is about to be.
type Work string

// What may be done.
const (
	// WorkApply applies the rendered objects.
	WorkApply Work = "apply"
	// WorkForm forms the cluster for the first time.
	WorkForm Work = "form"
	// WorkJoin lets nodes join, attaches replicas, or gives slots to an owner.
	WorkJoin Work = "join"
	// WorkMove moves slots, to new shards or off those that go.
	WorkMove Work = "move"
	// WorkFailover makes another pod the primary.
	WorkFailover Work = "failover"
	// WorkRoll replaces pods.
	WorkRoll Work = "roll"
	// WorkSet sets live directives, users or certificates on running servers.
	WorkSet Work = "set"
	// WorkOther is anything else that changes the cluster.
	WorkOther Work = "other"
)

// Next is what was decided to do.
type Next struct {
	// Work that is running or about to be started, whether by a Job or not.
	Work []Work
	// Start are Jobs that are created when the status is written: their names and the
	// serial are in it before.
	Start []Start
	// Waiting says what has to happen by itself, each a clause such as "pod c-0-1 is
	// loading its data".
	Waiting []string
	// Blocked, when not nil, is why nothing is done though something should be.
	Blocked *Blocked
	// RollRefused says why pods that run an older template must not be replaced: it would
	// lose data, or they would not start.
	RollRefused string
	// RestartWouldFail, when not "", says why a server would not start with its files.
	RestartWouldFail string
}

// Blocked is why nothing is done without somebody's decision.
type Blocked struct {
	// Reason is one of the reasons of Degraded, v1alpha1.ReasonJobBlocked for what has none
	// of its own.
	Reason  string
	Message string
}

// BlockedBy is what blocks a plan, nil when nothing does.
func BlockedBy(p plan.Plan) *Blocked {
	if p.Blocked == nil {
		return nil
	}
	reason := string(p.Blocked.Reason)
	if p.Blocked.Reason == plan.BadReshard {
		reason = v1alpha1.ReasonJobBlocked
	}
	return &Blocked{Reason: reason, Message: p.Blocked.Message}
}

// WaitingFor is what a plan waits for.
func WaitingFor(p plan.Plan) []string {
	var waiting []string
	for _, w := range p.Waiting {
		waiting = append(waiting, w.Message)
	}
	return waiting
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package replication

import (
	"fmt"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Elect makes a server the primary that is none yet, when there is no other.
type Elect struct {
	plan.Because
	Server plan.Ref
	// Forming is whether the topology is formed: all servers must still be empty.
	Forming bool
	// Others are the pods that answered and must not be primaries.
	Others []plan.Ref
	// Away are the pods that did not answer and must still not.
	Away []string
	// Detection is for how long it must not have heard from a primary.
	Detection time.Duration
}

// Kind implements plan.Step.
func (Elect) Kind() string { return "elect" }

func (s Elect) String() string { return "promote " + s.Server.Pod }

// Attach makes servers replicate the primary.
type Attach struct {
	plan.Because
	Primary  plan.Ref
	Replicas []plan.Ref
	// Chosen is whether a human said whose data to keep: what the others have is given up.
	Chosen bool
}

// Kind implements plan.Step.
func (Attach) Kind() string { return "attach" }

func (s Attach) String() string {
	if len(s.Replicas) == 1 {
		return fmt.Sprintf("attach %s to %s", s.Replicas[0].Pod, s.Primary.Pod)
	}
	return fmt.Sprintf("attach %d replicas to %s", len(s.Replicas), s.Primary.Pod)
}

// Fence makes an empty primary follow nobody that exists, so that nobody copies it.
type Fence struct {
	plan.Because
	Server plan.Ref
}

// Kind implements plan.Step.
func (Fence) Kind() string { return "fence" }

func (s Fence) String() string { return "fence " + s.Server.Pod }

// Settle waits for a FAILOVER that is under way, and aborts one that does not end.
type Settle struct {
	plan.Because
	Server plan.Ref
}

// Kind implements plan.Step.
func (Settle) Kind() string { return "settle" }

func (s Settle) String() string { return "see the FAILOVER of " + s.Server.Pod + " to its end" }

// Handover makes a replica the primary without losing a write: by FAILOVER, or by the
// sentinels while writes are paused.
type Handover struct {
	plan.Because
	Primary, Replica plan.Ref
	// Sentinels, when there are any, do it; one of these is asked.
	Sentinels []plan.Ref
}

// Kind implements plan.Step.
func (Handover) Kind() string { return string(plan.Handover) }

func (s Handover) String() string {
	if len(s.Sentinels) > 0 {
		return fmt.Sprintf("hand over from %s by Sentinel", s.Primary.Pod)
	}
	return fmt.Sprintf("hand over from %s to %s", s.Primary.Pod, s.Replica.Pod)
}

// Watch makes sentinels watch the primary, each with the same settings.
type Watch struct {
	plan.Because
	Primary plan.Ref
	Quorum  int
	// Sentinels are those that watch nothing, something else, or with other settings.
	Sentinels []plan.Ref
}

// Kind implements plan.Step.
func (Watch) Kind() string { return "watch" }

func (s Watch) String() string {
	return fmt.Sprintf("have %d sentinels watch %s with quorum %d", len(s.Sentinels), s.Primary.Pod, s.Quorum)
}

// Unwatch takes the primary from the sentinels, so that none of them promotes anybody.
type Unwatch struct {
	plan.Because
	Sentinels []plan.Ref
	// Watched is what they watch in vain.
	Watched survey.Endpoint
}

// Kind implements plan.Step.
func (Unwatch) Kind() string { return "unwatch" }

func (s Unwatch) String() string {
	return fmt.Sprintf("have %d sentinels watch nothing", len(s.Sentinels))
}

// Reset makes one sentinel forget what it knows and find it again.
type Reset struct {
	plan.Because
	Sentinel plan.Ref
	// Replicas and Sentinels are how many of each it has to find again.
	Replicas, Sentinels int
}

// Kind implements plan.Step.
func (Reset) Kind() string { return "reset" }

func (s Reset) String() string { return "reset " + s.Sentinel.Pod }

// Prioritize sets replica-priority: a sentinel does not promote a replica with 0.
type Prioritize struct {
	plan.Because
	Servers  []plan.Ref
	Priority int
}

// Kind implements plan.Step.
func (Prioritize) Kind() string { return "priority" }

func (s Prioritize) String() string {
	return fmt.Sprintf("set replica-priority %d on %d pods", s.Priority, len(s.Servers))
}

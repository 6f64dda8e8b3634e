// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"time"

	rendered "github.com/valkey-render/valkey-render/render/job"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
)

// Kinds of Jobs, as valkey-topology run --kind takes them.
const (
	Bootstrap = string(converge.Bootstrap)
	Repair    = string(converge.Repair)
	Rebalance = string(converge.Rebalance)
	Reshard   = string(converge.Reshard)
	Drain     = string(converge.Drain)
	Handover  = string(converge.Handover)
	Failover  = string(converge.Failover)
	Takeover  = string(converge.Takeover)
	// LiveConfig, ACL and TLS set something on servers that run.
	LiveConfig = rendered.KindLiveConfig
	ACL        = rendered.KindACL
	TLS        = rendered.KindTLS
	// Rotate does a step of a rotation of passwords, and sets users.
	Rotate = rendered.KindRotate
	// Apply renders the cluster and applies what comes out.
	Apply = rendered.KindApply
)

// traits of a kind of Job.
type traits struct {
	deadline, margin time.Duration
	// moves says that it moves slots, and gives way to whoever replaces a primary.
	moves bool
	// urgent says that it replaces a primary, and waits for no Job that moves slots.
	urgent bool
	// beside says that it leaves the topology alone and may run beside others.
	beside bool
}

func traitsOf(kind string) traits {
	const scheduling = 2 * time.Minute
	switch kind {
	case Rebalance, Reshard, Drain:
		return traits{deadline: time.Hour, margin: 5 * time.Minute, moves: true}
	case Handover:
		return traits{deadline: time.Minute, margin: scheduling}
	case Failover, Takeover:
		return traits{deadline: time.Minute, margin: scheduling, urgent: true}
	case Bootstrap, Repair:
		return traits{deadline: 5 * time.Minute, margin: 5 * time.Minute}
	default:
		return traits{deadline: 5 * time.Minute, margin: 5 * time.Minute, beside: true}
	}
}

// Deadline is how long a pod of a kind works at most.
func Deadline(kind string) time.Duration { return traitsOf(kind).deadline }

// Margin is what a pod of a kind gets beside its deadline, to be scheduled and to stop.
func Margin(kind string) time.Duration { return traitsOf(kind).margin }

// Moves reports whether a kind moves slots: it gives way to an urgent one.
func Moves(kind string) bool { return traitsOf(kind).moves }

// Urgent reports whether a kind replaces a primary.
func Urgent(kind string) bool { return traitsOf(kind).urgent }

// Beside reports whether a kind leaves the topology alone: it may run beside others.
func Beside(kind string) bool { return traitsOf(kind).beside }

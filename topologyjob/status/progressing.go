// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// TextDraining begins the message of Progressing while slots move off shards that are to go.
// The health check of examples/gitops looks for it.
const TextDraining = "draining shard "

// progressing is whether something is being made, changed or moved.
func (x *computation) progressing() {
	const kind = v1alpha1.ConditionProgressing
	for _, look := range []func() *finding{x.starting, x.rollingNodes, x.moving, x.adding, x.applying, x.settling} {
		if f := look(); f != nil && !x.conditions.isTrue(v1alpha1.ConditionStalled) && !x.barred() {
			x.conditions.set(kind, true, *f)
			return
		}
	}
	message := v1alpha1.MessageReconcileComplete
	switch {
	case x.c.Spec.Suspend:
		message = "Nothing is started, as spec.suspend is true"
	case x.conditions.isTrue(v1alpha1.ConditionStalled), x.conditions.isTrue(v1alpha1.ConditionDegraded), x.barred():
		message = "Nothing is in progress"
	}
	x.conditions.set(kind, false, finding{v1alpha1.ReasonReconcileComplete, message})
}

// barred is whether the next Job is refused by the API server, so that nothing goes on.
func (x *computation) barred() bool {
	return slices.ContainsFunc(x.o.Failures, func(f Failure) bool { return f.Verb == VerbCreate && f.Kind == "Job" })
}

// halted is whether nothing is started, whatever there is to do.
func (x *computation) halted() bool { return x.o.Invalid != "" || x.c.Spec.Suspend }

// starting: the cluster is made for the first time, and nothing of it has joined yet.
func (x *computation) starting() *finding {
	if x.initialized || x.halted() || x.c.Spec.Hibernate || x.notRendered() != nil && len(x.sets) == 0 {
		return nil
	}
	switch {
	case len(x.sets) == 0:
		return &finding{v1alpha1.ReasonInitializing, "Creating the objects of the cluster"}
	case x.does(WorkForm, WorkJoin) || len(x.details) > 0:
		return nil
	}
	return &finding{v1alpha1.ReasonReconciling, v1alpha1.MessageCreatingShards}
}

func (x *computation) rollingNodes() *finding {
	if !x.rolling() {
		return nil
	}
	return &finding{v1alpha1.ReasonUpdatingNodes, "Pods are being replaced, replicas before primaries"}
}

// leaving are the shards that are to go and still own slots.
func (x *computation) leaving() []int32 {
	var list []int32
	for _, d := range x.details {
		if d.Index >= x.c.ShardCount() {
			list = append(list, d.Index)
		}
	}
	return list
}

// moving: slots move. A shard that is to go is drained until it is listed as drained.
func (x *computation) moving() *finding {
	leaving := x.leaving()
	switch {
	case len(leaving) > 0 && !x.halted():
		return &finding{v1alpha1.ReasonRebalancingSlots, TextDraining + numbers(leaving, 0)}
	case !x.does(WorkMove):
		return nil
	case x.moves():
		return &finding{v1alpha1.ReasonRebalancingSlots, messageMoving}
	}
	return &finding{v1alpha1.ReasonRebalancingSlots, messageMovePending}
}

const (
	messageMoving      = "Slots move between shards"
	messageMovePending = "Slots are to move when all nodes agree"
)

// moves is whether a Job that moves slots is there, or a migration in flight.
func (x *computation) moves() bool {
	for _, j := range x.o.Jobs {
		if j.Phase == JobActive && (j.Kind == kindRebalance || j.Kind == kindDrain || j.Kind == kindReshard) {
			return true
		}
	}
	for _, j := range x.o.Next.Start {
		if j.Kind == kindRebalance || j.Kind == kindDrain || j.Kind == kindReshard {
			return true
		}
	}
	return false
}

func (x *computation) adding() *finding {
	if x.does(WorkForm, WorkJoin) {
		return &finding{v1alpha1.ReasonAddingNodes, v1alpha1.MessageAddingNodes}
	}
	return nil
}

func (x *computation) applying() *finding {
	switch {
	case x.does(WorkApply):
		return &finding{v1alpha1.ReasonReconciling, "Applying the rendered objects"}
	case x.does(WorkFailover):
		return &finding{v1alpha1.ReasonReconciling, "Another pod is to be the primary"}
	case x.does(WorkSet):
		return &finding{v1alpha1.ReasonReconciling, "Setting directives, users or certificates on running servers"}
	case len(x.o.Next.Work) > 0:
		return &finding{v1alpha1.ReasonReconciling, "A change is in progress"}
	case x.c.Spec.Hibernate && x.anyPod():
		return &finding{v1alpha1.ReasonReconciling, "Pods are going away, as spec.hibernate asks"}
	case !x.c.Spec.Suspend && x.notRendered() == nil && x.o.Invalid == "" && !x.idle() && x.awaited():
		return &finding{v1alpha1.ReasonReconciling, messageAwaited}
	}
	return nil
}

// settling: pods start, replicas take their data, volumes grow, or servers find each other,
// by themselves.
func (x *computation) settling() *finding {
	if x.c.Spec.Hibernate || x.podTrouble() != nil {
		return nil
	}
	for _, look := range []func() string{x.startingPod, x.catchingUp, x.growing} {
		if text := look(); text != "" {
			return &finding{v1alpha1.ReasonReconciling, text}
		}
	}
	if x.c.Spec.Suspend || len(x.o.Next.Waiting) == 0 || x.whole() {
		return nil
	}
	return &finding{v1alpha1.ReasonReconciling, "Waiting: " + some(steady(x.o.Next.Waiting))}
}

// startingPod says which pod is missing or not ready.
func (x *computation) startingPod() string {
	for _, s := range x.sorted() {
		if s.Deleting || !s.Sentinel && s.Shard >= x.c.ShardCount() {
			continue
		}
		for index := range s.Replicas {
			pod := name.SentinelPod(x.c.Name, index)
			if !s.Sentinel {
				pod = name.Pod(x.c.Name, s.Shard, index)
			}
			if p := x.pods[pod]; p == nil || !p.Ready || p.Deleting {
				return "Waiting for pod " + pod
			}
		}
	}
	return ""
}

// catchingUp says which replica is on its way to be in sync.
func (x *computation) catchingUp() string {
	for i := range x.servers {
		s := &x.servers[i]
		pod := x.pods[s.Pod]
		switch {
		case !s.answered() || s.Role != v1alpha1.RoleReplica || s.LinkUp:
		case s.Syncing:
			return "Pod " + s.Pod + " takes the data of its primary"
		case pod != nil && !x.after(pod.Created, linkGrace):
			return "Pod " + s.Pod + " connects to its primary"
		}
	}
	return ""
}

// whole is whether the topology is as wanted.
func (x *computation) whole() bool {
	return x.conditions.isTrue(v1alpha1.ConditionClusterFormed) && x.conditions.isTrue(v1alpha1.ConditionShardsHealthy) && x.assigned()
}

// growing says that a volume grows.
func (x *computation) growing() string {
	for _, c := range x.claims() {
		if f, done := x.size(c); !done && f.reason != v1alpha1.ReasonPersistentVolumeClaimResizeInfeasible && c.Phase == "Bound" {
			return fmt.Sprintf("Claim %s grows", c.Name)
		}
	}
	return ""
}

// span is a length of time as Go prints it.
var span = regexp.MustCompile(`\b[0-9]+(\.[0-9]+)?(ns|µs|ms|s|m|h)([0-9]+(\.[0-9]+)?(ms|s|m))*\b`)

// steady takes lengths of time out of texts: a status that counts seconds is written every
// time.
func steady(list []string) []string {
	var out []string
	for _, text := range list {
		out = append(out, span.ReplaceAllString(text, "a while"))
	}
	return out
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"slices"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/status"
)

// Decide says what to do.
func Decide(in Input) Decision {
	d := Decision{After: in.Resync, Drained: in.unwanted(), Applied: in.applied()}
	if in.Invalid != "" {
		return d
	}
	d.Stop = job.Superseded(in.Jobs, in.Now)
	in.outrun(&d)
	if in.Cluster.Spec.Suspend || in.Cluster.EffectiveJobs() == v1alpha1.JobsRendered {
		return d
	}
	in.begin(&d)
	if in.LockedOut {
		d.Next.Blocked = &status.Blocked{Reason: v1alpha1.ReasonJobBlocked, Message: fmt.Sprintf(
			"Secret %s is gone, and servers run that take no other passwords: restore it from a backup; or, where the data is persisted or may go, delete Secret %s and all pods of the cluster, and they start with new passwords",
			name.SystemSecret(in.Cluster.Name), name.ACLSecret(in.Cluster.Name))}
		return d
	}
	in.rotation(&d)
	in.follow(&d)
	if in.Secrets > 0 {
		d.Secrets = true
		d.sooner(soonest)
	}
	in.deliver(&d)
	if in.Cluster.Spec.Hibernate {
		return d
	}
	if len(in.Seen.StatefulSets) == 0 {
		d.Next.Waiting = append(d.Next.Waiting, "nothing is rendered for this cluster yet")
		return d
	}
	in.servers(&d)
	in.settings(&d)
	return d
}

// wait says what has to happen by itself.
func (d *Decision) wait(after time.Duration, format string, args ...any) {
	d.Next.Waiting = append(d.Next.Waiting, fmt.Sprintf(format, args...))
	d.sooner(after)
}

// start starts a Job that changes the topology, as soon as it may.
func (in Input) start(d *Decision, o job.Order) {
	if spent := in.launch(d, o); spent != nil {
		d.Next.Blocked = &status.Blocked{Reason: v1alpha1.ReasonJobBlocked, Message: spentMessage(spent)}
	}
}

// launch is start for one that does not block everything: it returns the last Job when
// there were enough.
func (in Input) launch(d *Decision, o job.Order) *job.Record {
	d.Next.Work = append(d.Next.Work, workOf(o.Kind))
	d.Ordered = append(d.Ordered, o.Input())
	if called := in.missing(topological); called != "" {
		d.unseen(called)
		return nil
	}
	if r := in.working(); r != nil {
		switch pod := in.newer(r.Pods); {
		case pod != "" && !r.Over() && !r.Leaving:
			// It would wait for what the pod was before until its deadline.
			d.stop(r)
			d.wait(time.Second, "Job %s, which does not know pod %s as it is now, gives way to %s", r.Name, pod, o.Kind)
		case job.Urgent(o.Kind) && job.Moves(r.Kind) && !r.Leaving:
			d.stop(r)
			d.wait(time.Second, "Job %s gives way to %s", r.Name, o.Kind)
		default:
			d.wait(r.ActsUntil.Sub(in.Now), "Job %s works", r.Name)
		}
		return nil
	}
	return in.create(d, o)
}

// newer is the first pod of a list that has another address now, or the first that it has,
// "" for none.
func (in Input) newer(pods []job.Told) string {
	for _, p := range slices.Concat(in.Asked, in.Sentinels) {
		i := slices.IndexFunc(pods, func(told job.Told) bool { return told.Name == p.Name })
		if i >= 0 && p.Host != "" && p.Host != pods[i].Host {
			return p.Name
		}
	}
	return ""
}

func spentMessage(r *job.Record) string {
	return fmt.Sprintf("Job %s failed, as %d before it for the same: %s; delete it, or give the annotation %s another value, to have it tried again",
		r.Name, job.Most-1, said(*r), v1alpha1.AnnotationRetry)
}

// create creates a Job if it is time for the next attempt. It returns the last one when
// there were enough.
func (in Input) create(d *Decision, o job.Order) *job.Record {
	attempt, from, spent := job.Next(in.Jobs, o.Input())
	switch {
	case spent != nil:
		return spent
	case from.After(in.Now):
		d.wait(from.Sub(in.Now), "%s is tried again in %s (attempt %d)", o.Kind, from.Sub(in.Now).Round(time.Second), attempt)
	default:
		s := Start{Order: o, Serial: in.next(d, o.Kind), Attempt: attempt}
		d.Start = append(d.Start, s)
		d.Next.Start = append(d.Next.Start, status.Start{Name: s.name(in.Cluster), Kind: o.Kind, Serial: s.Serial, Attempt: attempt})
	}
	return nil
}

// next is the number of a Job that is to be created: that of one of its kind that is in the
// status and was never created, else a new one.
func (in Input) next(d *Decision, kind string) int64 {
	for called, serial := range in.Unborn {
		if called == job.Name(in.Cluster, kind, serial) {
			return serial
		}
	}
	return in.serial() + 1 + int64(len(d.Start))
}

// serial is the highest number that a Job may have.
func (in Input) serial() int64 {
	highest := in.Cluster.Status.JobSerial
	for _, r := range in.Jobs {
		highest = max(highest, r.Serial)
	}
	return highest
}

// said is how a Job ended.
func said(r job.Record) string {
	switch {
	case r.Outcome != nil && r.Outcome.Message != "":
		return r.Outcome.Message
	case r.Trouble != "":
		return r.Trouble
	}
	return "it left no word"
}

// workOf is what a kind of Job does, as the status calls it.
func workOf(kind string) status.Work {
	switch kind {
	case job.Bootstrap:
		return status.WorkForm
	case job.Repair:
		return status.WorkJoin
	case job.Rebalance, job.Drain, job.Reshard:
		return status.WorkMove
	case job.Handover, job.Failover, job.Takeover:
		return status.WorkFailover
	case job.Apply:
		return status.WorkApply
	}
	return status.WorkOther
}

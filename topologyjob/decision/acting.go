// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"slices"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/status"
)

// Kinds of Jobs of which one at a time acts.
func topological(kind string) bool { return !job.Beside(kind) }
func applier(kind string) bool     { return kind == job.Apply }
func setter(kind string) bool      { return slices.Contains(settingKinds(), sets(kind)) }

// acting is the first Job of some kinds that works, or whose process may still do so; nil for
// none that is seen.
func (in Input) acting(of func(kind string) bool) *job.Record {
	for i := range in.Jobs {
		if r := &in.Jobs[i]; of(r.Kind) && r.ActsUntil.After(in.Now) {
			return r
		}
	}
	return nil
}

// working is the Job that changes the topology now, or may still do so.
func (in Input) working() *job.Record { return in.acting(topological) }

// missing is a Job of some kinds that is in the status and was not found: it is about to be
// seen, or was deleted by somebody, and its pod may be there. "" for none.
func (in Input) missing(of func(kind string) bool) string {
	for _, a := range in.Cluster.Status.ActiveJobs {
		if !of(a.Kind) {
			continue
		}
		found := slices.ContainsFunc(in.Jobs, func(r job.Record) bool { return r.Name == a.Name })
		gone := slices.ContainsFunc(in.Seen.Jobs, func(j status.Job) bool { return j.Name == a.Name && j.Phase == status.JobGone })
		if _, unborn := in.Unborn[a.Name]; !found && !gone && !unborn {
			return a.Name
		}
	}
	return ""
}

// mayAct reports whether a Job of some kinds may act, whether it is seen or not.
func (in Input) mayAct(of func(kind string) bool) bool {
	return in.missing(of) != "" || in.acting(of) != nil
}

// yields has what is to be done wait for a Job of some kinds that may act, and reports
// whether there is one.
func (in Input) yields(d *Decision, of func(kind string) bool) bool {
	if called := in.missing(of); called != "" {
		d.unseen(called)
		return true
	}
	if r := in.acting(of); r != nil {
		d.wait(r.ActsUntil.Sub(in.Now), "Job %s works", r.Name)
		return true
	}
	return false
}

// unseen waits for a Job that is missing.
func (d *Decision) unseen(called string) {
	d.wait(time.Second, "Job %s is to be seen, or to be over", called)
}

// Superseded reports whether how a Job ended says nothing of what is done now: it was to apply
// what is not to be applied any more, or to do to the servers what nobody wants as it was.
func Superseded(in Input, d Decision, r job.Record) bool {
	switch {
	case applier(r.Kind):
		return r.Token != Rendering(in.Cluster)
	case topological(r.Kind):
		return !slices.Contains(d.Ordered, r.Input)
	}
	return false
}

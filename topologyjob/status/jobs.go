// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// Kinds of Jobs that a status tells apart.
const (
	kindBootstrap  = "bootstrap"
	kindRepair     = "repair"
	kindRebalance  = "rebalance"
	kindReshard    = "reshard"
	kindDrain      = "drain"
	kindHandover   = "handover"
	kindFailover   = "failover"
	kindTakeover   = "takeover"
	kindApply      = "apply"
	kindLiveConfig = "liveconfig"
	kindACL        = "acl"
)

// jobs brings the serial and the list of active Jobs up to date. A Job leaves the list when
// it was seen to have ended, or to be gone; one that is not seen at all stays. It has a start
// once it was seen, so that one that never was can be told from one that somebody deleted.
func (x *computation) jobs(s *v1alpha1.ValkeyClusterStatus) {
	seen := map[string]*Job{}
	for i := range x.o.Jobs {
		j := &x.o.Jobs[i]
		seen[j.Name] = j
		s.JobSerial = max(s.JobSerial, j.Serial)
	}
	active := map[string]v1alpha1.ActiveJob{}
	for _, a := range x.before.ActiveJobs {
		if j := seen[a.Name]; j == nil || j.Phase == JobActive {
			active[a.Name] = a
		}
	}
	for _, j := range x.o.Jobs {
		if j.Phase == JobActive {
			started := metav1.NewTime(j.Started)
			active[j.Name] = v1alpha1.ActiveJob{Kind: j.Kind, Name: j.Name, StartedAt: &started, Attempt: j.Attempt}
		}
	}
	for _, j := range x.o.Next.Start {
		s.JobSerial = max(s.JobSerial, j.Serial)
		if _, known := active[j.Name]; !known {
			active[j.Name] = v1alpha1.ActiveJob{Kind: j.Kind, Name: j.Name, Attempt: j.Attempt}
		}
	}
	s.ActiveJobs = nil
	for _, a := range active {
		s.ActiveJobs = append(s.ActiveJobs, a)
	}
	slices.SortFunc(s.ActiveJobs, func(a, b v1alpha1.ActiveJob) int { return cmp.Compare(a.Name, b.Name) })
}

// ended are the Jobs that were active in the status from before and have ended since: each
// is in this list once.
func (x *computation) ended() []*Job {
	var list []*Job
	for i := range x.o.Jobs {
		j := &x.o.Jobs[i]
		if j.Phase == JobEnded && slices.ContainsFunc(x.before.ActiveJobs, func(a v1alpha1.ActiveJob) bool { return a.Name == j.Name }) {
			list = append(list, j)
		}
	}
	slices.SortFunc(list, func(a, b *Job) int { return cmp.Compare(a.Serial, b.Serial) })
	return list
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// jobFailed: the last Job for what is still to be done has failed, and another is to follow.
func (x *computation) jobFailed() *finding {
	if x.o.Next.Blocked != nil {
		return nil // tried often enough, or not to be tried
	}
	for _, test := range []struct {
		reason string
		work   []Work
		kinds  []string
		format string
	}{
		{v1alpha1.ReasonNodeAddFailed, []Work{WorkForm, WorkJoin}, []string{kindBootstrap, kindRepair}, v1alpha1.MessageNodeAddFailed},
		{v1alpha1.ReasonRebalanceFailed, []Work{WorkMove}, []string{kindRebalance, kindDrain, kindReshard}, "Failed to move slots: %v"},
		{v1alpha1.ReasonJobBlocked, []Work{WorkFailover, WorkRoll}, []string{kindHandover, kindFailover, kindTakeover}, "Failed to replace a primary: %v"},
	} {
		if j := x.lastJob(test.kinds...); j != nil && x.does(test.work...) && j.failed() {
			return &finding{test.reason, fmt.Sprintf(test.format, j.said())}
		}
	}
	return nil
}

// failed reports whether a Job ended in a way that says that something is wrong now.
func (j *Job) failed() bool { return j.broke() && !j.Superseded }

// broke reports whether a Job ended in a way that says something was wrong. One that was
// interrupted, or has run out of time, just goes on.
func (j *Job) broke() bool {
	if j.Phase != JobEnded {
		return false
	}
	if j.Outcome == nil {
		return true
	}
	switch j.Outcome.Result {
	case outcome.Failed, outcome.Blocked, outcome.BadInput:
		return true
	}
	return false
}

// stuck reports whether it has run out of time at a step that went wrong.
func (j *Job) stuck() bool {
	return j.Phase == JobEnded && j.Outcome != nil && j.Outcome.Result == outcome.Deadline && j.Outcome.Reason != ""
}

// said is how it ended, in words.
func (j *Job) said() string {
	switch {
	case j.Outcome != nil && j.Outcome.Message != "":
		return j.Outcome.Message
	case j.Outcome != nil && j.Outcome.Reason != "":
		return j.Outcome.Reason
	case j.Failure != "":
		return j.Failure
	}
	return "Job " + j.Name + " left no word: see its log"
}

// lastJob is the newest Job of some kinds that has ended.
func (x *computation) lastJob(kinds ...string) *Job {
	var last *Job
	for i := range x.o.Jobs {
		j := &x.o.Jobs[i]
		if j.Phase == JobEnded && slices.Contains(kinds, j.Kind) && (last == nil || j.Serial > last.Serial) {
			last = j
		}
	}
	return last
}

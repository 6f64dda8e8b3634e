// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// Names of actions, as status.actions has them: those of the annotations.
const (
	actionRestart      = "restart"
	actionRestartShard = "restart-shard"
	actionReshard      = "reshard"
	actionFailover     = "failover"
	actionTakeover     = "quorum-takeover"
	actionRetry        = "retry"
	actionAcceptLoss   = "accept-slot-loss"
)

// action is one kind of thing that may be asked for by annotation.
type action struct {
	name, annotation string
	// token reads what tells one request from the next; the error says what is wrong with
	// the value. Nil is for those whose value is the token.
	token func(value string) (string, error)
}

func actions() []action {
	return []action{
		{actionRestart, v1alpha1.AnnotationRestart, nil},
		{actionRestartShard, v1alpha1.AnnotationRestartShard, func(value string) (string, error) {
			_, err := shardToRestart(value)
			return value, err
		}},
		{actionReshard, v1alpha1.AnnotationReshard, func(value string) (string, error) {
			r, err := parseReshard(value)
			return r.Token, err
		}},
		{actionFailover, v1alpha1.AnnotationFailover, nil},
		{actionRotate, v1alpha1.AnnotationRotatePassword, func(value string) (string, error) {
			r, err := parseRotation(value)
			return r.Token, err
		}},
		{actionTakeover, v1alpha1.AnnotationQuorumTakeover, nil},
		{actionRetry, v1alpha1.AnnotationRetry, nil},
		{actionAcceptLoss, v1alpha1.AnnotationAcceptSlotLoss, func(value string) (string, error) {
			_, err := acceptedLoss(value)
			return value, err
		}},
	}
}

// asked is an action that was asked for and has not ended; false when there is none. One
// that is new begins now.
func (in Input) asked(called string) (v1alpha1.ActionStatus, bool) {
	for _, a := range actions() {
		if a.name == called {
			s, _ := in.look(a)
			return s, s.Result == v1alpha1.ActionRunning
		}
	}
	return v1alpha1.ActionStatus{}, false
}

// look is how an action is now; changed is whether that is not in the status yet.
func (in Input) look(a action) (now v1alpha1.ActionStatus, changed bool) {
	for _, old := range in.Cluster.Status.Actions {
		if old.Name == a.name {
			now = old
		}
	}
	if a.name == actionRotate && in.Passwords.Marked {
		return in.marked(now)
	}
	value := in.Cluster.Annotations[a.annotation]
	if value == "" && now.Progress != "" && a.name == actionRotate {
		// It is about to end.
		return now, false
	}
	if value == "" {
		if now.Result == v1alpha1.ActionRunning {
			return in.over(now, v1alpha1.ActionFailed, "The annotation was taken away before it was done"), true
		}
		return now, false
	}
	token, err := value, error(nil)
	if a.token != nil {
		token, err = a.token(value)
	}
	if token == "" {
		// What cannot be read is told once for each value.
		token = value
	}
	if now.Name != "" && now.Token == token {
		return now, false
	}
	begun := metav1.NewTime(in.Now.Truncate(time.Second))
	now = v1alpha1.ActionStatus{Name: a.name, Token: token, StartedAt: &begun, Result: v1alpha1.ActionRunning}
	switch {
	case err != nil:
		now = in.over(now, v1alpha1.ActionFailed, err.Error())
	case a.name == actionRetry:
		// It is a part of the input of every Job, and so has done its work.
		now = in.over(now, v1alpha1.ActionSucceeded, "What failed too often is tried again")
	}
	return now, true
}

// over is an action that ends now.
func (in Input) over(a v1alpha1.ActionStatus, result, message string) v1alpha1.ActionStatus {
	ended := metav1.NewTime(in.Now.Truncate(time.Second))
	a.Result, a.Message, a.FinishedAt = result, message, &ended
	return a
}

// begin takes over into the decision what is asked for anew, and what no more.
func (in Input) begin(d *Decision) {
	for _, a := range actions() {
		if now, changed := in.look(a); changed {
			d.note(now)
		}
	}
}

// note puts an action into the decision, in place of what was in it of that name.
func (d *Decision) note(a v1alpha1.ActionStatus) {
	for i := range d.Actions {
		if d.Actions[i].Name == a.Name {
			d.Actions[i] = a
			return
		}
	}
	d.Actions = append(d.Actions, a)
}

// succeed and fail end an action.
func (in Input) succeed(d *Decision, a v1alpha1.ActionStatus, format string, args ...any) {
	d.note(in.over(a, v1alpha1.ActionSucceeded, fmt.Sprintf(format, args...)))
}

func (in Input) fail(d *Decision, a v1alpha1.ActionStatus, format string, args ...any) {
	d.note(in.over(a, v1alpha1.ActionFailed, fmt.Sprintf(format, args...)))
}

// progress says how far an action is.
func (in Input) progress(d *Decision, a v1alpha1.ActionStatus, how string) v1alpha1.ActionStatus {
	if a.Progress != how {
		since := metav1.NewTime(in.Now.Truncate(time.Second))
		a.Progress, a.ProgressAt = how, &since
		d.note(a)
	}
	return a
}

// acceptedLoss reads the slots whose data is given up: ranges, and a token where the same
// are given up once more.
func acceptedLoss(value string) (slot.Ranges, error) {
	ranges, _, _ := strings.Cut(value, ":")
	lost, err := slot.Parse(ranges)
	if err != nil {
		return nil, fmt.Errorf("must be slots, as 0-100,200 or 0-100,200:TOKEN: %w", err)
	}
	return lost, nil
}

// permitted adds what somebody allows by annotation, once.
func (in Input) permitted(desired plan.Desired) plan.Desired {
	if _, asked := in.asked(actionTakeover); asked {
		desired.Takeover = true
	}
	if a, asked := in.asked(actionAcceptLoss); asked {
		// look has found no error in it.
		desired.AcceptLoss, _ = acceptedLoss(a.Token)
	}
	return desired
}

// used ends what was allowed by annotation, once a Job has made use of it or there is
// nothing to use it for: it says nothing about the next loss.
func (in Input) used(d *Decision, p plan.Plan) {
	for _, use := range []struct {
		action string
		kinds  []string
	}{
		{actionTakeover, []string{job.Takeover}},
		{actionAcceptLoss, []string{job.Repair, job.Bootstrap}},
	} {
		a, asked := in.asked(use.action)
		if !asked || in.mayAct(topological) {
			continue
		}
		switch r := in.since(a, use.kinds...); {
		case r != nil:
			in.succeed(d, a, "Job %s: %s", r.Name, said(*r))
		case p.Done():
			in.succeed(d, a, "Nothing needed it")
		}
	}
}

// since is a Job of some kinds that was started after an action and has done what it was
// for, nil for none.
func (in Input) since(a v1alpha1.ActionStatus, kinds ...string) *job.Record {
	for i := range in.Jobs {
		r := &in.Jobs[i]
		if slices.Contains(kinds, r.Kind) && r.Over() && !r.Failed && !r.Created.Before(a.StartedAt.Time) {
			return r
		}
	}
	return nil
}

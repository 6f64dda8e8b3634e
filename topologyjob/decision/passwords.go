// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/secret"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
)

const (
	actionRotate = "rotate-password"
	// actionFollow is no annotation: somebody has replaced the password of the default user
	// in its Secret.
	actionFollow = "follow-password"
)

// Overlap is how long a password stays valid beside the one that took its place, unless
// something else is asked for: kubelets take two minutes to show a changed Secret in pods.
const Overlap = 5 * time.Minute

// Passwords is what is known of passwords that change.
type Passwords struct {
	// Marked is whether Secrets hold a next or a previous password.
	Marked bool
	// Stage is where a rotation is, "" when servers were not asked.
	Stage setting.Stage
	// Silent is how many pods that run did not tell what they know.
	Silent int
	// Replaced is the version of the Secret of the default user when servers may know a
	// password of it that the Secret has no more, else "".
	Replaced string
}

// rotation is the value of the annotation rotate-password: a token, or JSON.
type rotation struct {
	Token      string `json:"token"`
	ClientKill bool   `json:"clientKill"`
	Overlap    string `json:"overlap"`

	overlap time.Duration
}

// parseRotation reads it.
func parseRotation(value string) (rotation, error) {
	r := rotation{Token: value, overlap: Overlap}
	if !strings.HasPrefix(strings.TrimSpace(value), "{") {
		return r, nil
	}
	r.Token = ""
	decoder := json.NewDecoder(strings.NewReader(value))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil || decoder.More() || r.Token == "" {
		return rotation{overlap: Overlap}, errors.New(`must be a token, or {"token":"TOKEN","overlap":"10m","clientKill":true}`)
	}
	if r.Overlap == "" {
		return r, nil
	}
	overlap, err := time.ParseDuration(r.Overlap)
	if err != nil || overlap < 0 {
		return r, fmt.Errorf("overlap %q: no length of time as 10m", r.Overlap)
	}
	r.overlap = overlap
	return r, nil
}

// asRotation is how a rotation was asked for. One that nobody remembers has the defaults.
func (in Input) asRotation(a v1alpha1.ActionStatus) rotation {
	r, err := parseRotation(in.Cluster.Annotations[v1alpha1.AnnotationRotatePassword])
	if err != nil || r.Token != a.Token {
		return rotation{overlap: Overlap}
	}
	return r
}

// marked is how a rotation is that has changed Secrets: it is brought to its end whatever
// the annotation says meanwhile, and whoever has begun it. The next one begins after it.
func (in Input) marked(now v1alpha1.ActionStatus) (v1alpha1.ActionStatus, bool) {
	if now.Result == v1alpha1.ActionRunning {
		return now, false
	}
	token := "unfinished"
	if r, err := parseRotation(in.Cluster.Annotations[v1alpha1.AnnotationRotatePassword]); err == nil && r.Token != "" {
		token = r.Token
	}
	begun := metav1.NewTime(in.Now.Truncate(time.Second))
	return v1alpha1.ActionStatus{Name: actionRotate, Token: token, StartedAt: &begun, Result: v1alpha1.ActionRunning}, true
}

// acts is whether anything may be done to the cluster at all.
func (in Input) acts() bool {
	return in.Invalid == "" && !in.Cluster.Spec.Suspend && in.Cluster.EffectiveJobs() != v1alpha1.JobsRendered
}

// Rotates reports whether passwords are replaced: then servers are to be asked what they
// know of them.
func Rotates(in Input) bool {
	_, asked := in.asked(actionRotate)
	return asked && in.acts()
}

// Secrets says which step of a rotation is to be written into Secrets, and whether a
// password that somebody has replaced stays valid.
func Secrets(in Input) (step secret.Rotation, overlap bool) {
	step = secret.Keep
	if a, asked := in.asked(actionRotate); asked && in.acts() && in.Passwords.Stage != "" {
		step = in.step(a)
	}
	_, left := in.following()
	return step, left > 0
}

func (in Input) step(a v1alpha1.ActionStatus) secret.Rotation {
	stage := in.Passwords.Stage
	switch {
	case !in.Passwords.Marked && a.Progress == "":
		return secret.Begin
	case stage == setting.Switched && in.overlapLeft(a) > 0:
		return secret.Keep
	}
	return secret.Due(stage)
}

// overlapLeft is how long the previous password is kept yet. It counts from when nothing of
// ours needed it any more.
func (in Input) overlapLeft(a v1alpha1.ActionStatus) time.Duration {
	overlap := in.asRotation(a).overlap
	if a.Progress != string(setting.Switched) || a.ProgressAt == nil {
		return max(overlap, time.Second)
	}
	return overlap - in.Now.Sub(a.ProgressAt.Time)
}

// rotation says how far a rotation is.
func (in Input) rotation(d *Decision) {
	a, asked := in.asked(actionRotate)
	stage := in.Passwords.Stage
	switch {
	case !asked:
		return
	case stage == "":
		d.Next.Waiting = append(d.Next.Waiting, "rotate-password: no server was asked")
		return
	case !in.Passwords.Marked && a.Progress == "":
		// Its first step is about to be written.
		return
	case stage == setting.Idle:
		in.succeed(d, a, "Servers and Secrets have new passwords, and no others")
		return
	}
	a = in.progress(d, a, string(stage))
	if stage == setting.Switched {
		d.Reload = true
		d.sooner(in.overlapLeft(a))
	}
}

// rotating is whether a Job is to bring passwords to servers, in the place of one for users.
func (in Input) rotating() (a v1alpha1.ActionStatus, is, due bool) {
	a, is = in.asked(actionRotate)
	switch in.Passwords.Stage {
	case setting.Accepting, setting.Switching:
		return a, is, is
	case setting.Dropping:
		return a, is, is && a.Progress != ""
	}
	return a, is, false
}

// generated is whether the password of the default user is one of those that are rotated.
func (in Input) generated() bool {
	c := in.Cluster
	return c.AuthEnabled() && (c.Spec.Auth == nil || c.Spec.Auth.ExistingSecret == nil)
}

// following is a replaced password whose users follow, and how long it stays valid yet. It
// has no name when there is none.
func (in Input) following() (a v1alpha1.ActionStatus, left time.Duration) {
	token := in.Passwords.Replaced
	if _, rotates := in.asked(actionRotate); token == "" || !in.acts() || rotates && in.generated() {
		return a, 0
	}
	for _, old := range in.Cluster.Status.Actions {
		if old.Name == actionFollow && old.Token == token && old.Result == v1alpha1.ActionRunning {
			return old, Overlap - in.Now.Sub(old.StartedAt.Time)
		}
	}
	begun := metav1.NewTime(in.Now.Truncate(time.Second))
	return v1alpha1.ActionStatus{Name: actionFollow, Token: token, StartedAt: &begun, Result: v1alpha1.ActionRunning}, Overlap
}

// follow tells the status of a replaced password.
func (in Input) follow(d *Decision) {
	if a, left := in.following(); a.Name != "" {
		d.note(a)
		d.sooner(max(left, time.Second))
		return
	}
	for _, a := range in.Cluster.Status.Actions {
		if a.Name == actionFollow && a.Result == v1alpha1.ActionRunning && d.was(job.ACL) == in.Tokens[job.ACL] {
			in.succeed(d, a, "Servers take the password of the Secret alone")
		}
	}
}

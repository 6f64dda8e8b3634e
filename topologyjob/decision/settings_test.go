// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// wants has version 2 of users and live directives, of which version 1 was applied.
func (w *world) wants() *world {
	w.Tokens = map[string]string{job.ACL: "2", job.LiveConfig: "2"}
	w.Cluster.Spec.Config = map[string]string{"maxmemory-policy": "allkeys-lfu"}
	w.Cluster.Status.Applied = []v1alpha1.AppliedStatus{{Kind: job.ACL, Token: "1"}, {Kind: job.LiveConfig, Token: "1"}}
	return w
}

// set adds a Job that has ended some time ago.
func (w *world) set(kind, token string, attempt int32, result outcome.Result, reason string) {
	r := w.ran(kind, attempt, 10*time.Second, result)
	r.Token, r.Outcome.Reason = token, reason
}

func TestSettings(t *testing.T) {
	for _, s := range []struct {
		name      string
		w         *world
		edit      func(*world)
		want      string
		refreshed int
		acl, live string
	}{
		{"all is applied", formed(1, 1).wants(), func(w *world) {
			w.Cluster.Status.Applied = []v1alpha1.AppliedStatus{{Kind: job.ACL, Token: "2"}, {Kind: job.LiveConfig, Token: "2"}}
		}, "nothing", 0, v1alpha1.ReasonApplied, v1alpha1.ReasonApplied},
		{"users first", formed(1, 1).wants(), func(*world) {}, "start acl-1 attempt 1", 2, v1alpha1.ReasonPending, v1alpha1.ReasonPending},
		{"then directives", formed(1, 1).wants(), func(w *world) { w.set(job.ACL, "2", 1, outcome.Converged, "") }, "start liveconfig-2 attempt 1", 2, v1alpha1.ReasonApplied, v1alpha1.ReasonPending},
		{"a Job for an older version says nothing", formed(1, 1).wants(), func(w *world) { w.set(job.ACL, "1", 1, outcome.Converged, "") }, "start acl-2 attempt 1", 2, v1alpha1.ReasonPending, v1alpha1.ReasonPending},
		{"beside a Job that moves slots", formed(1, 1).wants(), func(w *world) { w.runs(job.Rebalance) }, "start acl-2 attempt 1", 2, v1alpha1.ReasonPending, v1alpha1.ReasonPending},
		{"one at a time", formed(1, 1).wants(), func(w *world) { w.runs(job.LiveConfig) }, "nothing", 2, v1alpha1.ReasonPending, v1alpha1.ReasonPending},
		{"nor beside one that is not seen, whose pod may work", formed(1, 1).wants(), func(w *world) { w.unseen(job.Rotate) }, "nothing", 2, v1alpha1.ReasonPending, v1alpha1.ReasonPending},
		{"one that was told of a pod that goes gives way", formed(1, 1).wants(), func(w *world) {
			w.runs(job.LiveConfig).Pods = told("uid-0-0", "uid-0-1")
			w.Seen.StatefulSets[0].Replicas = 1
		}, "stop c-liveconfig-1", 2, v1alpha1.ReasonPending, v1alpha1.ReasonPending},
		{"one that was told of those that stay does not", formed(1, 1).wants(), func(w *world) {
			w.runs(job.LiveConfig).Pods = told("uid-0-0", "uid-0-1")
		}, "nothing", 2, v1alpha1.ReasonPending, v1alpha1.ReasonPending},
		{"one that was told of a pod that was replaced gives way", formed(1, 1).wants(), func(w *world) {
			w.runs(job.LiveConfig).Pods = told("uid-0-0", "before")
		}, "stop c-liveconfig-1", 2, v1alpha1.ReasonPending, v1alpha1.ReasonPending},
		{"but not when nothing of that ran, which is not waited for", formed(1, 1).wants(), func(w *world) {
			pods := told("uid-0-0", "before")
			pods[1].Stopped = true
			w.runs(job.LiveConfig).Pods = pods
		}, "nothing", 2, v1alpha1.ReasonPending, v1alpha1.ReasonPending},
		{"a server refuses", formed(1, 1).wants(), func(w *world) {
			w.Tokens[job.ACL] = "1"
			w.set(job.LiveConfig, "2", 1, outcome.Blocked, reasonRejected)
		}, "start liveconfig-2 attempt 2", 2, v1alpha1.ReasonApplied, v1alpha1.ReasonApplyFailed},
		{"and rolls wait for another value", formed(1, 1).wants(), func(w *world) {
			w.Tokens[job.ACL] = "1"
			w.set(job.LiveConfig, "2", 1, outcome.Blocked, reasonRejected)
			w.old(0, 0, 1)
		}, "start liveconfig-2 attempt 2, roll refused", 2, v1alpha1.ReasonApplied, v1alpha1.ReasonApplyFailed},
		{"nothing is refreshed that starts with it", formed(1, 1).wants(), func(w *world) { w.Cluster.Status.Applied = nil }, "start acl-1 attempt 1", 0, v1alpha1.ReasonPending, v1alpha1.ReasonPending},
		{"a change before anything was set is one all the same", formed(1, 1).wants(), func(w *world) {
			w.Cluster.Status.Applied = []v1alpha1.AppliedStatus{{Kind: job.ACL, Token: "2"}, {Kind: job.LiveConfig, Started: "1"}}
		}, "start liveconfig-1 attempt 1", 2, v1alpha1.ReasonApplied, v1alpha1.ReasonPending},
		{"what servers started with is none", formed(1, 1).wants(), func(w *world) {
			w.Cluster.Status.Applied = []v1alpha1.AppliedStatus{{Kind: job.ACL, Token: "2"}, {Kind: job.LiveConfig, Started: "2"}}
		}, "start liveconfig-1 attempt 1", 0, v1alpha1.ReasonApplied, v1alpha1.ReasonPending},
		{"nothing is set before the cluster is formed", blank(1, 1).wants(), func(*world) {}, "start bootstrap-1 attempt 1", 0, v1alpha1.ReasonPending, v1alpha1.ReasonPending},
		{"without live directives the condition is absent", formed(1, 1).wants(), func(w *world) { w.Cluster.Spec.Config = nil }, "start acl-1 attempt 1", 2, v1alpha1.ReasonPending, ""},
	} {
		t.Run(s.name, func(t *testing.T) {
			s.edit(s.w)
			d := Decide(s.w.Input)
			if got := d.line(); got != s.want || len(d.Refresh) != s.refreshed {
				t.Errorf("%s, %d refreshed\nwant %s, %d\n%+v", got, len(d.Refresh), s.want, s.refreshed, d.Next)
			}
			known := Settings(s.w.Input)["c-0-0"]
			live := ""
			if known.LiveConfig != nil {
				live = known.LiveConfig.Reason
			}
			if known.ACL.Reason != s.acl || live != s.live {
				t.Errorf("users %s, directives %s", known.ACL.Reason, live)
			}
		})
	}
}

// TestAPodIsRefreshedOnce for the same versions.
func TestAPodIsRefreshedOnce(t *testing.T) {
	w := formed(1, 1).wants()
	w.Refreshed = map[string]string{}
	for _, r := range Decide(w.Input).Refresh {
		w.Refreshed[r.Pod] = r.Token
	}
	if again := Decide(w.Input).Refresh; len(w.Refreshed) != 2 || len(again) > 0 {
		t.Errorf("%v, then %v", w.Refreshed, again)
	}
}

// told are the two pods of a shard, as a Job was told of them.
func told(primary, replica string) []job.Told {
	return []job.Told{{Name: "c-0-0", UID: primary}, {Name: "c-0-1", UID: replica}}
}

// TestNothingIsSetOnPodsThatGo: a Job would wait for them.
func TestNothingIsSetOnPodsThatGo(t *testing.T) {
	w := formed(1, 2).wants()
	w.Seen.StatefulSets[0].Replicas = 2
	d := Decide(w.Input)
	if len(d.Start) != 1 || d.Start[0].Kind != job.ACL {
		t.Fatalf("%+v", d.Start)
	}
	var told []string
	for _, arg := range d.Start[0].Args {
		if pod, is := strings.CutPrefix(arg, "--pod="); is {
			told = append(told, pod[:strings.IndexByte(pod, '=')])
		}
	}
	if got := strings.Join(told, " "); got != "c-0-0 c-0-1" {
		t.Errorf("told of %s", got)
	}
}

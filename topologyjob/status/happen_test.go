// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// specs that worlds are drawn from.
func specs() []string {
	return []string{
		cacheSpec, durableSpec, replicationSpec, sentinelSpec, standaloneSpec, cacheSpec + "tls: {}\n", cacheSpec + "delivery: GitOps\n",
		cacheSpec + "rollout: {mode: StatefulSet}\n", "shards: 1\nreplicasPerShard: 0\n", cacheSpec + "suspend: true\n", cacheSpec + "jobs: Rendered\n",
	}
}

// happen draws what happens to a world. Whatever it makes of it, a status has to follow.
func happen(t *rapid.T, w *world) {
	pod := func() *Pod {
		if len(w.o.Pods) == 0 {
			return &Pod{}
		}
		return &w.o.Pods[rapid.IntRange(0, len(w.o.Pods)-1).Draw(t, "pod")]
	}
	answer := func() *survey.Answer {
		if w.o.View == nil || len(w.o.View.Answers) == 0 {
			return &survey.Answer{}
		}
		return &w.o.View.Answers[rapid.IntRange(0, len(w.o.View.Answers)-1).Draw(t, "answer")]
	}
	text := rapid.SampledFrom([]string{"no", "ERR é", strings.Repeat("long é ", 500), "\xff\xfe", "after 3.2s of 5m0s", ""}).Draw(t, "text")
	choices := map[string]func(){
		"nothing":       func() {},
		"recovers":      func() { w.pods(); w.survey(); w.o.Next = Next{} },
		"a pod unready": func() { pod().Ready = false },
		"a pod stops":   func() { pod().Deleting = true },
		"a pod waits":   func() { p := pod(); p.Ready, p.Waiting, p.WaitingMessage = false, "ImagePullBackOff", text },
		"a pod crashes": func() { p := pod(); p.Ready, p.Waiting, p.WaitingMessage = false, "CrashLoopBackOff", text },
		"no node":       func() { p := pod(); p.Ready, p.Unschedulable = false, "0/3 "+text },
		"a pod gone": func() {
			if n := len(w.o.Pods); n > 0 {
				w.o.Pods = slices.Delete(slices.Clone(w.o.Pods), n-1, n)
			}
		},
		"no pods":   func() { w.o.Pods, w.o.View = nil, nil },
		"not asked": func() { w.o.View = nil },
		"a silent one": func() {
			a := answer()
			*a = survey.Answer{Pod: a.Pod, Problem: &survey.Problem{Code: survey.Unreachable, Message: text}}
		},
		"a denial": func() {
			a := answer()
			*a = survey.Answer{Pod: a.Pod, Problem: &survey.Problem{Code: survey.Denied, Message: text}}
		},
		"a link down":  func() { answer().LinkUp = false },
		"a full copy":  func() { a := answer(); a.LinkUp, a.Syncing = false, true },
		"an alone one": func() { a := answer(); a.Nodes = []node.Entry{{ID: a.ID, Myself: true}} },
		"a lag":        func() { answer().Offset += rapid.Int64Range(-1<<40, 1<<40).Draw(t, "lag") },
		"refusal":      func() { answer().StateOK = false },
		"old templates": func() {
			for i := range w.o.StatefulSets {
				w.o.StatefulSets[i].UpdateRevision = "r2"
			}
		},
		"scaled": func() {
			for i := range w.o.StatefulSets {
				w.o.StatefulSets[i].Replicas = 1
			}
		},
		"create failed": func() {
			for i := range w.o.StatefulSets {
				w.o.StatefulSets[i].CreateFailed, w.o.StatefulSets[i].Pods = "exceeded quota "+text, 0
			}
		},
		"no objects": func() { w.o.Objects = nil },
		"no sets":    func() { w.o.StatefulSets = nil },
		"claims go":  func() { w.o.Claims = nil },
		"claims lost": func() {
			for i := range w.o.Claims {
				w.o.Claims[i].Phase = corev1.ClaimLost
			}
		},
		"no secrets": func() { w.o.Secrets = map[string]Secret{} },
		"unread":     func() { w.o.Secrets = nil },
		"invalid":    func() { w.o.Invalid = text },
		"unrendered": func() { w.o.Rendering.Current = false },
		"generation": func() { w.c.Generation++ },
		"hibernate":  func() { w.c.Spec.Hibernate = !w.c.Spec.Hibernate },
		"orphans":    func() { w.o.Orphans = []string{"a-0", "b-0", "c-0", "d-0"} },
		"work": func() {
			w.o.Next.Work = rapid.SliceOfN(rapid.SampledFrom([]Work{WorkApply, WorkForm, WorkJoin, WorkMove, WorkFailover, WorkRoll, WorkSet, WorkOther}), 0, 3).Draw(t, "work")
		},
		"waiting": func() { w.o.Next.Waiting = []string{text, "a", "b", "c"} },
		"blocked": func() {
			w.o.Next.Blocked = &Blocked{rapid.SampledFrom([]string{"ForeignData", "SlotsLost", "QuorumLost", "JobBlocked", "PrimaryDown"}).Draw(t, "reason"), text}
		},
		"refused": func() { w.o.Next.RollRefused = text },
		"suspend": func() { w.c.Spec.Suspend = !w.c.Spec.Suspend },
		"files":   func() { w.o.Next.RestartWouldFail = text },
		"drained": func() { w.o.Drained = []int32{9, 7} },
		"setting": func() {
			w.o.Settings = map[string]Settings{"c-0-0": {LiveConfig: &Setting{v1alpha1.ReasonApplyFailed, text}, ACL: &Setting{v1alpha1.ReasonApplyFailed, text}}}
		},
		"failure": func() {
			w.o.Failures = []Failure{{VerbCreate, rapid.SampledFrom([]string{"Secret", "Service", "ValkeyNode", "Job"}).Draw(t, "kind"), "x", text}}
		},
		"no guard": func() { w.o.Guard = new(bool) },
		"a job": func() {
			kind := rapid.SampledFrom([]string{"bootstrap", "repair", "rebalance", "drain", "handover", "failover", "takeover", "apply", "liveconfig", "acl", "backup"}).Draw(t, "kind")
			j := Job{Name: "c-" + kind, Kind: kind, Serial: int64(rapid.IntRange(1, 5).Draw(t, "serial")), Started: noon}
			j.Phase = rapid.SampledFrom([]Phase{JobActive, JobEnded, JobGone}).Draw(t, "phase")
			if rapid.Bool().Draw(t, "left") {
				j.Outcome = &outcome.Outcome{Kind: kind, Message: text, Result: rapid.SampledFrom([]outcome.Result{outcome.Converged, outcome.Blocked, outcome.Failed, outcome.BadInput, outcome.Raced, outcome.Deadline}).Draw(t, "result")}
			}
			w.o.Jobs = []Job{j}
			if rapid.Bool().Draw(t, "known") {
				w.c.Status.ActiveJobs = []v1alpha1.ActiveJob{{Name: j.Name, Kind: kind}}
			}
		},
	}
	choices[rapid.SampledFrom(slices.Sorted(keys(choices))).Draw(t, "what")]()
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

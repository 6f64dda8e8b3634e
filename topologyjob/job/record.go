// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Record is a Job as it was seen.
type Record struct {
	// Name, UID, Kind, Input, Token, Serial and Attempt are what it was made with.
	Name    string
	UID     types.UID
	Kind    string
	Input   string
	Token   string
	Serial  int64
	Attempt int32
	// Pods are those that it was told of.
	Pods []Told
	// Shards is how many shards it was told are wanted, 0 when it was told of none. It goes
	// by that number to its end, whatever the spec says since.
	Shards int32
	// Created is when it was made.
	Created time.Time
	// Ended is when it, or its pod, was seen to have ended; zero while it runs.
	Ended time.Time
	// Outcome is what its pod left; nil when it left nothing.
	Outcome *outcome.Outcome
	// Failed is true when it ended otherwise than well.
	Failed bool
	// Trouble says why it does not get on, as Kubernetes puts it; "" when it does.
	Trouble string
	// Leaving says that somebody deletes it.
	Leaving bool
	// ActsUntil is until when a process of it may act; zero when none does any more.
	ActsUntil time.Time
}

// Told is a pod as a Job was told of it.
type Told struct {
	Name string
	// UID is the pod's, "" when there was none.
	UID string
	// Host is its address, "" when it had none.
	Host string
	// Stopped says that no server of it ran.
	Stopped bool
}

// Over reports whether it has ended.
func (r Record) Over() bool { return !r.Ended.IsZero() }

// grace is added to a deadline, for clocks that differ and a process that stops.
const grace = 10 * time.Second

// Read reads the Jobs of one cluster with their pods. Those that have no kind of ours are
// left out. They come sorted by number.
func Read(jobs []batchv1.Job, pods []corev1.Pod) []Record {
	of := map[string][]*corev1.Pod{}
	for i := range pods {
		if job := pods[i].Labels[batchv1.JobNameLabel]; job != "" {
			of[job] = append(of[job], &pods[i])
		}
	}
	var records []Record
	for i := range jobs {
		if jobs[i].Annotations[AnnotationKind] != "" {
			records = append(records, read(&jobs[i], of[jobs[i].Name]))
		}
	}
	slices.SortFunc(records, func(a, b Record) int { return cmp.Compare(a.Serial, b.Serial) })
	return records
}

func read(j *batchv1.Job, pods []*corev1.Pod) Record {
	r := Record{
		Name: j.Name, UID: j.UID, Kind: j.Annotations[AnnotationKind], Input: j.Annotations[AnnotationInput], Token: j.Annotations[AnnotationToken],
		Pods: told(j), Shards: shards(j), Created: j.CreationTimestamp.Time, Leaving: j.DeletionTimestamp != nil,
	}
	// What is no number is 0, and counts as the first.
	r.Serial, _ = strconv.ParseInt(j.Annotations[AnnotationSerial], 10, 64)
	attempt, _ := strconv.ParseInt(j.Annotations[AnnotationAttempt], 10, 32)
	r.Attempt = max(1, int32(attempt))
	deadline, err := time.ParseDuration(j.Annotations[AnnotationDeadline])
	if err != nil {
		deadline = Deadline(r.Kind)
	}
	// A process counts its deadline from its start, and starts within the Job's.
	latest := r.Created.Add(deadline + Margin(r.Kind) + grace)
	if s := j.Spec.ActiveDeadlineSeconds; s != nil {
		latest = r.Created.Add(time.Duration(*s)*time.Second + grace)
	}
	r.ActsUntil = latest
	if pod := last(pods); pod != nil && (!disrupted(pod) || r.Leaving || finished(j)) {
		r.see(pod, latest, deadline)
	}
	r.conclude(j, len(pods))
	return r
}

// last is the pod of a Job that counts, nil for none: one that has not ended, else the newest.
func last(pods []*corev1.Pod) *corev1.Pod {
	if len(pods) == 0 {
		return nil
	}
	return slices.MaxFunc(pods, func(a, b *corev1.Pod) int {
		switch {
		case Terminated(a) && !Terminated(b):
			return -1
		case Terminated(b) && !Terminated(a):
			return 1
		}
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
}

// Terminated is whether a pod has ended: nothing of it runs any more.
func Terminated(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// disrupted is whether a pod was taken away by the cluster: the policy of our Jobs has another
// one follow it.
func disrupted(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	})
}

// finished is whether no other pod of a Job follows.
func finished(j *batchv1.Job) bool {
	return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed)
	})
}

// args are the arguments of a Job.
func args(j *batchv1.Job) []string {
	var list []string
	for i := range j.Spec.Template.Spec.Containers {
		list = append(list, j.Spec.Template.Spec.Containers[i].Args...)
	}
	return list
}

// told are the pods in the arguments of a Job.
func told(j *batchv1.Job) []Told {
	var pods []Told
	for _, arg := range args(j) {
		for _, flag := range []string{podFlag, sentinelFlag} {
			if at, is := strings.CutPrefix(arg, flag); is {
				pods = append(pods, toldOf(at))
			}
		}
	}
	return pods
}

// shards is the number of shards in the arguments of a Job, 0 without.
func shards(j *batchv1.Job) int32 {
	for _, arg := range args(j) {
		if text, is := strings.CutPrefix(arg, shardsFlag); is {
			n, err := strconv.ParseInt(text, 10, 32)
			if err != nil {
				return 0
			}
			return int32(n)
		}
	}
	return 0
}

// toldOf reads what place wrote.
func toldOf(at string) Told {
	called, rest, _ := strings.Cut(at, "=")
	host, rest, _ := strings.Cut(rest, ",")
	pod := Told{Name: called, Host: host}
	for part := range strings.SplitSeq(rest, ",") {
		switch key, value, _ := strings.Cut(part, "="); key {
		case "uid":
			pod.UID = value
		case "runs":
			pod.Stopped = value == string(survey.Stopped)
		}
	}
	return pod
}

// see takes over what a pod of the Job tells.
func (r *Record) see(pod *corev1.Pod, latest time.Time, deadline time.Duration) {
	for _, c := range pod.Status.ContainerStatuses {
		switch {
		case c.State.Terminated != nil:
			ended := c.State.Terminated
			r.Ended, r.ActsUntil = ended.FinishedAt.Time, time.Time{}
			r.Failed = ended.ExitCode != 0
			if o, err := outcome.Parse([]byte(ended.Message)); err == nil {
				r.Outcome = &o
				r.Failed = o.Result != outcome.Converged
			}
			return
		case c.State.Running != nil:
			if until := c.State.Running.StartedAt.Add(deadline + grace); until.Before(latest) {
				r.ActsUntil = until
			}
		case c.State.Waiting != nil && c.State.Waiting.Reason != "ContainerCreating" && c.State.Waiting.Reason != "PodInitializing":
			r.Trouble = c.State.Waiting.Reason + ": " + c.State.Waiting.Message
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			r.Trouble = c.Reason + ": " + c.Message
		}
	}
	if Terminated(pod) {
		// It ended before its container was started, or without a word of it.
		r.Failed, r.ActsUntil = pod.Status.Phase == corev1.PodFailed, time.Time{}
		r.Ended = ended(pod)
		r.Trouble = pod.Status.Reason
	}
}

// ended is about when a pod ended that does not say so of its container.
func ended(pod *corev1.Pod) time.Time {
	latest := pod.CreationTimestamp.Time
	for _, c := range pod.Status.Conditions {
		if c.LastTransitionTime.After(latest) {
			latest = c.LastTransitionTime.Time
		}
	}
	return latest
}

// conclude takes over what the Job itself tells.
func (r *Record) conclude(j *batchv1.Job, pods int) {
	for _, c := range j.Status.Conditions {
		if c.Status != corev1.ConditionTrue || c.Type != batchv1.JobComplete && c.Type != batchv1.JobFailed {
			continue
		}
		if r.Ended.IsZero() {
			r.Ended, r.Failed = c.LastTransitionTime.Time, c.Type == batchv1.JobFailed
			r.Trouble = c.Reason + ": " + c.Message
		}
		// With podReplacementPolicy Failed the condition comes when no pod is left that
		// has not ended, or when pods were deleted by force.
		if pods == 0 && c.Type == batchv1.JobComplete {
			r.ActsUntil = time.Time{}
		}
	}
}

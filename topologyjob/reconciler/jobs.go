// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/decision"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/status"
)

// jobsOf reads Jobs, and looks past the cache for those that the status has and it has not.
func (r *Reconciler) jobsOf(ctx context.Context, g *gathered) error {
	var jobs batchv1.JobList
	if err := r.list(ctx, g, &jobs); err != nil {
		return err
	}
	pods := g.pods
	if r.Place.Namespace != "" {
		// Those of kind apply are in the reconciler's namespace.
		var far batchv1.JobList
		var farPods corev1.PodList
		for _, list := range []client.ObjectList{&far, &farPods} {
			if err := r.Client.List(ctx, list, client.InNamespace(r.Place.Namespace), client.MatchingFields{clusterIndex: farKey(g.cluster.Namespace, g.cluster.Name)}); err != nil {
				return fmt.Errorf("%T of %s list failed: %w", list, g.subject(), err)
			}
		}
		jobs.Items = append(jobs.Items, far.Items...)
		pods = append(slices.Clone(pods), farPods.Items...)
	}
	found := map[string]bool{}
	for i := range jobs.Items {
		found[jobs.Items[i].Name] = true
	}
	for _, a := range g.cluster.Status.ActiveJobs {
		if found[a.Name] {
			continue
		}
		j, gone, err := r.missing(ctx, g, a)
		switch {
		case err != nil:
			return err
		case j != nil:
			jobs.Items = append(jobs.Items, *j)
		case gone && a.StartedAt == nil:
			g.unborn[a.Name] = serialOf(a.Name)
		case gone:
			g.gone(a)
		}
	}
	g.jobs = job.Read(jobs.Items, pods)
	for i := range g.jobs {
		// Of a Job that is being deleted the pods go first.
		if j := &g.jobs[i]; j.Over() && r.Ended.saw(r.namespaceOf(g, j.Kind), j.Name, j.Created) {
			j.ActsUntil = time.Time{}
		}
		g.seen.Jobs = append(g.seen.Jobs, observed(&g.jobs[i], g.now))
	}
	return nil
}

// namespaceOf is where a Job of a kind runs.
func (r *Reconciler) namespaceOf(g *gathered, kind string) string {
	if kind == job.Apply {
		return r.Place.Namespace
	}
	return g.cluster.Namespace
}

// gone tells the status that a Job is there no more, or never was.
func (g *gathered) gone(a v1alpha1.ActiveJob) {
	g.seen.Jobs = append(g.seen.Jobs, status.Job{Name: a.Name, Kind: a.Kind, Attempt: a.Attempt, Phase: status.JobGone})
}

// superseded tells the status which Jobs were for something that is not wanted any more.
func (g *gathered) superseded(d decision.Decision) {
	in := g.input()
	for _, r := range g.jobs {
		for i := range g.seen.Jobs {
			if j := &g.seen.Jobs[i]; j.Name == r.Name {
				j.Superseded = decision.Superseded(in, d, r)
			}
		}
	}
}

// miscarried drops the Jobs that were never created and are not wanted any more.
func (g *gathered) miscarried(d decision.Decision) {
	for _, a := range g.cluster.Status.ActiveJobs {
		serial, unborn := g.unborn[a.Name]
		if unborn && !slices.ContainsFunc(d.Start, func(s decision.Start) bool { return s.Serial == serial }) {
			g.gone(a)
		}
	}
}

// serialOf is the number at the end of a Job's name.
func serialOf(job string) int64 {
	n, err := strconv.ParseInt(job[strings.LastIndexByte(job, '-')+1:], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// missing looks for a Job past the cache. One that is not there either was never created,
// or somebody has deleted it: then it is gone once no process of it can act any more.
func (r *Reconciler) missing(ctx context.Context, g *gathered, a v1alpha1.ActiveJob) (*batchv1.Job, bool, error) {
	j := &batchv1.Job{}
	namespace := r.namespaceOf(g, a.Kind)
	err := r.Live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: a.Name}, j)
	if err == nil {
		return j, false, nil
	}
	if client.IgnoreNotFound(err) != nil {
		return nil, false, fmt.Errorf("%s read failed: %w", name.Subject("Job", namespace, a.Name), err)
	}
	var pods corev1.PodList
	if err := r.Live.List(ctx, &pods, client.InNamespace(namespace), client.MatchingLabels{batchv1.JobNameLabel: a.Name}); err != nil {
		return nil, false, fmt.Errorf("pods of Job/%s/%s list failed: %w", namespace, a.Name, err)
	}
	for i := range pods.Items {
		if !job.Terminated(&pods.Items[i]) {
			return nil, false, nil
		}
	}
	if a.StartedAt == nil || len(pods.Items) > 0 || r.Ended.saw(namespace, a.Name, a.StartedAt.Time) {
		return nil, true, nil
	}
	latest := a.StartedAt.Add(job.Deadline(a.Kind) + job.Margin(a.Kind) + partitionGrace)
	return nil, g.now.After(latest), nil
}

// partitionGrace is added to the deadline of a Job that nobody can see any more.
const partitionGrace = 10 * time.Second

// observed is a Job as the status takes it.
func observed(r *job.Record, now time.Time) status.Job {
	j := status.Job{Name: r.Name, Kind: r.Kind, Serial: r.Serial, Attempt: r.Attempt, Phase: status.JobActive, Started: r.Created, Ended: r.Ended, Outcome: r.Outcome, Failure: r.Trouble}
	if r.Over() && !r.ActsUntil.After(now) {
		j.Phase = status.JobEnded
		j.Final = r.Failed && r.Attempt >= job.Most
	}
	return j
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/job"
	"github.com/valkey-render/valkey-render/render/name"
)

// drain is how shards that are no longer rendered are emptied, where no reconciler does it.
type drain struct {
	shards []int32
	job    *unstructured.Unstructured
	// emptied says that this run has seen a Job end that found no slot and no key in them.
	emptied bool
}

func (d *drain) has(live *unstructured.Unstructured) bool {
	shard, belongs := shardOf(live)
	index, err := strconv.ParseInt(shard, 10, 32)
	return belongs && err == nil && slices.Contains(d.shards, int32(index))
}

// String names the shards.
func (d *drain) String() string {
	if len(d.shards) == 1 {
		return fmt.Sprintf("shard %d", d.shards[0])
	}
	list := make([]string, len(d.shards))
	for i, shard := range d.shards {
		list[i] = strconv.Itoa(int(shard))
	}
	return "shards " + strings.Join(list, ", ")
}

// planDrain turns what is held of shards of a cluster with jobs: Rendered into what goes
// after a Job has emptied them. With deletionPolicy Allow they go as they are.
func (u *unit) planDrain(g guard) error {
	spec := u.cluster.Spec
	if g.found || spec == nil || !spec.IsCluster() || spec.Spec.Hibernate || g.policy == string(v1alpha1.DeletionAllow) {
		return nil
	}
	d := &drain{}
	replicas := int64(0)
	for _, c := range u.prunes {
		shard, belongs := shardOf(c.Live)
		index, err := strconv.ParseInt(shard, 10, 32)
		if c.Action == Held && c.Kind == "StatefulSet" && belongs && err == nil && int32(index) >= spec.ShardCount() {
			d.shards = append(d.shards, int32(index))
			pods, _ := number(c.Live, "spec", "replicas")
			replicas = max(replicas, pods-1)
		}
	}
	if len(d.shards) == 0 {
		return nil
	}
	slices.Sort(d.shards)
	var err error
	if d.job, err = drainJob(u.cluster, d.shards[len(d.shards)-1]+1, replicas); err != nil {
		return fmt.Errorf("%s: Job that drains %s: %w", u.cluster, d, err)
	}
	for i := range u.prunes {
		if c := &u.prunes[i]; c.Action == Held && d.has(c.Live) {
			c.Action, c.Message = Deleted, fmt.Sprintf("after %s has moved its slots and keys away", idOf(d.job))
		}
	}
	u.prunes = slices.Insert(u.prunes, 0, Change{ID: idOf(d.job), Action: Created, Next: d.job, Message: fmt.Sprintf("moves the slots and keys of %s away before anything else is done, and goes", d)})
	u.drain = d
	return nil
}

// drain empties the shards that go and deletes their StatefulSets, before anything else is
// changed. A run that was stopped goes on with the Job that is there; that one has ended
// before proves nothing of now.
func (p *Plan) drain(ctx context.Context, u *unit) error {
	if u.drain == nil {
		return nil
	}
	id := idOf(u.drain.job)
	u.inventory.pending = union(u.inventory.pending, []ID{id})
	u.stale = union(u.stale, []ID{id})
	if err := p.save(ctx, u); err != nil {
		return err
	}
	if err := p.idle(ctx, u); err != nil {
		return err
	}
	uid, err := p.startDrain(ctx, u)
	if err != nil {
		return err
	}
	p.applier.options.OnNote(fmt.Sprintf("%s: moves the slots and keys of %s away: kubectl -n %s logs -f job/%s says how far it is", id, u.drain, id.Namespace, id.Name))
	if err := p.awaitDrain(ctx, id, uid); err != nil {
		return err
	}
	u.drain.emptied = true
	return p.pruneDrained(ctx, u)
}

// idle waits until no Job that the inventory knows moves slots: one of the rendering before
// would give a shard that goes its slots back.
func (p *Plan) idle(ctx context.Context, u *unit) error {
	for _, id := range u.inventory.known() {
		if id.Kind != "Job" || id == idOf(u.drain.job) || strings.HasPrefix(id.Name, name.RenderedJob(u.cluster.Name, job.KindSecrets, "")) {
			continue
		}
		_, err := p.watch(ctx, id, func(live *unstructured.Unstructured) Status {
			s := Status{ID: id, State: Ready}
			if live != nil && !finished(live) {
				s.State, s.Message = Waiting, "is at work, and shards are drained when it has ended"
			}
			return s
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// startDrain makes the Job, in place of one that has ended.
func (p *Plan) startDrain(ctx context.Context, u *unit) (types.UID, error) {
	a, id := p.applier, idOf(u.drain.job)
	for {
		live := id.object()
		err := a.client.Get(ctx, client.ObjectKeyFromObject(live), live)
		switch {
		case apierrors.IsNotFound(err):
			if err := a.before("apply " + id.String()); err != nil {
				return "", err
			}
			next := u.drain.job.DeepCopy()
			err := a.client.Create(ctx, next, client.FieldOwner(FieldManager))
			if err == nil {
				c := Change{ID: id, Action: Created, Next: next}
				a.options.OnChange(c)
				u.done = append(u.done, c)
				return next.GetUID(), nil
			}
			if !apierrors.IsAlreadyExists(err) {
				return "", &ObjectError{ID: id, Verb: "create", Err: err}
			}
		case err != nil:
			return "", &ObjectError{ID: id, Verb: "read", Err: err}
		case a.checkOwner(u.cluster, live) != nil:
			return "", &ObjectError{ID: id, Verb: "create", Err: a.checkOwner(u.cluster, live)}
		case live.GetDeletionTimestamp() == nil && !finished(live):
			return live.GetUID(), nil
		case live.GetDeletionTimestamp() == nil:
			uid := live.GetUID()
			err := a.client.Delete(ctx, live, client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &uid})
			if client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
				return "", &ObjectError{ID: id, Verb: "delete", Err: err}
			}
		}
		if err := pause(ctx, a.options.Clock, a.options.Interval); err != nil {
			return "", err
		}
	}
}

func finished(j *unstructured.Unstructured) bool {
	return condition(j, "Complete").status == "True" || condition(j, "Failed").status == "True"
}

// awaitDrain waits until the Job has proven that the shards are empty.
func (p *Plan) awaitDrain(ctx context.Context, id ID, uid types.UID) error {
	s, err := p.watch(ctx, id, func(live *unstructured.Unstructured) Status {
		if live == nil || live.GetUID() != uid {
			return Status{ID: id, State: Stuck, Message: "is gone, and nobody has seen it complete"}
		}
		s := StatusOf(live)
		if s.State == Waiting && live.GetDeletionTimestamp() == nil {
			s.Message = "moves slots and keys away"
		}
		return s
	})
	if err != nil {
		return err
	}
	said, heard := p.applier.said(ctx, id, uid)
	if heard && said.Message != "" {
		s.Message = strings.TrimPrefix(s.Message+": "+said.Message, ": ")
	}
	if s.State == Ready && heard && (said.Result != job.Converged || said.DryRun) {
		s.State = Stuck
	}
	if s.State != Ready {
		s.Message += "; nothing else was changed: see to it and apply again"
		return &NotReadyError{Pending: []Status{s}}
	}
	return nil
}

// watch looks at an object, nil when it is gone, until it is not waited for any more.
func (p *Plan) watch(ctx context.Context, id ID, judge func(*unstructured.Unstructured) Status) (Status, error) {
	a := p.applier
	var last Status
	for {
		live := id.object()
		err := a.client.Get(ctx, client.ObjectKeyFromObject(live), live)
		var s Status
		switch {
		case apierrors.IsNotFound(err):
			s = judge(nil)
		case err != nil && IsRefusal(err):
			return s, &ObjectError{ID: id, Verb: "read", Err: err}
		case err != nil:
			s = unread(id, err)
		default:
			s = judge(live)
		}
		if s.State != Waiting {
			return s, nil
		}
		if s != last {
			last = s
			a.options.OnWait(Progress{Total: 1, Pending: []Status{s}, Changed: []Status{s}})
		}
		if err := pause(ctx, a.options.Clock, a.options.Interval); err != nil {
			return s, &NotReadyError{Pending: []Status{s}, Err: err}
		}
	}
}

// words are what a Job says when it ends.
type words struct {
	Result  string `json:"result"`
	Message string `json:"message"`
	DryRun  bool   `json:"dryRun"`
}

// said is what the last pod of a Job has said. Who may not list pods is told nothing.
func (a *Applier) said(ctx context.Context, id ID, uid types.UID) (words, bool) {
	var pods corev1.PodList
	if err := a.client.List(ctx, &pods, client.InNamespace(id.Namespace), client.MatchingLabels{batchv1.ControllerUidLabel: string(uid)}); err != nil {
		return words{}, false
	}
	var last *corev1.ContainerStateTerminated
	for i := range pods.Items {
		for _, s := range pods.Items[i].Status.ContainerStatuses {
			if t := s.State.Terminated; s.Name == job.ContainerName && t != nil && (last == nil || last.FinishedAt.Before(&t.FinishedAt)) {
				last = t
			}
		}
	}
	var w words
	if last == nil || json.Unmarshal([]byte(last.Message), &w) != nil {
		return w, false
	}
	return w, true
}

// pruneDrained deletes the StatefulSets of drained shards, the last one first: what is left
// when that is stopped is what the Job is told to look at.
func (p *Plan) pruneDrained(ctx context.Context, u *unit) error {
	var changes []Change
	for _, id := range slices.Backward(u.stale) {
		if id.Kind != "StatefulSet" {
			continue
		}
		c, err := p.judgeNow(ctx, u, id)
		if err != nil {
			return err
		}
		if c.Action != Deleted || !u.drain.has(c.Live) {
			continue
		}
		if c = p.applier.remove(ctx, c); isGoing(c) {
			continue
		}
		p.applier.options.OnChange(c)
		u.done = append(u.done, c)
		if changes = append(changes, c); c.Action == Failed {
			break
		}
	}
	return joinFailures(changes)
}

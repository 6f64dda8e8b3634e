// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/decision"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/secretstore"
	"github.com/valkey-render/valkey-render/topologyjob/status"
)

// act does what was decided. What fails is tried again by the next look, which sees how far
// this one came; one failure keeps nothing else from being done.
func (r *Reconciler) act(ctx context.Context, g *gathered, d decision.Decision) error {
	var failed []error
	if d.Secrets {
		failed = append(failed, r.secrets(ctx, g))
	}
	for _, j := range d.Stop {
		failed = append(failed, r.stop(ctx, g, j))
	}
	for _, p := range d.Refresh {
		_, err := r.patchPod(ctx, g.cluster.Namespace, p.Pod, p.UID, "annotations", v1alpha1.AnnotationRefresh, p.Token)
		failed = append(failed, err)
	}
	for i := range d.Start {
		failed = append(failed, r.start(ctx, g, &d.Start[i]))
	}
	failed = append(failed, r.label(ctx, g, d.Labels))
	for _, e := range d.Evict {
		failed = append(failed, r.evict(ctx, g, e))
	}
	for _, shard := range d.Release {
		failed = append(failed, r.release(ctx, g, shard))
	}
	if d.Reload {
		// Last: those that do not answer are waited for.
		r.reload(ctx, g)
	}
	return errors.Join(failed...)
}

func (r *Reconciler) secrets(ctx context.Context, g *gathered) error {
	// It reads again, so that two writers never replace each other's passwords.
	writes, err := secretstore.Converge(ctx, liveSecrets{r.Client, r.Live}, g.secretInput(r.Random), false)
	for _, w := range writes {
		log.FromContext(ctx).Info("wrote Secret", "secret", w.Name, "created", w.Created, "keys", w.Keys)
		e := status.Event{Reason: v1alpha1.EventInternalSecretsUpdated, Message: fmt.Sprintf(v1alpha1.TextInternalSecretsUpdated, w.Name)}
		if w.Created {
			e = status.Event{Reason: v1alpha1.EventInternalSecretsCreated, Message: fmt.Sprintf(v1alpha1.TextInternalSecretsCreated, w.Name)}
		}
		r.tell(g.cluster, g, []status.Event{e})
	}
	if err != nil {
		return fmt.Errorf("%s: Secrets not written: %w", g.subject(), err)
	}
	return nil
}

// liveSecrets reads past the cache: Secrets are in none.
type liveSecrets struct {
	client.Client
	live client.Reader
}

// Get implements client.Reader.
func (l liveSecrets) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	return l.live.Get(ctx, key, into, opts...)
}

// start creates a Job whose number is in the status. One that is there already was created
// by a request whose answer was lost.
func (r *Reconciler) start(ctx context.Context, g *gathered, s *decision.Start) error {
	j, err := job.Object(g.cluster, g.seen.ACLs, s.Order, s.Serial, s.Attempt, r.JobImage, r.Place)
	if err != nil {
		return err
	}
	err = r.Client.Create(ctx, j, client.FieldOwner(FieldManager))
	if apierrors.IsAlreadyExists(err) {
		return r.ours(ctx, g, j)
	}
	if err != nil {
		return fmt.Errorf("%s not created: %w", name.Subject("Job", j.Namespace, j.Name), err)
	}
	log.FromContext(ctx).Info("started Job", "job", j.Name, "attempt", s.Attempt, "why", s.Why)
	return nil
}

// ours is an error when the Job that has the name of one that was to be created is not of this
// cluster: one of a cluster that had its name, or somebody's own, does nothing for it. Who an
// apply Job is of is in its token, as it is owned by nobody.
func (r *Reconciler) ours(ctx context.Context, g *gathered, wanted *batchv1.Job) error {
	live := &batchv1.Job{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(wanted), live); err != nil {
		// Gone by now: the next look creates it.
		return client.IgnoreNotFound(err)
	}
	if metav1.IsControlledBy(live, g.cluster) ||
		len(wanted.OwnerReferences) == 0 && live.Annotations[job.AnnotationToken] == wanted.Annotations[job.AnnotationToken] {
		return nil
	}
	return fmt.Errorf("%s not created: one of that name is there that is not of %s: delete it", name.Subject("Job", live.Namespace, live.Name), g.subject())
}

// stop deletes a Job and waits for its pods to be gone before the name is free.
func (r *Reconciler) stop(ctx context.Context, g *gathered, j job.Record) error {
	object := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespaceOf(g, j.Kind), Name: j.Name}}
	err := r.Client.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationForeground), client.Preconditions{UID: &j.UID})
	if client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("%s not deleted: %w", name.Subject("Job", object.Namespace, j.Name), err)
	}
	return nil
}

// evict replaces a pod by the Eviction API, which heeds budgets, if it is still the one that
// was looked at and is still to be replaced.
func (r *Reconciler) evict(ctx context.Context, g *gathered, e decision.Eviction) error {
	if !r.still(ctx, g, e) {
		return nil
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: g.cluster.Namespace, Name: e.Pod}}
	uid := types.UID(e.UID)
	options := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}
	if e.Grace > 0 {
		options.GracePeriodSeconds = new(int64(e.Grace / time.Second))
	}
	err := r.Client.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{ObjectMeta: pod.ObjectMeta, DeleteOptions: options})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil
	case apierrors.IsTooManyRequests(err):
		log.FromContext(ctx).V(1).Info("eviction has to wait", "pod", e.Pod, "why", err.Error())
		return nil
	case err != nil:
		return fmt.Errorf("%s not evicted: %w", name.Subject("Pod", pod.Namespace, pod.Name), err)
	}
	log.FromContext(ctx).Info("evicted pod", "pod", e.Pod, "why", e.Why)
	r.tell(g.cluster, g, g.updated(e.Pod))
	return nil
}

// updated is the event of the ValkeyNode of a pod that was replaced.
func (g *gathered) updated(pod string) []status.Event {
	for i := range g.seen.Pods {
		if p := &g.seen.Pods[i]; p.Name == pod && !p.Sentinel {
			return []status.Event{{Reason: v1alpha1.EventValkeyNodeUpdated, Message: fmt.Sprintf(v1alpha1.TextValkeyNodeUpdated, p.Shard, p.Index)}}
		}
	}
	return nil
}

// still looks at the servers again, right before a pod goes, and reports whether it is to
// go all the same.
func (r *Reconciler) still(ctx context.Context, g *gathered, e decision.Eviction) bool {
	again := r.askAgain(ctx, g)
	if again.seen.View == nil {
		return false
	}
	for _, now := range decision.Decide(again.input()).Evict {
		if now.Pod == e.Pod && now.UID == e.UID {
			return true
		}
	}
	return false
}

// askAgain is what was gathered, with what servers tell now: nothing when nobody can be asked.
func (r *Reconciler) askAgain(ctx context.Context, g *gathered) *gathered {
	again := *g
	again.seen.View = nil
	r.ask(ctx, &again)
	return &again
}

// release deletes the StatefulSet of a shard that the status lists as drained, if that is
// still so: servers are asked again, and the spec is read again, since a shard that is
// wanted once more may get slots. The guard denies it too, where there is one.
func (r *Reconciler) release(ctx context.Context, g *gathered, shard int32) error {
	now := &v1alpha1.ValkeyCluster{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(g.cluster), now); err != nil {
		return client.IgnoreNotFound(err)
	}
	again := r.askAgain(ctx, g)
	if now.Generation != g.cluster.Generation || again.seen.View == nil ||
		!slices.Contains(now.Status.DrainedShards, shard) || !slices.Contains(decision.Decide(again.input()).Release, shard) {
		return nil
	}
	set := &appsv1.StatefulSet{}
	key := types.NamespacedName{Namespace: g.cluster.Namespace, Name: name.StatefulSet(g.cluster.Name, shard)}
	if err := r.Live.Get(ctx, key, set); err != nil {
		return client.IgnoreNotFound(err)
	}
	err := r.Client.Delete(ctx, set, client.Preconditions{UID: &set.UID, ResourceVersion: &set.ResourceVersion})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil
	case err != nil:
		return fmt.Errorf("StatefulSet/%s not deleted: %w", key, err)
	}
	log.FromContext(ctx).Info("deleted StatefulSet of a drained shard", "statefulset", key.Name)
	return nil
}

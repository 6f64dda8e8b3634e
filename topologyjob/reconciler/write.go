// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/decision"
	"github.com/valkey-render/valkey-render/topologyjob/status"
)

// finish puts into a status what was decided. A Job about to be created has no start yet:
// that is how one that never was is told from one that somebody has deleted.
func finish(s *v1alpha1.ValkeyClusterStatus, d decision.Decision, g *gathered) {
	s.DrainedShards, s.Applied = d.Drained, d.Applied
	created := map[string]metav1.Time{}
	for _, r := range g.jobs {
		created[r.Name] = metav1.NewTime(r.Created)
	}
	before := map[string]*metav1.Time{}
	for _, a := range g.cluster.Status.ActiveJobs {
		before[a.Name] = a.StartedAt
	}
	for i := range s.ActiveJobs {
		a := &s.ActiveJobs[i]
		a.StartedAt = before[a.Name]
		if at, there := created[a.Name]; there {
			a.StartedAt = &at
		}
	}
}

// write writes the status when it differs. A conflict is an error: what was decided was about
// something older.
func (r *Reconciler) write(ctx context.Context, c *v1alpha1.ValkeyCluster, g *gathered, result status.Result) error {
	if !equality.Semantic.DeepEqual(c.Status, result.Status) {
		next := c.DeepCopy()
		next.Status = result.Status
		patch := client.MergeFromWithOptions(c, client.MergeFromWithOptimisticLock{})
		if err := r.Client.Status().Patch(ctx, next, patch, client.FieldOwner(FieldManager)); err != nil {
			return fmt.Errorf("ValkeyCluster/%s status not written: %w", g.key(), err)
		}
	}
	r.Metrics.Looked(g.cluster, &result.Status, result.Measured)
	return nil
}

// publish writes what follows from the status, the ValkeyNodes and the status of ValkeyACLs, and
// makes the events of the transition.
func (r *Reconciler) publish(ctx context.Context, c *v1alpha1.ValkeyCluster, g *gathered, result status.Result) error {
	err := errors.Join(r.nodes(ctx, g, result.Nodes), r.acls(ctx, c, g, result.Status))
	r.tell(c, g, result.Events)
	return err
}

// acls brings the status of the cluster's ValkeyACLs up to date; c is nil when there is no
// such cluster.
func (r *Reconciler) acls(ctx context.Context, c *v1alpha1.ValkeyCluster, g *gathered, now v1alpha1.ValkeyClusterStatus) error {
	if c != nil {
		c = c.DeepCopy()
		c.Status = now
	}
	var failed []error
	for _, a := range g.seen.ACLs {
		next := a.DeepCopy()
		next.Status = status.ComputeACL(a, c, g.seen, g.now)
		if equality.Semantic.DeepEqual(a.Status, next.Status) {
			continue
		}
		err := r.Client.Status().Patch(ctx, next, client.MergeFrom(a), client.FieldOwner(FieldManager))
		if client.IgnoreNotFound(err) != nil {
			failed = append(failed, fmt.Errorf("%s status not written: %w", name.Subject(v1alpha1.KindACL, a.Namespace, a.Name), err))
		}
	}
	return errors.Join(failed...)
}

// nodes brings the ValkeyNodes up to date.
func (r *Reconciler) nodes(ctx context.Context, g *gathered, wanted []status.Node) error {
	there := map[string]*v1alpha1.ValkeyNode{}
	for i := range g.seen.Nodes {
		there[g.seen.Nodes[i].Name] = &g.seen.Nodes[i]
	}
	for _, w := range wanted {
		live := there[w.Name]
		delete(there, w.Name)
		if live == nil {
			var err error
			if live, err = r.newNode(ctx, g, w); err != nil {
				return err
			}
		}
		if equality.Semantic.DeepEqual(live.Status, w.Status) {
			continue
		}
		next := live.DeepCopy()
		next.Status = w.Status
		err := r.Client.Status().Patch(ctx, next, client.MergeFrom(live), client.FieldOwner(FieldManager))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("ValkeyNode/%s/%s status not written: %w", g.cluster.Namespace, w.Name, err)
		}
	}
	for _, live := range there {
		if live.DeletionTimestamp != nil {
			continue
		}
		if err := r.Client.Delete(ctx, live, client.Preconditions{UID: &live.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("ValkeyNode/%s/%s not deleted: %w", g.cluster.Namespace, live.Name, err)
		}
	}
	return nil
}

func (r *Reconciler) newNode(ctx context.Context, g *gathered, w status.Node) (*v1alpha1.ValkeyNode, error) {
	c := g.cluster
	n := &v1alpha1.ValkeyNode{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: w.Name, Labels: name.ShardLabels(c.Name, w.Spec.Shard),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(c, v1alpha1.GroupVersion().WithKind(v1alpha1.KindCluster))},
		},
		Spec: w.Spec,
	}
	err := r.Client.Create(ctx, n, client.FieldOwner(FieldManager))
	if apierrors.IsAlreadyExists(err) {
		// The cache is behind.
		err = r.Live.Get(ctx, client.ObjectKeyFromObject(n), n)
	}
	if err != nil {
		return nil, fmt.Errorf("ValkeyNode/%s/%s not created: %w", c.Namespace, w.Name, err)
	}
	return n, nil
}

// tell makes events.
func (r *Reconciler) tell(c *v1alpha1.ValkeyCluster, g *gathered, list []status.Event) {
	nodes := map[string]*v1alpha1.ValkeyNode{}
	for i := range g.seen.Nodes {
		nodes[g.seen.Nodes[i].Name] = &g.seen.Nodes[i]
	}
	for _, e := range list {
		recorder, about := r.Events, runtime.Object(c)
		if e.Node != "" {
			n := nodes[e.Node]
			if n == nil {
				continue
			}
			recorder, about = r.NodeEvents, n
		}
		if recorder == nil {
			continue
		}
		kind := corev1.EventTypeNormal
		if e.Warning {
			kind = corev1.EventTypeWarning
		}
		recorder.Eventf(about, nil, kind, e.Reason, action, "%s", e.Message)
	}
}

// action is the action of all events.
const action = "Reconcile"

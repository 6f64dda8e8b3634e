// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/decision"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/metric"
	"github.com/valkey-render/valkey-render/topologyjob/status"
)

// FieldManager owns the fields that the reconciler writes.
const FieldManager = "valkey-reconciler"

// Reconciler reconciles one ValkeyCluster at a time.
type Reconciler struct {
	// Client reads from the cache and writes to the server, Live reads from the server.
	Client client.Client
	Live   client.Reader
	// Surveyor asks the servers.
	Surveyor Surveyor
	// Exporters are told when their password is another; nil tells none.
	Exporters Exporters
	// Events and NodeEvents make events, nil makes none.
	Events, NodeEvents events.EventRecorder
	// Metrics are told what was done.
	Metrics *metric.Set
	// Clock is the time.
	Clock clock.PassiveClock
	// Random is where passwords come from.
	Random io.Reader
	// JobImage is the image of the programs in Jobs.
	JobImage string
	// Place is where apply Jobs run.
	Place job.Place
	// Scope is which clusters it is for.
	Scope Scope
	// Resync is how long it takes to look again when nothing happens.
	Resync time.Duration
	// Ended remembers Jobs whose pods were seen terminated.
	Ended *Ended
	// Refused remembers what the API server has refused.
	Refused *Refused
	// Orphans remembers StatefulSets without a ValkeyCluster, Guarded whether a guard is
	// installed; nil looks for none.
	Orphans *Orphans
	Guarded *Guarded
}

// atRest is how long nothing has to be looked at for connections to be closed.
const atRest = 10 * time.Second

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	c := &v1alpha1.ValkeyCluster{}
	err := r.Client.Get(ctx, request.NamespacedName, c)
	if apierrors.IsNotFound(err) || err == nil && c.DeletionTimestamp != nil {
		r.Surveyor.Rest(request.NamespacedName)
		r.Metrics.Drop(request.Namespace, request.Name)
		r.Refused.take(request.NamespacedName, nil)
		return ctrl.Result{}, r.orphanedACLs(ctx, request.NamespacedName)
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("ValkeyCluster/%s read failed: %w", request, err)
	}
	after, err := r.look(ctx, c)
	if conflict(err) {
		// The cache is behind: what is newer is on its way.
		log.FromContext(ctx).V(1).Info("behind", "why", err.Error())
		return ctrl.Result{RequeueAfter: conflictPause}, nil
	}
	r.Metrics.Reconciled(request.Namespace, request.Name, err)
	list, all := refusals(err)
	news := r.Refused.take(request.NamespacedName, list)
	switch {
	case !all:
		return ctrl.Result{}, err
	case err != nil:
		log.FromContext(ctx).Error(err, "refused")
		after = refusedPause
	}
	if news {
		after = soonest
	}
	if after > atRest {
		r.Surveyor.Rest(request.NamespacedName)
	}
	return ctrl.Result{RequeueAfter: after}, nil
}

// orphanedACLs tells the ValkeyACLs of a cluster that there is none. One that is not in the
// cache may be another reconciler's, by its labels: ValkeyACLs have none of these.
func (r *Reconciler) orphanedACLs(ctx context.Context, cluster types.NamespacedName) error {
	g := &gathered{now: r.Clock.Now(), cluster: &v1alpha1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: cluster.Name}}}
	var acls v1alpha1.ValkeyACLList
	if err := r.list(ctx, g, &acls); err != nil || len(acls.Items) == 0 {
		return err
	}
	live := &v1alpha1.ValkeyCluster{}
	err := r.Live.Get(ctx, cluster, live)
	if err == nil && live.DeletionTimestamp == nil {
		return nil
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("%s read failed: %w", name.Subject(v1alpha1.KindCluster, cluster.Namespace, cluster.Name), err)
	}
	for i := range acls.Items {
		g.seen.ACLs = append(g.seen.ACLs, &acls.Items[i])
	}
	return r.acls(ctx, nil, g, v1alpha1.ValkeyClusterStatus{})
}

// soonest is how long to wait to put into the status what has just happened.
const soonest = 250 * time.Millisecond

// conflictPause is how long to wait for the cache after a conflict.
const conflictPause = 200 * time.Millisecond

// look looks at a cluster once and does what follows.
func (r *Reconciler) look(ctx context.Context, c *v1alpha1.ValkeyCluster) (time.Duration, error) {
	g, err := r.gather(ctx, c)
	if err != nil {
		return 0, err
	}
	d := decision.Decide(g.input())
	g.miscarried(d)
	g.superseded(d)
	g.seen.Settings = decision.Settings(g.input())
	g.seen.Next, g.seen.Drained, g.seen.Actions = d.Next, d.Drained, d.Actions
	result := status.Compute(c, g.seen, g.now)
	finish(&result.Status, d, g)
	if err := r.write(ctx, c, g, result); err != nil {
		return 0, err
	}
	// A ValkeyNode that may not be written is no reason to leave a shard without a primary.
	if err := errors.Join(r.publish(ctx, c, g, result), r.act(ctx, g, d)); err != nil {
		return 0, err
	}
	log.FromContext(ctx).V(1).Info("looked", "waiting", d.Next.Waiting, "after", d.After.String())
	if result.Recheck > 0 {
		return min(d.After, result.Recheck), nil
	}
	return d.After, nil
}

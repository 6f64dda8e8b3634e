// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// lease is the Lease of a reconciler of this scope, without who holds it. Its annotations
// tell others whom the reconciler looks after.
func (s Scope) lease() *coordinationv1.Lease {
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: s.Own, Name: name.ReconcilerLease(s.Shard)}}
	s.mark(l)
	return l
}

// mark gives a Lease the labels and annotations of a scope.
func (s Scope) mark(l *coordinationv1.Lease) {
	if l.Labels == nil {
		l.Labels = map[string]string{}
	}
	maps.Copy(l.Labels, name.ReconcilerSelector())
	for key, value := range map[string]string{
		v1alpha1.AnnotationNamespaces: strings.Join(s.Namespaces, ","), v1alpha1.AnnotationShardSelector: s.Shard,
	} {
		delete(l.Annotations, key)
		if value != "" {
			metav1.SetMetaDataAnnotation(&l.ObjectMeta, key, value)
		}
	}
}

// Heartbeat keeps a Lease fresh where no leader is elected, so that others can see that a
// reconciler runs.
type Heartbeat struct {
	Live     client.Reader
	Client   client.Writer
	Scope    Scope
	Identity string
	Clock    clock.WithTicker
}

var _ manager.Runnable = (*Heartbeat)(nil)

// How long a Lease is fresh, and how often it is renewed.
const (
	leaseDuration = 30 * time.Second
	leaseRenewal  = 10 * time.Second
)

// Start implements manager.Runnable. A Lease that cannot be written stops nothing.
func (h *Heartbeat) Start(ctx context.Context) error {
	ticker := h.Clock.NewTicker(leaseRenewal)
	defer ticker.Stop()
	for {
		if err := h.beat(ctx); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Info("Lease not renewed", "lease", h.Scope.Own+"/"+name.ReconcilerLease(h.Scope.Shard), "error", err.Error())
		}
		select {
		case <-ticker.C():
		case <-ctx.Done():
			return nil
		}
	}
}

func (h *Heartbeat) beat(ctx context.Context) error {
	now := metav1.NewMicroTime(h.Clock.Now())
	lease := h.Scope.lease()
	err := h.Live.Get(ctx, client.ObjectKeyFromObject(lease), lease)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if err != nil {
		lease = h.Scope.lease()
	}
	h.Scope.mark(lease)
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity != h.Identity {
		lease.Spec.AcquireTime = &now
	}
	lease.Spec.HolderIdentity = &h.Identity
	lease.Spec.LeaseDurationSeconds = new(int32(leaseDuration.Seconds()))
	lease.Spec.RenewTime = &now
	if apierrors.IsNotFound(err) {
		return h.Client.Create(ctx, lease)
	}
	return h.Client.Update(ctx, lease)
}

// Election is the lock by which one of several reconcilers of the same scope leads: their
// Lease, whose annotations are those of the one that leads.
func Election(config *rest.Config, scope Scope, host string) (resourcelock.Interface, error) {
	config = rest.AddUserAgent(config, "leader-election")
	// A request that hangs costs no leadership: it is given up in half of the ten seconds in
	// which a leader has to renew.
	config.Timeout = 5 * time.Second
	leases, err := coordinationv1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client of Leases: %w", err)
	}
	return election(leases, scope, host+"_"+string(uuid.NewUUID())), nil
}

func election(leases coordinationv1client.LeasesGetter, scope Scope, identity string) *resourcelock.LeaseLock {
	return &resourcelock.LeaseLock{
		LeaseMeta: scope.lease().ObjectMeta, Client: markedLeases{leases, scope.mark},
		LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
	}
}

// markedLeases mark every Lease that is written: a LeaseLock writes no annotations.
type markedLeases struct {
	coordinationv1client.LeasesGetter
	mark func(*coordinationv1.Lease)
}

// Leases implements LeasesGetter.
func (m markedLeases) Leases(namespace string) coordinationv1client.LeaseInterface {
	return markedLease{m.LeasesGetter.Leases(namespace), m.mark}
}

type markedLease struct {
	coordinationv1client.LeaseInterface
	mark func(*coordinationv1.Lease)
}

// Create implements LeaseInterface.
func (m markedLease) Create(ctx context.Context, l *coordinationv1.Lease, o metav1.CreateOptions) (*coordinationv1.Lease, error) {
	m.mark(l)
	return m.LeaseInterface.Create(ctx, l, o)
}

// Update implements LeaseInterface.
func (m markedLease) Update(ctx context.Context, l *coordinationv1.Lease, o metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	m.mark(l)
	return m.LeaseInterface.Update(ctx, l, o)
}

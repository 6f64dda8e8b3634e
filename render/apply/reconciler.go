// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// scope is which ValkeyClusters a reconciler looks after, as its Lease says.
type scope struct {
	// namespaces are all when empty.
	namespaces []string
	// shard is nil for all.
	shard labels.Selector
}

// scopes are those of the reconcilers that run. They are unknown to who may not list
// Leases, or cannot now: then one is taken to look after everything.
type scopes struct {
	known bool
	list  []scope
}

// reconcilers finds the fresh Leases of reconcilers, in whatever namespace.
func (a *Applier) reconcilers(ctx context.Context) scopes {
	var leases coordinationv1.LeaseList
	if err := a.client.List(ctx, &leases, client.MatchingLabels(name.ReconcilerSelector())); err != nil {
		return scopes{}
	}
	s := scopes{known: true}
	for i := range leases.Items {
		l := &leases.Items[i]
		if l.Spec.RenewTime == nil || l.Spec.LeaseDurationSeconds == nil || l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "" {
			continue
		}
		age := a.options.Clock.Since(l.Spec.RenewTime.Time).Seconds()
		if age < 2*float64(*l.Spec.LeaseDurationSeconds) {
			s.list = append(s.list, scopeOf(l))
		}
	}
	return s
}

// scopeOf reads a Lease. A selector that cannot be read is one of all: nobody ends a wait
// because of it.
func scopeOf(l *coordinationv1.Lease) scope {
	var s scope
	if text := l.Annotations[v1alpha1.AnnotationNamespaces]; text != "" {
		s.namespaces = strings.Split(text, ",")
	}
	if text := l.Annotations[v1alpha1.AnnotationShardSelector]; text != "" {
		if shard, err := labels.Parse(text); err == nil {
			s.shard = shard
		}
	}
	return s
}

// watch reports whether a reconciler looks after a ValkeyCluster with these labels; nil
// labels are not known.
func (s scopes) watch(namespace string, set map[string]string) bool {
	return !s.known || slices.ContainsFunc(s.list, func(one scope) bool {
		return (len(one.namespaces) == 0 || slices.Contains(one.namespaces, namespace)) &&
			(one.shard == nil || set == nil || one.shard.Matches(labels.Set(set)))
	})
}

// ofReconciler are the objects that only a reconciler gives a status.
func ofReconciler(ids []ID) []ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id ID) bool { return id.Kind != v1alpha1.KindCluster && id.Kind != v1alpha1.KindACL })
}

// watched reports whether a reconciler looks after a cluster. Of ValkeyACLs that were
// rendered without it, the ValkeyCluster that is there counts.
func (a *Applier) watched(ctx context.Context, s scopes, c Cluster) bool {
	spec := c.spec()
	if spec == nil {
		spec = c.clusterID().object()
		if err := a.client.Get(ctx, client.ObjectKeyFromObject(spec), spec); err != nil {
			return s.watch(c.Namespace, nil)
		}
	}
	set := spec.GetLabels()
	if set == nil {
		set = map[string]string{}
	}
	return s.watch(c.Namespace, set)
}

// CheckReconciler notes that clusters expect a reconciler and none looks after them.
func (a *Applier) CheckReconciler(ctx context.Context, clusters []Cluster) {
	expecting := slices.DeleteFunc(slices.Clone(clusters), func(c Cluster) bool { return c.spec() == nil })
	if len(expecting) == 0 {
		return
	}
	s := a.reconcilers(ctx)
	alone := slices.DeleteFunc(expecting, func(c Cluster) bool { return a.watched(ctx, s, c) })
	if len(alone) == 0 {
		return
	}
	which := alone[0].String()
	if more := len(alone) - 1; more > 0 {
		which += fmt.Sprintf(" and %d more", more)
	}
	why := fmt.Sprintf("no reconciler is running (no fresh Lease %s)", name.ReconcilerLease(""))
	if len(s.list) > 0 {
		why = "no reconciler looks after it: those that run have other namespaces or labels to look after"
	}
	a.options.OnNote(fmt.Sprintf("%s: %s: Secrets, topology, rolls and status wait for one", which, why))
}

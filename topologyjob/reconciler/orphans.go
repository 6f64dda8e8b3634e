// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// OrphanGrace is how long a StatefulSet may be without its ValkeyCluster: appliers make the
// one before the other, and delete them one after the other.
const OrphanGrace = time.Minute

// Orphans remembers since when StatefulSets have no ValkeyCluster. A restart forgets it, and
// only costs the wait.
type Orphans struct {
	clock clock.PassiveClock
	grace time.Duration
	mu    sync.Mutex
	since map[string]map[string]time.Time
}

// NewOrphans remembers nothing yet.
func NewOrphans(c clock.PassiveClock, grace time.Duration) *Orphans {
	return &Orphans{clock: c, grace: grace, since: map[string]map[string]time.Time{}}
}

// see takes over which StatefulSets of a namespace have no ValkeyCluster now, and returns
// those that have had none for long.
func (o *Orphans) see(namespace string, sets []string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	now, before, after := o.clock.Now(), o.since[namespace], map[string]time.Time{}
	var long []string
	for _, s := range sets {
		at, known := before[s]
		if !known {
			at = now
		}
		after[s] = at
		if now.Sub(at) >= o.grace {
			long = append(long, s)
		}
	}
	o.since[namespace] = after
	if len(after) == 0 {
		delete(o.since, namespace)
	}
	slices.Sort(long)
	return long
}

// orphans looks for StatefulSets of shards without a ValkeyCluster. The first ValkeyCluster of
// a namespace tells of those of the namespace. What cannot be read now is read next time.
func (r *Reconciler) orphans(ctx context.Context, g *gathered) {
	var clusters v1alpha1.ValkeyClusterList
	var sets appsv1.StatefulSetList
	for _, list := range []client.ObjectList{&clusters, &sets} {
		if err := r.Client.List(ctx, list, client.InNamespace(g.cluster.Namespace), client.UnsafeDisableDeepCopy); err != nil {
			log.FromContext(ctx).V(1).Info("orphans not looked for", "why", err.Error())
			return
		}
	}
	there := map[string]bool{}
	for i := range clusters.Items {
		if clusters.Items[i].Name < g.cluster.Name {
			return
		}
		there[clusters.Items[i].Name] = true
	}
	var orphans []string
	for i := range sets.Items {
		s := &sets.Items[i]
		cluster := s.Labels[name.LabelCluster]
		if !wantsCluster(s) {
			continue
		}
		if _, known := there[cluster]; !known {
			there[cluster] = r.exists(ctx, types.NamespacedName{Namespace: s.Namespace, Name: cluster})
		}
		if !there[cluster] {
			orphans = append(orphans, s.Name)
		}
	}
	g.seen.Orphans = r.Orphans.see(g.cluster.Namespace, orphans)
}

// wantsCluster is whether a StatefulSet is nothing without a ValkeyCluster. With jobs: Rendered
// there is none, and with an owner Kubernetes deletes it.
func wantsCluster(s *appsv1.StatefulSet) bool {
	if s.DeletionTimestamp != nil || len(s.OwnerReferences) > 0 {
		return false
	}
	return slices.ContainsFunc(s.Spec.Template.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool {
			return e.Name == name.EnvJobs && e.Value == string(v1alpha1.JobsReconciler)
		})
	})
}

// exists reports whether there is a ValkeyCluster, or may be one. It asks past the cache,
// which has none that are another reconciler's.
func (r *Reconciler) exists(ctx context.Context, key types.NamespacedName) bool {
	return !apierrors.IsNotFound(r.Live.Get(ctx, key, &v1alpha1.ValkeyCluster{}))
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// clusterIndex finds the objects of a cluster in the cache.
const clusterIndex = "cluster"

// clusterOf is the cluster that an object belongs to, "" for none.
func clusterOf(o client.Object) string {
	if a, ok := o.(*v1alpha1.ValkeyACL); ok {
		return a.Spec.ClusterRef.Name
	}
	if namespace := o.GetLabels()[name.LabelClusterNamespace]; namespace != "" {
		return farKey(namespace, o.GetLabels()[name.LabelCluster])
	}
	return o.GetLabels()[name.LabelCluster]
}

// farKey is the cluster of an object that is in another namespace.
func farKey(namespace, cluster string) string { return namespace + "/" + cluster }

// watched are all kinds that belong to a cluster.
func watched() []client.Object {
	return append(labelled(), &corev1.Pod{}, &v1alpha1.ValkeyACL{})
}

// Setup adds the reconciler to a manager.
func (r *Reconciler) Setup(ctx context.Context, m manager.Manager, concurrency int) error {
	r.Client = telling{r.Client}
	for _, o := range watched() {
		index := func(o client.Object) []string {
			if c := clusterOf(o); c != "" {
				return []string{c}
			}
			return nil
		}
		if err := m.GetFieldIndexer().IndexField(ctx, o, clusterIndex, index); err != nil {
			return fmt.Errorf("index of %T: %w", o, err)
		}
	}
	enqueue := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		if p, ok := o.(*corev1.Pod); ok {
			r.Ended.See(p)
		}
		return r.requests(o)
	})
	// A status that is written here is no news.
	news := builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, predicate.LabelChangedPredicate{}))
	b := ctrl.NewControllerManagedBy(m).For(&v1alpha1.ValkeyCluster{}, news).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: concurrency,
			// Metrics tell controllers apart by their names; tests run several managers.
			SkipNameValidation: new(true),
		})
	for _, o := range []client.Object{&appsv1.StatefulSet{}, &batchv1.Job{}, &corev1.Pod{}, &corev1.PersistentVolumeClaim{}} {
		b = b.Watches(o, enqueue)
	}
	b = b.Watches(&v1alpha1.ValkeyNode{}, enqueue, news).Watches(&v1alpha1.ValkeyACL{}, enqueue, news)
	for _, o := range []client.Object{
		metadata("v1", "Service"), metadata("v1", "ConfigMap"), metadata(policyv1.SchemeGroupVersion.String(), "PodDisruptionBudget"),
	} {
		b = b.WatchesMetadata(o, enqueue)
	}
	if err := b.Complete(r); err != nil {
		return fmt.Errorf("controller: %w", err)
	}
	return nil
}

// requests are for the cluster that an object belongs to. In the reconciler's own namespace
// objects are seen of clusters that others look after, too.
func (r *Reconciler) requests(o client.Object) []reconcile.Request {
	c := clusterOf(o)
	if c == "" {
		return nil
	}
	namespace := o.GetNamespace()
	if far, cluster, is := strings.Cut(c, "/"); is {
		namespace, c = far, cluster
	}
	if !r.Scope.watches(namespace) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: namespace, Name: c}}}
}

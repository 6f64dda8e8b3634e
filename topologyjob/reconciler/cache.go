// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// Scheme knows every kind that the reconciler reads or writes.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// Scope says which clusters a reconciler is for.
type Scope struct {
	// Namespaces that it watches, all when empty.
	Namespaces []string
	// Own is the namespace that the reconciler runs in, for its apply Jobs.
	Own string
	// Shard selects the ValkeyClusters that are its own by their labels, all when empty.
	Shard string
}

// watches reports whether clusters of a namespace are looked after. To ask the cache for
// those of another is an error each time.
func (s Scope) watches(namespace string) bool {
	return len(s.Namespaces) == 0 || slices.Contains(s.Namespaces, namespace)
}

// Cache is what is kept in memory: objects of clusters, by their label, and without what
// nobody here reads.
func (s Scope) Cache() (cache.Options, error) {
	ours, err := labels.NewRequirement(name.LabelCluster, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, err
	}
	selector := labels.NewSelector().Add(*ours)
	o := cache.Options{
		DefaultTransform:            cache.TransformStripManagedFields(),
		ReaderFailOnMissingInformer: true,
		ByObject:                    map[client.Object]cache.ByObject{},
	}
	if len(s.Namespaces) > 0 {
		o.DefaultNamespaces = map[string]cache.Config{}
		for _, n := range s.Namespaces {
			o.DefaultNamespaces[n] = cache.Config{}
		}
	}
	for _, object := range labelled() {
		o.ByObject[object] = cache.ByObject{Label: selector}
	}
	pods := cache.ByObject{Label: selector, Transform: stripPod}
	if len(s.Namespaces) > 0 && s.Own != "" {
		both := map[string]cache.Config{s.Own: {}}
		for _, n := range s.Namespaces {
			both[n] = cache.Config{}
		}
		pods.Namespaces = both
		for object, by := range o.ByObject {
			if _, isJob := object.(*batchv1.Job); isJob {
				by.Namespaces = both
				o.ByObject[object] = by
			}
		}
	}
	o.ByObject[&corev1.Pod{}] = pods
	if s.Shard != "" {
		shard, err := labels.Parse(s.Shard)
		if err != nil {
			return cache.Options{}, fmt.Errorf("selector %q: %w", s.Shard, err)
		}
		o.ByObject[&v1alpha1.ValkeyCluster{}] = cache.ByObject{Label: shard}
	}
	return o, nil
}

// labelled are the kinds of which only the objects of clusters are kept.
func labelled() []client.Object {
	return []client.Object{
		&appsv1.StatefulSet{}, &batchv1.Job{}, &corev1.PersistentVolumeClaim{}, &v1alpha1.ValkeyNode{},
		metadata("v1", "Service"), metadata("v1", "ConfigMap"), metadata(policyv1.SchemeGroupVersion.String(), "PodDisruptionBudget"),
	}
}

// metadata is an object of which only the metadata is read.
func metadata(version, kind string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: kind}}
}

// stripPod keeps of a pod what is read here: the configuration of a server alone, an
// annotation, is larger than all the rest.
func stripPod(in any) (any, error) {
	p, ok := in.(*corev1.Pod)
	if !ok {
		return in, nil
	}
	annotations := p.Annotations
	p.ManagedFields = nil
	p.Annotations = nil
	if token, there := annotations[v1alpha1.AnnotationRefresh]; there {
		p.Annotations = map[string]string{v1alpha1.AnnotationRefresh: token}
	}
	p.Spec.Volumes, p.Spec.Affinity, p.Spec.Tolerations, p.Spec.TopologySpreadConstraints = nil, nil, nil, nil
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			list[i] = corev1.Container{Name: list[i].Name, Image: list[i].Image}
		}
	}
	return p, nil
}

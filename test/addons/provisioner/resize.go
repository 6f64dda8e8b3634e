// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// How a resize ends: the value of the parameter "resize" of the storage class, or of the
// annotation below on the claim, which counts more and may change while a resize waits.
const (
	outcomeDone       = "done"       // the volume grows (the default)
	outcomePending    = "pending"    // the driver works on it and never comes to an end
	outcomeInfeasible = "infeasible" // the driver says that it will never be possible
	outcomeNode       = "node"       // the volume has grown, its file system waits for the node
)

const (
	resizeParameter  = "resize"
	resizeAnnotation = "localcluster.valkey-render.dev/resize"
)

// resizer is a resizer sidecar and its driver. Its writes to the status of a claim are
// those of external-resizer: conditions and allocatedResources included.
type resizer struct {
	client  kubernetes.Interface
	claims  corelisters.PersistentVolumeClaimLister
	classes storagelisters.StorageClassLister
	synced  []cache.InformerSynced
	queue   workqueue.TypedRateLimitingInterface[cache.ObjectName]
}

func newResizer(client kubernetes.Interface, factory informers.SharedInformerFactory) (*resizer, error) {
	claims := factory.Core().V1().PersistentVolumeClaims()
	classes := factory.Storage().V1().StorageClasses()
	r := &resizer{
		client:  client,
		claims:  claims.Lister(),
		classes: classes.Lister(),
		synced:  []cache.InformerSynced{claims.Informer().HasSynced, classes.Informer().HasSynced},
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](100*time.Millisecond, 10*time.Second)),
	}
	enqueue := func(object any) {
		if name, err := cache.ObjectToName(object); err == nil {
			r.queue.Add(name)
		}
	}
	_, err := claims.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, object any) { enqueue(object) },
	})
	if err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	return r, nil
}

// run resizes claims until the context ends.
func (r *resizer) run(ctx context.Context) {
	if !cache.WaitForCacheSync(ctx.Done(), r.synced...) {
		return
	}
	go func() {
		<-ctx.Done()
		r.queue.ShutDown()
	}()
	for {
		name, shutdown := r.queue.Get()
		if shutdown {
			return
		}
		if err := r.resize(ctx, name); err != nil {
			klog.ErrorS(err, "resize failed", "claim", name)
			r.queue.AddRateLimited(name)
		} else {
			r.queue.Forget(name)
		}
		r.queue.Done(name)
	}
}

// outcome is how a resize of the claim ends; empty where another driver serves it.
func (r *resizer) outcome(claim *corev1.PersistentVolumeClaim) string {
	if claim.Spec.StorageClassName == nil {
		return ""
	}
	class, err := r.classes.Get(*claim.Spec.StorageClassName)
	if err != nil || class.Provisioner != driver {
		return ""
	}
	if o := claim.Annotations[resizeAnnotation]; o != "" {
		return o
	}
	if o := class.Parameters[resizeParameter]; o != "" {
		return o
	}
	return outcomeDone
}

func (r *resizer) resize(ctx context.Context, name cache.ObjectName) error {
	claim, err := r.claims.PersistentVolumeClaims(name.Namespace).Get(name.Name)
	if err != nil {
		return nil //nolint:nilerr // deleted since
	}
	want := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	have := claim.Status.Capacity[corev1.ResourceStorage]
	outcome := r.outcome(claim)
	if outcome == "" || claim.Status.Phase != corev1.ClaimBound || want.Cmp(have) <= 0 {
		return nil
	}
	status, err := conditionsOf(outcome, want)
	if err != nil {
		return fmt.Errorf("claim %s: %w", name, err)
	}
	if outcome == outcomeDone || outcome == outcomeNode {
		if err := r.grow(ctx, claim.Spec.VolumeName, want); err != nil {
			return err
		}
	}
	claim = claim.DeepCopy()
	if !status.apply(claim, metav1.Now()) {
		return nil
	}
	if _, err := r.client.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, claim, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("status of claim %s: %w", name, err)
	}
	return nil
}

// grow sets the capacity of a volume.
func (r *resizer) grow(ctx context.Context, name string, size resource.Quantity) error {
	volume, err := r.client.CoreV1().PersistentVolumes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("volume %s: %w", name, err)
	}
	if have := volume.Spec.Capacity[corev1.ResourceStorage]; have.Cmp(size) >= 0 {
		return nil
	}
	volume.Spec.Capacity[corev1.ResourceStorage] = size
	if _, err := r.client.CoreV1().PersistentVolumes().Update(ctx, volume, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("volume %s: %w", name, err)
	}
	return nil
}

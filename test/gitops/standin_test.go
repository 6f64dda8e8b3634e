// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// class is a storage class of volumes that are made by hand, and whose claims grow.
const class = "appliers"

// nodes stands in for what this server has none of, until the test is over: it gives
// every claim a volume, which the real controller binds, and calls every pod ready.
func (r *rig) nodes() {
	r.Helper()
	expands := true
	err := r.client.Create(r.Context(), &storagev1.StorageClass{
		ObjectMeta:           metav1.ObjectMeta{Name: class},
		Provisioner:          "kubernetes.io/no-provisioner",
		AllowVolumeExpansion: &expands,
	})
	if !apierrors.IsAlreadyExists(err) {
		r.must(err)
	}
	ctx, stop := context.WithCancel(r.Context())
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			if err := r.serve(ctx); err != nil && ctx.Err() == nil {
				r.Error(err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	r.Cleanup(func() {
		stop()
		done.Wait()
		volumes := client.MatchingLabels{"test": r.namespace}
		if err := r.client.DeleteAllOf(context.Background(), &corev1.PersistentVolume{}, volumes); err != nil {
			r.Error(err)
		}
	})
}

func (r *rig) serve(ctx context.Context) error {
	claims := &corev1.PersistentVolumeClaimList{}
	if err := r.client.List(ctx, claims, client.InNamespace(r.namespace)); err != nil {
		return err
	}
	for _, claim := range claims.Items {
		if claim.Spec.VolumeName != "" {
			continue
		}
		err := r.client.Create(ctx, &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: r.namespace + "-" + claim.Name, Labels: map[string]string{"test": r.namespace}},
			Spec: corev1.PersistentVolumeSpec{
				StorageClassName:       class,
				AccessModes:            claim.Spec.AccessModes,
				Capacity:               claim.Spec.Resources.Requests,
				ClaimRef:               &corev1.ObjectReference{Namespace: claim.Namespace, Name: claim.Name},
				PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/nonexistent"}},
			},
		})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	pods := &corev1.PodList{}
	if err := r.client.List(ctx, pods, client.InNamespace(r.namespace)); err != nil {
		return err
	}
	for _, pod := range pods.Items {
		if pod.Status.Phase == corev1.PodRunning {
			continue
		}
		ready := pod.DeepCopy()
		ready.Status.Phase = corev1.PodRunning
		ready.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
		if err := r.client.Status().Patch(ctx, ready, client.MergeFrom(&pod)); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

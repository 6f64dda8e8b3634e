// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// claims returns the PersistentVolumeClaims of a shard, one for each pod, under
// the names that the StatefulSet looks for: it adopts them. They carry the size
// that is asked for, so that growing a disk is a change of one line and never one
// of an immutable field.
func claims(c *v1alpha1.ValkeyCluster, shard int32) []*corev1.PersistentVolumeClaim {
	if !c.HasClaims() {
		return nil
	}
	out := make([]*corev1.PersistentVolumeClaim, 0, c.PodsPerShard())
	for index := range c.PodsPerShard() {
		meta := shardMeta(c, shard, name.Claim(c.Name, shard, index))
		meta.Annotations = kept()
		out = append(out, claim(c, meta, c.StorageSize()))
	}
	return out
}

// claimTemplate is the StatefulSet's own template. Nothing in it varies and it has
// no labels: a claim that the controller makes from it gets the selector's only,
// and a policy tells by the missing managed-by label that it was not rendered. The
// server adds a status, and compares the whole list when another manager applies it:
// without the status kubectl would have a conflict over what is the same.
func claimTemplate(c *v1alpha1.ValkeyCluster) corev1.PersistentVolumeClaim {
	template := claim(c, metav1.ObjectMeta{Name: name.DataClaim}, c.InitialSize())
	template.Status.Phase = corev1.ClaimPending
	return *template
}

func claim(c *v1alpha1.ValkeyCluster, meta metav1.ObjectMeta, size resource.Quantity) *corev1.PersistentVolumeClaim {
	mode := corev1.PersistentVolumeFilesystem
	return &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: meta,
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{c.AccessMode()},
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
			StorageClassName: c.Spec.Storage.StorageClassName,
			VolumeMode:       &mode,
		},
	}
}

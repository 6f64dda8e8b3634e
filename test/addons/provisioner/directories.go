// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// directories provisions volumes as directories root/<node>/<volume>. They are of type
// local, not hostPath: the kubelet applies fsGroup to those, as it does to real disks.
type directories struct{ root string }

// Provision makes the directory and describes it as a volume that only its node can use.
func (d directories) Provision(_ context.Context, o controller.ProvisionOptions) (*corev1.PersistentVolume, controller.ProvisioningState, error) {
	if o.SelectedNodeName == "" {
		return nil, controller.ProvisioningFinished,
			errors.New("storage class: volumeBindingMode must be WaitForFirstConsumer, a directory is on one node")
	}
	path := filepath.Join(d.root, o.SelectedNodeName, o.PVName)
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, controller.ProvisioningFinished, fmt.Errorf("volume %s: %w", o.PVName, err)
	}
	reclaim := corev1.PersistentVolumeReclaimDelete
	if o.StorageClass.ReclaimPolicy != nil {
		reclaim = *o.StorageClass.ReclaimPolicy
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: o.PVName},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: reclaim,
			AccessModes:                   o.PVC.Spec.AccessModes,
			VolumeMode:                    o.PVC.Spec.VolumeMode,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: o.PVC.Spec.Resources.Requests[corev1.ResourceStorage]},
			PersistentVolumeSource:        corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: path}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchExpressions: []corev1.NodeSelectorRequirement{{
						Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{o.SelectedNodeName},
					}},
				}},
			}},
		},
	}, controller.ProvisioningFinished, nil
}

// Delete removes the directory of a volume that Provision made.
func (d directories) Delete(_ context.Context, v *corev1.PersistentVolume) error {
	if v.Spec.Local == nil {
		return &controller.IgnoredError{Reason: "the volume is no directory"}
	}
	inside, err := filepath.Rel(d.root, v.Spec.Local.Path)
	if err != nil || !filepath.IsLocal(inside) || filepath.Base(inside) != v.Name {
		return &controller.IgnoredError{Reason: "the directory is not one of this provisioner's"}
	}
	if err := os.RemoveAll(v.Spec.Local.Path); err != nil {
		return fmt.Errorf("volume %s: %w", v.Name, err)
	}
	return nil
}

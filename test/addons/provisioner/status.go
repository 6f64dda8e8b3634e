// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// resizeStatus is what a resize leaves in the status of a claim: a size still to reach and
// a condition, or the size reached and no condition.
type resizeStatus struct {
	size      resource.Quantity
	done      bool
	allocated corev1.ClaimResourceStatus
	condition *corev1.PersistentVolumeClaimCondition
}

// conditionsOf is the status that an outcome leaves for a request of want.
func conditionsOf(outcome string, want resource.Quantity) (resizeStatus, error) {
	s := resizeStatus{size: want}
	switch outcome {
	case outcomeDone:
		s.done = true
	case outcomePending:
		s.allocated = corev1.PersistentVolumeClaimControllerResizeInProgress
		s.condition = &corev1.PersistentVolumeClaimCondition{Type: corev1.PersistentVolumeClaimResizing, Status: corev1.ConditionTrue}
	case outcomeNode:
		s.allocated = corev1.PersistentVolumeClaimNodeResizePending
		s.condition = &corev1.PersistentVolumeClaimCondition{
			Type: corev1.PersistentVolumeClaimFileSystemResizePending, Status: corev1.ConditionTrue,
			Message: "Waiting for user to (re-)start a pod to finish file system resize of volume on node.",
		}
	case outcomeInfeasible:
		s.allocated = corev1.PersistentVolumeClaimControllerResizeInfeasible
		s.condition = &corev1.PersistentVolumeClaimCondition{
			Type: corev1.PersistentVolumeClaimControllerResizeError, Status: corev1.ConditionTrue,
			Reason: "ControllerResizeInfeasible", Message: "the volume cannot grow to " + want.String(),
		}
	default:
		return s, fmt.Errorf("resize: %q is none of done, pending, infeasible, node", outcome)
	}
	return s, nil
}

// apply writes the status into the claim, and tells whether that changed it.
func (s resizeStatus) apply(claim *corev1.PersistentVolumeClaim, now metav1.Time) bool {
	before := claim.Status.DeepCopy()
	var kept []corev1.PersistentVolumeClaimCondition
	for _, c := range claim.Status.Conditions {
		switch c.Type {
		case corev1.PersistentVolumeClaimResizing, corev1.PersistentVolumeClaimFileSystemResizePending,
			corev1.PersistentVolumeClaimControllerResizeError, corev1.PersistentVolumeClaimNodeResizeError:
		default:
			kept = append(kept, c)
		}
	}
	if s.condition != nil {
		c := *s.condition
		c.LastTransitionTime = now
		for _, old := range before.Conditions {
			if old.Type == c.Type && old.Status == c.Status {
				c.LastTransitionTime = old.LastTransitionTime
			}
		}
		kept = append(kept, c)
	}
	claim.Status.Conditions = kept
	claim.Status.AllocatedResources = corev1.ResourceList{corev1.ResourceStorage: s.size}
	claim.Status.AllocatedResourceStatuses = nil
	if s.done {
		claim.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: s.size}
	} else {
		claim.Status.AllocatedResourceStatuses = map[corev1.ResourceName]corev1.ClaimResourceStatus{corev1.ResourceStorage: s.allocated}
	}
	return !equality.Semantic.DeepEqual(before, &claim.Status)
}

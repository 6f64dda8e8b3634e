// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// StatefulSetOf takes what is needed of a StatefulSet of the cluster.
func StatefulSetOf(s *appsv1.StatefulSet) StatefulSet {
	replicas := int32(1)
	if s.Spec.Replicas != nil {
		replicas = *s.Spec.Replicas
	}
	return StatefulSet{
		Name:           s.Name,
		Shard:          number(s.Labels[name.LabelShard]),
		Sentinel:       s.Labels[name.LabelComponent] == name.ComponentSentinel,
		Created:        s.CreationTimestamp.Time,
		Deleting:       s.DeletionTimestamp != nil,
		Replicas:       replicas,
		Pods:           s.Status.Replicas,
		Observed:       s.Status.ObservedGeneration >= s.Generation,
		UpdateRevision: s.Status.UpdateRevision,
		RenderHash:     s.Annotations[v1alpha1.AnnotationRenderHash],
	}
}

// PodOf takes what is needed of a pod of one of the cluster's StatefulSets.
func PodOf(p *corev1.Pod) Pod {
	pod := Pod{
		Name:     p.Name,
		UID:      p.UID,
		IP:       p.Status.PodIP,
		Shard:    number(p.Labels[name.LabelShard]),
		Index:    number(p.Labels[name.LabelPodIndex]),
		Sentinel: p.Labels[name.LabelComponent] == name.ComponentSentinel,
		Created:  p.CreationTimestamp.Time,
		Deleting: p.DeletionTimestamp != nil,
		Phase:    p.Status.Phase,
		Revision: p.Labels[appsv1.ControllerRevisionHashLabelKey],
		Role:     v1alpha1.NodeRole(p.Labels[name.LabelRole]),
	}
	for _, c := range p.Status.Conditions {
		switch {
		case c.Type == corev1.PodReady:
			pod.Ready = c.Status == corev1.ConditionTrue
		case c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable:
			pod.Unschedulable = cmp.Or(c.Message, c.Reason)
		}
	}
	pod.containers(p)
	return pod
}

// containers takes the first container that does not run, init containers first.
func (p *Pod) containers(from *corev1.Pod) {
	images := map[string]string{}
	for _, c := range slices.Concat(from.Spec.InitContainers, from.Spec.Containers) {
		images[c.Name] = c.Image
	}
	for _, s := range slices.Concat(from.Status.InitContainerStatuses, from.Status.ContainerStatuses) {
		p.Restarts += s.RestartCount
		waiting := s.State.Waiting
		if waiting == nil || p.Waiting != "" || waiting.Reason == "" || waiting.Reason == "PodInitializing" || waiting.Reason == "ContainerCreating" {
			continue
		}
		p.Waiting, p.WaitingContainer, p.WaitingImage, p.WaitingMessage = waiting.Reason, s.Name, images[s.Name], waiting.Message
		if last := s.LastTerminationState.Terminated; last != nil {
			p.LastExit = &last.ExitCode
		}
	}
}

// ClaimOf takes what is needed of a PersistentVolumeClaim of the cluster. Its shard and
// index are in its name: data-<cluster>-<shard>-<index>.
func ClaimOf(c *corev1.PersistentVolumeClaim) Claim {
	shard, index := place(c.Name)
	claim := Claim{
		Name:      c.Name,
		Shard:     shard,
		Index:     index,
		Deleting:  c.DeletionTimestamp != nil,
		Phase:     c.Status.Phase,
		Requested: c.Spec.Resources.Requests[corev1.ResourceStorage],
		Capacity:  c.Status.Capacity[corev1.ResourceStorage],
	}
	for _, condition := range c.Status.Conditions {
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case corev1.PersistentVolumeClaimResizing:
			claim.Resize = cmp.Or(claim.Resize, ResizeInProgress)
		case corev1.PersistentVolumeClaimFileSystemResizePending:
			claim.Resize = ResizePending
		case corev1.PersistentVolumeClaimControllerResizeError, corev1.PersistentVolumeClaimNodeResizeError:
			// An error may pass: it is infeasible only when the state below says so.
			claim.ResizeMessage = condition.Message
			continue
		default:
			continue
		}
		claim.ResizeMessage = cmp.Or(claim.ResizeMessage, condition.Message)
	}
	switch c.Status.AllocatedResourceStatuses[corev1.ResourceStorage] {
	case corev1.PersistentVolumeClaimControllerResizeInfeasible, corev1.PersistentVolumeClaimNodeResizeInfeasible:
		claim.Resize = ResizeInfeasible
	case corev1.PersistentVolumeClaimNodeResizePending:
		claim.Resize = ResizePending
	case corev1.PersistentVolumeClaimControllerResizeInProgress, corev1.PersistentVolumeClaimNodeResizeInProgress:
		claim.Resize = ResizeInProgress
	}
	return claim
}

// number reads a label; -1 without one.
func number(label string) int32 {
	n, err := strconv.ParseInt(label, 10, 32)
	if err != nil || n < 0 {
		return -1
	}
	return int32(n)
}

// place reads the two numbers at the end of a pod's or claim's name.
func place(from string) (shard, index int32) {
	rest, last := cutLast(from)
	_, before := cutLast(rest)
	return number(before), number(last)
}

func cutLast(s string) (rest, last string) {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '-' {
			return s[:i], s[i+1:]
		}
	}
	return "", s
}

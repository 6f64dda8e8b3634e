// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// StatefulSet is what is needed of a StatefulSet; StatefulSetOf makes it.
type StatefulSet struct {
	Name string
	// Shard of a data StatefulSet; Sentinel tells that it is none.
	Shard    int32
	Sentinel bool
	Created  time.Time
	Deleting bool
	// Replicas that its spec asks for, and how many pods its controller says there are.
	Replicas int32
	Pods     int32
	// Observed is whether its controller has seen the spec.
	Observed bool
	// UpdateRevision is what a new pod gets.
	UpdateRevision string
	// RenderHash is its annotation v1alpha1.AnnotationRenderHash.
	RenderHash string
	// CreateFailed is what the API server said when a pod could not be made, from an event
	// FailedCreate; "" when it is not known.
	CreateFailed string
}

// Pod is what is needed of a pod; PodOf makes it.
type Pod struct {
	Name string
	UID  types.UID
	IP   string
	// Shard and Index of a data pod; Sentinel tells that it is none.
	Shard    int32
	Index    int32
	Sentinel bool
	Created  time.Time
	Deleting bool
	Phase    corev1.PodPhase
	Ready    bool
	// Unschedulable is the scheduler's words, "" when it found a node.
	Unschedulable string
	// Waiting is why a container does not run, such as ImagePullBackOff or
	// CrashLoopBackOff, with the container's name, its image and the kubelet's words; ""
	// when all run.
	Waiting          string
	WaitingContainer string
	WaitingImage     string
	WaitingMessage   string
	// LastExit is the exit code of the last run of that container, or of the server's.
	LastExit *int32
	Restarts int32
	// Revision of its StatefulSet that it was made from.
	Revision string
	// Role is its label.
	Role v1alpha1.NodeRole
}

// Claim is what is needed of a PersistentVolumeClaim; ClaimOf makes it.
type Claim struct {
	Name     string
	Shard    int32
	Index    int32
	Deleting bool
	Phase    corev1.PersistentVolumeClaimPhase
	// Requested by its spec, and Capacity it has.
	Requested resource.Quantity
	Capacity  resource.Quantity
	// Resize is how growing goes, and ResizeMessage why.
	Resize        Resize
	ResizeMessage string
}

// Resize is how growing a claim goes.
type Resize string

// How it may go.
const (
	ResizeNone       Resize = ""
	ResizePending    Resize = "Pending"    // the storage, or the node, is yet to do it
	ResizeInProgress Resize = "InProgress" // it is done now
	ResizeInfeasible Resize = "Infeasible" // it cannot be done
)

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NodeRole is the role of a node.
// +kubebuilder:validation:Enum=primary;replica
type NodeRole string

const (
	// RolePrimary accepts writes.
	RolePrimary NodeRole = "primary"
	// RoleReplica follows a primary.
	RoleReplica NodeRole = "replica"
)

// ValkeyNodeSpec says which pod a ValkeyNode stands for. Immutable.
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec is immutable"
type ValkeyNodeSpec struct {
	// cluster is the name of the ValkeyCluster.
	// +kubebuilder:validation:MaxLength=40
	Cluster string `json:"cluster"`
	// shard index.
	// +kubebuilder:validation:Minimum=0
	Shard int32 `json:"shard"`
	// index of the pod in its shard.
	// +kubebuilder:validation:Minimum=0
	Index int32 `json:"index"`
}

// ValkeyNodeStatus is what was seen of one pod.
type ValkeyNodeStatus struct {
	// observedGeneration is the generation that the status speaks of.
	// +kubebuilder:default=-1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// ready mirrors the Ready condition.
	// +optional
	Ready bool `json:"ready,omitempty"`
	// role of the node.
	// +optional
	Role NodeRole `json:"role,omitempty"`
	// podName of the pod.
	// +optional
	PodName string `json:"podName,omitempty"`
	// podIP of the pod.
	// +optional
	PodIP string `json:"podIP,omitempty"`
	// nodeID in the Valkey cluster.
	// +optional
	NodeID string `json:"nodeID,omitempty"`
	// slots owned, as ranges.
	// +optional
	Slots string `json:"slots,omitempty"`
	// version of the server that runs.
	// +optional
	Version string `json:"version,omitempty"`
	// conditions in detail.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ValkeyNode shows one data pod. The reconciler makes and owns it.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=vkn
// +kubebuilder:printcolumn:name="Ready",type=boolean,JSONPath=".status.ready"
// +kubebuilder:printcolumn:name="Role",type=string,JSONPath=".status.role"
// +kubebuilder:printcolumn:name="Pod",type=string,JSONPath=".status.podName"
// +kubebuilder:printcolumn:name="IP",type=string,JSONPath=".status.podIP",priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
type ValkeyNode struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec says which pod it stands for.
	Spec ValkeyNodeSpec `json:"spec"`
	// status is what was seen.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status ValkeyNodeStatus `json:"status,omitzero"`
}

// ValkeyNodeList is a list of ValkeyNode.
// +kubebuilder:object:root=true
type ValkeyNodeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []ValkeyNode `json:"items"`
}

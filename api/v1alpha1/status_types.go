// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterState summarises the condition of a cluster in one word.
// +kubebuilder:validation:Enum=Initializing;Reconciling;Ready;Degraded;Failed;Hibernated
type ClusterState string

const (
	// StateInitializing is the schema default, seen before the first write.
	StateInitializing ClusterState = "Initializing"
	// StateReconciling: on the way to what was asked for.
	StateReconciling ClusterState = "Reconciling"
	// StateReady: healthy and serving.
	StateReady ClusterState = "Ready"
	// StateDegraded: impaired, at least partly serving.
	StateDegraded ClusterState = "Degraded"
	// StateFailed: a persistent error.
	StateFailed ClusterState = "Failed"
	// StateHibernated: scaled to zero on request.
	StateHibernated ClusterState = "Hibernated"
)

// ShardHealth is the health of one shard.
// +kubebuilder:validation:Enum=Ready;Degraded;Down;Unknown
type ShardHealth string

const (
	// ShardReady: primary and replicas serve.
	ShardReady ShardHealth = "Ready"
	// ShardDegraded: the primary serves, a replica does not.
	ShardDegraded ShardHealth = "Degraded"
	// ShardDown: no primary serves.
	ShardDown ShardHealth = "Down"
	// ShardUnknown: not observed.
	ShardUnknown ShardHealth = "Unknown"
)

// LagClass says how far replicas are behind their primary.
// +kubebuilder:validation:Enum=InSync;Behind;Broken
type LagClass string

const (
	// LagInSync: every link is up and caught up.
	LagInSync LagClass = "InSync"
	// LagBehind: every link is up, one is behind.
	LagBehind LagClass = "Behind"
	// LagBroken: a link is down.
	LagBroken LagClass = "Broken"
)

// ValkeyClusterStatus is what the reconciler sees.
type ValkeyClusterStatus struct {
	// observedGeneration is the generation that the status speaks of; -1 before
	// the first look.
	// +kubebuilder:default=-1
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// state summarises the conditions in one word.
	// +kubebuilder:default=Initializing
	// +optional
	State ClusterState `json:"state,omitempty"`
	// reason for the state, in CamelCase.
	// +optional
	Reason string `json:"reason,omitempty"`
	// message explains the state to a person.
	// +optional
	Message string `json:"message,omitempty"`
	// topology that is running.
	// +optional
	Topology Topology `json:"topology,omitempty"`
	// shards that are in the cluster.
	// +kubebuilder:default=0
	// +optional
	Shards int32 `json:"shards"`
	// readyShards have a primary that serves and a link to every replica.
	// +kubebuilder:default=0
	// +optional
	ReadyShards int32 `json:"readyShards"`
	// readyReplicas is the number of ready data pods.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`
	// primary is the pod that accepts writes. Replication and Sentinel only.
	// +optional
	Primary string `json:"primary,omitempty"`
	// endpoint that clients connect to, as host:port.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// clusterInitialized once the topology was formed for the first time.
	// +optional
	ClusterInitialized bool `json:"clusterInitialized,omitempty"`
	// renderHash seen on the live objects.
	// +optional
	RenderHash string `json:"renderHash,omitempty"`
	// jobSerial of the last Job.
	// +optional
	JobSerial int64 `json:"jobSerial,omitempty"`
	// activeJobs that are running.
	// +listType=map
	// +listMapKey=name
	// +optional
	ActiveJobs []ActiveJob `json:"activeJobs,omitempty"`
	// shardDetails of every shard.
	// +listType=map
	// +listMapKey=index
	// +optional
	ShardDetails []ShardStatus `json:"shardDetails,omitempty"`
	// migrations of slots.
	// +listType=map
	// +listMapKey=name
	// +optional
	Migrations []MigrationStatus `json:"migrations,omitempty"`
	// drainedShards are indexes beyond spec.shards that own nothing. The guard
	// policies read it.
	// +listType=set
	// +optional
	DrainedShards []int32 `json:"drainedShards,omitempty"`
	// actions asked for by annotation, with their outcome.
	// +listType=map
	// +listMapKey=name
	// +optional
	Actions []ActionStatus `json:"actions,omitempty"`
	// applied is what every server that runs was given, by kind of Job.
	// +listType=map
	// +listMapKey=kind
	// +optional
	Applied []AppliedStatus `json:"applied,omitempty"`
	// lastTLSCertFingerprint is the lower-case hex SHA-256 of the DER of the leaf
	// certificate that every pod was seen to serve.
	// +optional
	LastTLSCertFingerprint string `json:"lastTLSCertFingerprint,omitempty"`
	// conditions in detail.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ActiveJob is a Job that is running.
type ActiveJob struct {
	// kind of the Job: bootstrap, repair, rebalance and so on.
	Kind string `json:"kind"`
	// name of the Job.
	Name string `json:"name"`
	// startedAt is when it was created.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// attempt counts from 1 for the same input.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`
}

// ShardStatus is one shard as seen.
type ShardStatus struct {
	// index of the shard.
	Index int32 `json:"index"`
	// primary pod.
	// +optional
	Primary string `json:"primary,omitempty"`
	// primaryNodeID of the primary.
	// +optional
	PrimaryNodeID string `json:"primaryNodeID,omitempty"`
	// replicas are the replica pods.
	// +listType=atomic
	// +optional
	Replicas []string `json:"replicas,omitempty"`
	// slotRanges owned, as "0-5460".
	// +listType=atomic
	// +optional
	SlotRanges []string `json:"slotRanges,omitempty"`
	// slotCount owned.
	// +optional
	SlotCount int32 `json:"slotCount,omitempty"`
	// health of the shard.
	// +optional
	Health ShardHealth `json:"health,omitempty"`
	// inSync when every replica's link is up and caught up.
	// +optional
	InSync bool `json:"inSync,omitempty"`
	// lagClass of the worst replica.
	// +optional
	LagClass LagClass `json:"lagClass,omitempty"`
	// primaryOffset as of the last transition.
	// +optional
	PrimaryOffset int64 `json:"primaryOffset,omitempty"`
	// replicaOffsets as of the last transition.
	// +listType=map
	// +listMapKey=pod
	// +optional
	ReplicaOffsets []ReplicaOffset `json:"replicaOffsets,omitempty"`
	// maxLagBytes as of the last transition.
	// +optional
	MaxLagBytes int64 `json:"maxLagBytes,omitempty"`
}

// ReplicaOffset is the replication offset of one pod.
type ReplicaOffset struct {
	// pod name.
	Pod string `json:"pod"`
	// offset in bytes.
	Offset int64 `json:"offset"`
}

// MigrationStatus is one move of slots.
type MigrationStatus struct {
	// name that the server gave.
	Name string `json:"name"`
	// from shard.
	From int32 `json:"from"`
	// to shard.
	To int32 `json:"to"`
	// slots that move, as ranges.
	Slots string `json:"slots"`
	// state as the server names it.
	State string `json:"state"`
	// startedAt is when it began.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
}

// ActionStatus is the outcome of one action asked for by annotation.
type ActionStatus struct {
	// name of the action.
	Name string `json:"name"`
	// token that asked for it.
	Token string `json:"token"`
	// startedAt is when it was first seen.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// result is Succeeded, Failed or Running.
	// +optional
	Result string `json:"result,omitempty"`
	// finishedAt is when it ended.
	// +optional
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`
	// message is what it came to, or why it failed.
	// +optional
	Message string `json:"message,omitempty"`
	// progress is what was settled when it began, or how far it is: the slots of a reshard,
	// the pods of a failover, the stage of a rotation.
	// +optional
	Progress string `json:"progress,omitempty"`
	// progressAt is since when.
	// +optional
	ProgressAt *metav1.Time `json:"progressAt,omitempty"`
}

// Results of an action.
const (
	// ActionRunning: it is being done, or waits for something.
	ActionRunning = "Running"
	// ActionSucceeded: it was done.
	ActionSucceeded = "Succeeded"
	// ActionFailed: it was not, and is not tried again.
	ActionFailed = "Failed"
)

// AppliedStatus is what a Job of a kind has applied last.
type AppliedStatus struct {
	// kind of the Job: liveconfig, acl, tls or apply.
	Kind string `json:"kind"`
	// token tells what was applied from what comes later: the version of the object that
	// it is in. It is empty while servers have only what they started with.
	Token string `json:"token"`
	// started is the version that was there when the first servers could start.
	// +optional
	Started string `json:"started,omitempty"`
}

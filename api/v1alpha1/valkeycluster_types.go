// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Topology says how the pods of a cluster relate to each other.
// +kubebuilder:validation:Enum=Cluster;Replication;Sentinel;Standalone
type Topology string

const (
	// TopologyCluster spreads 16384 hash slots over shards (Valkey Cluster).
	TopologyCluster Topology = "Cluster"
	// TopologyReplication is one primary with replicas; the reconciler fails it over.
	TopologyReplication Topology = "Replication"
	// TopologySentinel is one primary with replicas; Valkey Sentinel fails it over.
	TopologySentinel Topology = "Sentinel"
	// TopologyStandalone is a single pod.
	TopologyStandalone Topology = "Standalone"
)

// Profile picks a coherent set of defaults.
// +kubebuilder:validation:Enum=Cache;Durable
type Profile string

const (
	// ProfileCache loses data rather than availability: no persistence, allkeys-lru.
	ProfileCache Profile = "Cache"
	// ProfileDurable keeps data: storage required, RDB and AOF, noeviction.
	ProfileDurable Profile = "Durable"
)

// Delivery says who applies the rendered objects.
// +kubebuilder:validation:Enum=InCluster;GitOps
type Delivery string

const (
	// DeliveryInCluster lets an apply Job of the reconciler render and apply.
	DeliveryInCluster Delivery = "InCluster"
	// DeliveryGitOps means that whoever rendered the objects applies them.
	DeliveryGitOps Delivery = "GitOps"
)

// JobsMode says where topology Jobs come from.
// +kubebuilder:validation:Enum=Reconciler;Rendered
type JobsMode string

const (
	// JobsReconciler lets the reconciler start the Jobs.
	JobsReconciler JobsMode = "Reconciler"
	// JobsRendered renders one converge Job with the manifests.
	JobsRendered JobsMode = "Rendered"
)

// DeletionPolicy guards data against a mistaken prune or delete.
// +kubebuilder:validation:Enum=Guard;Allow
type DeletionPolicy string

const (
	// DeletionGuard denies deleting the ValkeyCluster and undrained shards.
	DeletionGuard DeletionPolicy = "Guard"
	// DeletionAllow lets everything be deleted.
	DeletionAllow DeletionPolicy = "Allow"
)

// ValkeyClusterSpec is what a team asks for. Every field may be absent; absent
// is a valid and safe choice.
// +kubebuilder:validation:XValidation:rule="self.topology != 'Cluster' || !has(self.replicas)",fieldPath=".replicas",reason=FieldValueForbidden,message="topology Cluster has replicasPerShard, which does not count the primary"
// +kubebuilder:validation:XValidation:rule="self.topology == 'Cluster' || !has(self.shards)",fieldPath=".shards",reason=FieldValueForbidden,message="only topology Cluster has shards"
// +kubebuilder:validation:XValidation:rule="self.topology == 'Cluster' || !has(self.replicasPerShard)",fieldPath=".replicasPerShard",reason=FieldValueForbidden,message="only topology Cluster has replicasPerShard; the others have replicas, which counts the primary"
// +kubebuilder:validation:XValidation:rule="self.topology != 'Standalone' || !has(self.replicas) || self.replicas == 1",fieldPath=".replicas",message="topology Standalone has 1 pod"
// +kubebuilder:validation:XValidation:rule="self.topology == 'Sentinel' || !has(self.sentinel)",fieldPath=".sentinel",reason=FieldValueForbidden,message="only topology Sentinel has Sentinel pods"
// +kubebuilder:validation:XValidation:rule="self.topology == 'Cluster' || !has(self.rebalance)",fieldPath=".rebalance",reason=FieldValueForbidden,message="only topology Cluster has slots to move"
// +kubebuilder:validation:XValidation:rule="self.topology == 'Cluster' || !has(self.rollout) || !has(self.rollout.maxParallelShards) || self.rollout.maxParallelShards == 1",fieldPath=".rollout.maxParallelShards",message="only topology Cluster has more than one shard"
// +kubebuilder:validation:XValidation:rule="self.topology == 'Cluster' || !has(self.failover) || !has(self.failover.nodeTimeout)",fieldPath=".failover.nodeTimeout",reason=FieldValueForbidden,message="only for topology Cluster"
// +kubebuilder:validation:XValidation:rule="self.topology == 'Cluster' || !has(self.failover) || !has(self.failover.quorumTakeover)",fieldPath=".failover.quorumTakeover",reason=FieldValueForbidden,message="only for topology Cluster"
// +kubebuilder:validation:XValidation:rule="self.topology == 'Replication' || !has(self.failover) || !has(self.failover.detection)",fieldPath=".failover.detection",reason=FieldValueForbidden,message="only for topology Replication"
// +kubebuilder:validation:XValidation:rule="self.topology == 'Cluster' || !has(self.tls) || self.tls.clusterBus",fieldPath=".tls.clusterBus",message="only topology Cluster has a cluster bus"
// +kubebuilder:validation:XValidation:rule="self.topology in ['Standalone', 'Replication'] || !has(self.replicateFrom)",fieldPath=".replicateFrom",reason=FieldValueForbidden,message="only topology Standalone and Replication can follow a foreign primary"
// +kubebuilder:validation:XValidation:rule="!has(self.replicateFrom) || !has(self.restoreFrom)",fieldPath=".replicateFrom",reason=FieldValueForbidden,message="a cluster that follows a foreign primary takes its data from there"
// +kubebuilder:validation:XValidation:rule="!has(self.replicateFrom) || !has(self.replicateFrom.caSecret) || has(self.tls)",fieldPath=".replicateFrom.caSecret",reason=FieldValueForbidden,message="needs spec.tls"
// +kubebuilder:validation:XValidation:rule="!has(self.restoreFrom) || (self.topology == 'Cluster' ? has(self.restoreFrom.manifestKey) && !has(self.restoreFrom.sourceKey) : has(self.restoreFrom.sourceKey) && !has(self.restoreFrom.manifestKey))",fieldPath=".restoreFrom",message="topology Cluster is restored from manifestKey, the others from sourceKey"
// +kubebuilder:validation:XValidation:rule="self.profile != 'Durable' || has(self.storage)",fieldPath=".storage",reason=FieldValueRequired,message="profile Durable needs storage"
// +kubebuilder:validation:XValidation:rule="self.profile != 'Durable' || !has(self.storage) || self.storage.medium == 'Disk'",fieldPath=".storage.medium",message="a tmpfs keeps nothing and profile Durable does"
// +kubebuilder:validation:XValidation:rule="self.profile != 'Durable' || !has(self.storage) || !has(self.storage.mode) || self.storage.mode != 'none'",fieldPath=".storage.mode",message="profile Durable writes to disk: rdb, aof or both"
// +kubebuilder:validation:XValidation:rule="!has(self.hibernate) || !self.hibernate || (has(self.storage) && self.storage.medium == 'Disk' && (has(self.storage.mode) ? self.storage.mode != 'none' : self.profile == 'Durable')) || (has(self.rollout) && has(self.rollout.allowDataLoss) ? self.rollout.allowDataLoss : self.profile == 'Cache' && (self.topology == 'Standalone' || (self.topology == 'Cluster' ? has(self.replicasPerShard) && self.replicasPerShard == 0 : has(self.replicas) && self.replicas == 1)))",fieldPath=".hibernate",message="nothing is persisted: needs rollout.allowDataLoss or storage"
// +kubebuilder:validation:XValidation:rule="!has(self.image) || !self.image.matches(':v?[0-9]+[.][0-9]+([._-][^/@]*)?(@|$)') || self.image.matches(':v?' + self.version.replace('.', '[.]') + '([._-][^/@]*)?(@|$)')",fieldPath=".image",message="the tag is of another version than spec.version"
// +kubebuilder:validation:XValidation:rule="!has(self.sentinel) || !has(self.sentinel.image) || !self.sentinel.image.matches(':v?[0-9]+[.][0-9]+([._-][^/@]*)?(@|$)') || self.sentinel.image.matches(':v?' + self.version.replace('.', '[.]') + '([._-][^/@]*)?(@|$)')",fieldPath=".sentinel.image",message="the tag is of another version than spec.version"
// +kubebuilder:validation:XValidation:rule="self.jobs != 'Rendered' || self.topology in ['Cluster', 'Standalone']",fieldPath=".jobs",message="only topology Cluster and Standalone can do without the reconciler"
// +kubebuilder:validation:XValidation:rule="self.jobs != 'Rendered' || !has(self.rollout) || !has(self.rollout.mode) || self.rollout.mode != 'Orchestrated'",fieldPath=".rollout.mode",message="needs the reconciler, which jobs: Rendered does without"
// +kubebuilder:validation:XValidation:rule="has(self.storage) == has(oldSelf.storage)",fieldPath=".storage",reason=FieldValueForbidden,message="storage cannot be added to or removed from a running cluster"
// +kubebuilder:validation:XValidation:rule="!has(self.storage) || !has(oldSelf.storage) || quantity(has(self.storage.size) ? string(self.storage.size) : self.profile == 'Durable' ? '10Gi' : '1Gi').compareTo(quantity(has(oldSelf.storage.size) ? string(oldSelf.storage.size) : oldSelf.profile == 'Durable' ? '10Gi' : '1Gi')) >= 0",fieldPath=".storage.size",message="storage only grows"
// +kubebuilder:validation:XValidation:rule="self.jobs == 'Rendered' || oldSelf.jobs == 'Rendered' || !has(self.storage) || !has(oldSelf.storage) || self.storage.medium != 'Disk' || quantity(has(self.storage.initialSize) ? string(self.storage.initialSize) : has(self.storage.size) && quantity(string(self.storage.size)).isLessThan(quantity('1Gi')) ? string(self.storage.size) : '1Gi').compareTo(quantity(has(oldSelf.storage.initialSize) ? string(oldSelf.storage.initialSize) : has(oldSelf.storage.size) && quantity(string(oldSelf.storage.size)).isLessThan(quantity('1Gi')) ? string(oldSelf.storage.size) : '1Gi')) == 0",fieldPath=".storage.initialSize",message="initialSize is immutable"
// +kubebuilder:validation:XValidation:rule="self.topology != 'Cluster' || has(self.tls) == has(oldSelf.tls)",fieldPath=".tls",reason=FieldValueForbidden,message="tls cannot be added to or removed from a running topology Cluster"
// +kubebuilder:validation:XValidation:rule="self.topology != 'Cluster' || !has(self.tls) || !has(oldSelf.tls) || self.tls.clusterBus == oldSelf.tls.clusterBus",fieldPath=".tls.clusterBus",message="clusterBus is immutable"
// +kubebuilder:validation:XValidation:rule="!(has(self.networking) && has(self.networking.ipFamily) && has(oldSelf.networking) && has(oldSelf.networking.ipFamily)) || self.networking.ipFamily == oldSelf.networking.ipFamily",fieldPath=".networking.ipFamily",message="ipFamily is immutable while set"
// +kubebuilder:validation:XValidation:rule="(has(self.networking) && has(self.networking.port) ? self.networking.port : 6379) == (has(oldSelf.networking) && has(oldSelf.networking.port) ? oldSelf.networking.port : 6379)",fieldPath=".networking.port",message="port is immutable"
type ValkeyClusterSpec struct {
	// topology says how the pods relate: Cluster, Replication, Sentinel or
	// Standalone. Immutable.
	// +kubebuilder:default=Cluster
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="topology is immutable"
	// +optional
	Topology Topology `json:"topology,omitempty"`

	// profile picks defaults: Cache (no persistence, evicts) or Durable (RDB and
	// AOF, never evicts, needs storage). Immutable.
	// +kubebuilder:default=Cache
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="profile is immutable"
	// +optional
	Profile Profile `json:"profile,omitempty"`

	// version is the Valkey minor version whose directives and features apply:
	// 8.0, 8.1, 9.0 or 9.1. It cannot go from 9.0 or later back below 9.0, since
	// 8.x neither reads the data of 9.x nor replicates from it.
	// +kubebuilder:default="9.1"
	// +kubebuilder:validation:XValidation:rule="!(self in ['8.0', '8.1']) || oldSelf in ['8.0', '8.1']",message="8.x cannot read the data of 9.x nor replicate from it"
	// +kubebuilder:validation:Enum="8.0";"8.1";"9.0";"9.1"
	// +optional
	Version string `json:"version,omitempty"`

	// image is the server image. Default: docker.io/valkey/valkey:<version>. A
	// tag that names another version than `version` is an error; an image by
	// digest needs `version` set.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Image string `json:"image,omitempty"`

	// imagePullPolicy of the containers that run the server image. Default:
	// IfNotPresent, or Always when the tag is latest or missing.
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	// +optional
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// imagePullSecrets of every pod.
	// +listType=map
	// +listMapKey=name
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// shards is the number of primaries that share the hash slots. Only with
	// topology Cluster; default 3. One or two shards have no majority and get a
	// warning.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=500
	// +optional
	Shards *int32 `json:"shards,omitempty"`

	// replicasPerShard is the number of replicas beside each primary. Only with
	// topology Cluster; default 1.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=5
	// +optional
	ReplicasPerShard *int32 `json:"replicasPerShard,omitempty"`

	// replicas is the number of pods, primary included, of the topologies
	// without slots. Default 3 for Replication and Sentinel; Standalone has 1.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=6
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// sentinel configures the Sentinel pods. Only with topology Sentinel.
	// +optional
	Sentinel *SentinelSpec `json:"sentinel,omitempty"`

	// resources of the server container. The memory limit sizes maxmemory, the
	// replication backlog and the startup budget.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// memory says how the memory limit is divided.
	// +optional
	Memory *MemorySpec `json:"memory,omitempty"`

	// config maps valkey.conf directives to values. Names are case-insensitive
	// and checked against the directive table of `version`; directives that the
	// renderer owns, and secrets, are refused. Directives that may repeat (save,
	// client-output-buffer-limit) take one entry per line.
	// +kubebuilder:validation:MaxProperties=512
	// +optional
	Config map[string]string `json:"config,omitempty"`

	// modules are copied from their images before the server starts and loaded
	// with loadmodule. A change rolls the pods.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +optional
	Modules []ModuleSpec `json:"modules,omitempty"`

	// storage asks for a volume per pod. Absent: an emptyDir. It cannot be added
	// or removed later, and only grows.
	// +optional
	Storage *StorageSpec `json:"storage,omitempty"`

	// auth of the default user. Absent: on, with a password made in the cluster.
	// +optional
	Auth *AuthSpec `json:"auth,omitempty"`

	// users are further ACL users. ValkeyACL objects add more.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	// +optional
	Users []UserSpec `json:"users,omitempty"`

	// tls serves and replicates over TLS only; the plain port is closed. With
	// topology Cluster its presence and clusterBus are immutable, since a bus of
	// both kinds cannot be rolled.
	// +optional
	TLS *TLSSpec `json:"tls,omitempty"`

	// networking holds ports, names and address families.
	// +optional
	Networking *NetworkingSpec `json:"networking,omitempty"`

	// scheduling places the data pods.
	// +optional
	Scheduling *SchedulingSpec `json:"scheduling,omitempty"`

	// podDisruptionBudget limits voluntary evictions. Absent: one budget a shard.
	// +optional
	PodDisruptionBudget *PodDisruptionBudgetSpec `json:"podDisruptionBudget,omitempty"`

	// pod adjusts the data pods: metadata, security, sidecars and volumes.
	// +optional
	Pod *PodSpec `json:"pod,omitempty"`

	// metrics adds an exporter sidecar and what Prometheus needs to find it.
	// +optional
	Metrics *MetricsSpec `json:"metrics,omitempty"`

	// networkPolicy restricts who may connect.
	// +optional
	NetworkPolicy *NetworkPolicySpec `json:"networkPolicy,omitempty"`

	// rollout says how a changed pod template reaches the pods.
	// +optional
	Rollout *RolloutSpec `json:"rollout,omitempty"`

	// failover tunes how fast and by whom a lost primary is replaced.
	// +optional
	Failover *FailoverSpec `json:"failover,omitempty"`

	// rebalance says whether and how slots move to new shards.
	// +optional
	Rebalance *RebalanceSpec `json:"rebalance,omitempty"`

	// delivery says who applies the rendered objects: InCluster (default), an
	// apply Job, or GitOps, whoever rendered them.
	// +kubebuilder:default=InCluster
	// +optional
	Delivery Delivery `json:"delivery,omitempty"`

	// jobs says where topology Jobs come from: the Reconciler (default), or
	// Rendered with the manifests (Cluster and Standalone).
	// +kubebuilder:default=Reconciler
	// +optional
	Jobs JobsMode `json:"jobs,omitempty"`

	// suspend keeps the reconciler to writing status; it starts nothing.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// hibernate scales every pod away and keeps the claims. It needs persistence
	// or rollout.allowDataLoss.
	// +optional
	Hibernate bool `json:"hibernate,omitempty"`

	// deletionPolicy guards data: Guard or Allow. Shards are guarded unless
	// Allow; deleting the ValkeyCluster is guarded by Guard, and by absent when
	// the profile is Durable.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// jobsTemplate adjusts the pods of topology Jobs.
	// +optional
	JobsTemplate *JobsTemplateSpec `json:"jobsTemplate,omitempty"`

	// backup writes RDB files to S3 on a schedule.
	// +optional
	Backup *BackupSpec `json:"backup,omitempty"`

	// restoreFrom fills a new cluster from a backup.
	// +optional
	RestoreFrom *RestoreSpec `json:"restoreFrom,omitempty"`

	// replicateFrom follows a primary outside of this cluster. Only with
	// topology Standalone or Replication.
	// +optional
	ReplicateFrom *ReplicateFromSpec `json:"replicateFrom,omitempty"`

	// patches are kustomize patches, applied last to the rendered objects. They
	// may not touch selectors, our labels, the config annotation, or the
	// environment and mounts that it needs.
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Patches []Patch `json:"patches,omitempty"`
}

// ValkeyCluster is one Valkey deployment of any topology.
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40",message="a cluster's name has at most 40 characters"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="must be lower-case letters, digits and '-', begin with a letter and end with a letter or digit"
// +kubebuilder:validation:XValidation:rule="!self.metadata.name.matches('-([0-9]+|nodes|primary|replicas|sentinel|live|scripts|bus)$')",message="must not end as names of another cluster's objects do"
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=vkc
// +kubebuilder:printcolumn:name="Topology",type=string,JSONPath=".spec.topology"
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=".status.state"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=".status.reason"
// +kubebuilder:printcolumn:name="Shards",type=integer,JSONPath=".status.shards"
// +kubebuilder:printcolumn:name="ReadyShards",type=integer,JSONPath=".status.readyShards"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=".metadata.creationTimestamp"
type ValkeyCluster struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec is what is asked for.
	// +kubebuilder:default={topology: Cluster, profile: Cache, version: "9.1", delivery: InCluster, jobs: Reconciler}
	// +optional
	Spec ValkeyClusterSpec `json:"spec,omitzero"`
	// status is what the reconciler sees.
	// +kubebuilder:default={"state":"Initializing","observedGeneration":-1}
	// +optional
	Status ValkeyClusterStatus `json:"status,omitzero"`
}

// ValkeyClusterList is a list of ValkeyCluster.
// +kubebuilder:object:root=true
type ValkeyClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []ValkeyCluster `json:"items"`
}

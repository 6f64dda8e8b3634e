// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SentinelSpec configures the Sentinel pods.
type SentinelSpec struct {
	// replicas is the number of Sentinel pods: odd, at least 3. Default 3.
	// +kubebuilder:validation:Minimum=3
	// +kubebuilder:validation:Maximum=15
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
	// quorum is how many Sentinels must agree that the primary is down. Default:
	// the majority, replicas/2+1.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Quorum *int32 `json:"quorum,omitempty"`
	// image of the Sentinel pods. Default: the server image.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Image string `json:"image,omitempty"`
	// resources of the Sentinel container.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`
	// config maps sentinel.conf directives to values, as spec.config does. For
	// the directives of the one monitored primary the name is given without
	// `sentinel` and without its name: failover-timeout, parallel-syncs.
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	Config map[string]string `json:"config,omitempty"`
	// downAfter is how long a primary may be silent. Default 5s.
	// +optional
	DownAfter *metav1.Duration `json:"downAfter,omitempty"`
}

// MemorySpec divides the memory limit.
type MemorySpec struct {
	// maxmemoryPercent of the memory limit becomes maxmemory, less buffers for
	// replication and clients. Default 75, with profile Durable 60.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	MaxmemoryPercent *int32 `json:"maxmemoryPercent,omitempty"`
}

// ModuleSpec is a module that the server loads.
type ModuleSpec struct {
	// name of the module, and of the file it is copied to.
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=40
	Name string `json:"name"`
	// image that holds the module and a `cp` command.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`
	// path of the module's file in the image.
	// +kubebuilder:validation:Pattern=`^/[^\x00-\x20]+$`
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path"`
	// args given to the module when it is loaded.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Args []string `json:"args,omitempty"`
}

// StorageMode says what the server writes to disk.
// +kubebuilder:validation:Enum=rdb;aof;both;none
type StorageMode string

const (
	// StorageRDB writes snapshots.
	StorageRDB StorageMode = "rdb"
	// StorageAOF writes the append-only file.
	StorageAOF StorageMode = "aof"
	// StorageBoth writes snapshots and the append-only file.
	StorageBoth StorageMode = "both"
	// StorageNone writes nothing.
	StorageNone StorageMode = "none"
)

// StorageMedium says what the data directory is made of.
// +kubebuilder:validation:Enum=Disk;Memory
type StorageMedium string

const (
	// MediumDisk is a PersistentVolumeClaim per pod.
	MediumDisk StorageMedium = "Disk"
	// MediumMemory is a tmpfs of the size asked for; nothing is persisted.
	MediumMemory StorageMedium = "Memory"
)

// ReclaimPolicy says what becomes of the claims with their StatefulSet.
// +kubebuilder:validation:Enum=Retain;Delete
type ReclaimPolicy string

const (
	// ReclaimRetain keeps the claims.
	ReclaimRetain ReclaimPolicy = "Retain"
	// ReclaimDelete deletes the claims when the StatefulSet is deleted; scaling
	// never deletes any.
	ReclaimDelete ReclaimPolicy = "Delete"
)

// StorageSpec asks for a volume per pod.
type StorageSpec struct {
	// size of each volume. Default 10Gi with profile Durable, else 1Gi. It only
	// grows; a change is a one-line diff on each claim and rolls nothing.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// storageClassName of the claims. Default: the cluster's. Immutable.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	StorageClassName *string `json:"storageClassName,omitempty"`
	// mode says what is written: rdb, aof, both or none. Default both with
	// profile Durable, none with Cache.
	// +optional
	Mode StorageMode `json:"mode,omitempty"`
	// medium is Disk (a claim per pod) or Memory (a tmpfs; Cache only). Default
	// Disk. Immutable.
	// +kubebuilder:default=Disk
	// +optional
	Medium StorageMedium `json:"medium,omitempty"`
	// accessMode of the claims. Default ReadWriteOnce. Immutable.
	// +kubebuilder:validation:Enum=ReadWriteOnce;ReadWriteOncePod
	// +optional
	AccessMode corev1.PersistentVolumeAccessMode `json:"accessMode,omitempty"`
	// initialSize is what the StatefulSet's own template asks for; the rendered
	// claims ask for `size`. Default 1Gi. Immutable.
	// +optional
	InitialSize *resource.Quantity `json:"initialSize,omitempty"`
	// reclaimPolicy of the claims when the StatefulSet is deleted: Retain
	// (default) or Delete.
	// +kubebuilder:default=Retain
	// +optional
	ReclaimPolicy ReclaimPolicy `json:"reclaimPolicy,omitempty"`
}

// Patch is a kustomize patch.
type Patch struct {
	// target selects rendered objects. Absent: the object that the patch names.
	// +optional
	Target *PatchTarget `json:"target,omitempty"`
	// patch is a strategic merge patch or a list of JSON 6902 operations, as YAML.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	Patch string `json:"patch"`
}

// PatchTarget selects rendered objects. Absent fields match everything; group,
// version, kind and name are regular expressions, as in kustomize.
type PatchTarget struct {
	// group of the objects.
	// +optional
	Group string `json:"group,omitempty"`
	// version of the objects.
	// +optional
	Version string `json:"version,omitempty"`
	// kind of the objects.
	// +optional
	Kind string `json:"kind,omitempty"`
	// name of the objects.
	// +optional
	Name string `json:"name,omitempty"`
	// labelSelector that the objects match.
	// +optional
	LabelSelector string `json:"labelSelector,omitempty"`
	// annotationSelector that the objects match.
	// +optional
	AnnotationSelector string `json:"annotationSelector,omitempty"`
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SentinelSpec configures the Sentinel pods.
// +kubebuilder:validation:XValidation:rule="!has(self.replicas) || self.replicas % 2 == 1",fieldPath=".replicas",message="must be odd"
// +kubebuilder:validation:XValidation:rule="!has(self.quorum) || self.quorum <= (has(self.replicas) ? self.replicas : 3)",fieldPath=".quorum",message="must not be more than the Sentinel replicas"
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
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+([.][0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('100ms') && duration(self) <= duration('1h')",message="must be between 100ms and 1h"
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
	// +kubebuilder:validation:Pattern=`^/[^\x00-\x20\x7f]+$`
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path"`
	// args given to the module when it is loaded.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:Pattern=`^[^\x00-\x1f\x7f]+$`
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
// +kubebuilder:validation:XValidation:rule="self.medium != 'Memory' || !has(self.mode) || self.mode == 'none'",fieldPath=".mode",message="a tmpfs persists nothing"
// +kubebuilder:validation:XValidation:rule="self.medium != 'Memory' || !has(self.storageClassName)",fieldPath=".storageClassName",reason=FieldValueForbidden,message="medium Memory has no claims"
// +kubebuilder:validation:XValidation:rule="self.medium != 'Memory' || !has(self.accessMode)",fieldPath=".accessMode",reason=FieldValueForbidden,message="medium Memory has no claims"
// +kubebuilder:validation:XValidation:rule="self.medium != 'Memory' || !has(self.initialSize)",fieldPath=".initialSize",reason=FieldValueForbidden,message="medium Memory has no claims"
// +kubebuilder:validation:XValidation:rule="!has(self.size) || quantity(string(self.size)).isGreaterThan(quantity('0'))",fieldPath=".size",message="must be more than zero"
// +kubebuilder:validation:XValidation:rule="!has(self.initialSize) || quantity(string(self.initialSize)).isGreaterThan(quantity('0'))",fieldPath=".initialSize",message="must be more than zero"
// +kubebuilder:validation:XValidation:rule="!has(self.initialSize) || !has(self.size) || quantity(string(self.initialSize)).compareTo(quantity(string(self.size))) <= 0",fieldPath=".initialSize",message="must not be more than the size"
// +kubebuilder:validation:XValidation:rule="has(self.storageClassName) == has(oldSelf.storageClassName) && (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)",fieldPath=".storageClassName",message="storageClassName is immutable"
// +kubebuilder:validation:XValidation:rule="(has(self.accessMode) ? self.accessMode : 'ReadWriteOnce') == (has(oldSelf.accessMode) ? oldSelf.accessMode : 'ReadWriteOnce')",fieldPath=".accessMode",message="accessMode is immutable"
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
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="medium is immutable"
	// +optional
	Medium StorageMedium `json:"medium,omitempty"`
	// accessMode of the claims. Default ReadWriteOnce. Immutable.
	// +kubebuilder:validation:Enum=ReadWriteOnce;ReadWriteOncePod
	// +optional
	AccessMode corev1.PersistentVolumeAccessMode `json:"accessMode,omitempty"`
	// initialSize is what the StatefulSet's own template asks for; the rendered
	// claims ask for `size`. Default 1Gi, or size where that is less. Immutable.
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

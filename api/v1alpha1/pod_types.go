// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// SpreadMode says how strictly pods are spread.
// +kubebuilder:validation:Enum=Disabled;Preferred;Required
type SpreadMode string

const (
	// SpreadDisabled asks for nothing.
	SpreadDisabled SpreadMode = "Disabled"
	// SpreadPreferred schedules elsewhere when it cannot be met.
	SpreadPreferred SpreadMode = "Preferred"
	// SpreadRequired leaves a pod pending when it cannot be met.
	SpreadRequired SpreadMode = "Required"
)

// SchedulingSpec places the data pods.
type SchedulingSpec struct {
	// nodeSelector of the pods.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// tolerations of the pods.
	// +listType=atomic
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// affinity of the pods; what `node` and `zone` ask for is added to it.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// topologySpreadConstraints of the pods; what `node` and `zone` ask for is
	// added after them.
	// +listType=atomic
	// +optional
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	// priorityClassName of the pods.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// schedulerName of the pods.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	SchedulerName string `json:"schedulerName,omitempty"`
	// node spreads over kubernetes.io/hostname.
	// +optional
	Node *NodeAxis `json:"node,omitempty"`
	// zone spreads over, or pins to, topology.kubernetes.io/zone.
	// +optional
	Zone *ZoneAxis `json:"zone,omitempty"`
}

// NodeAxis spreads pods over nodes.
type NodeAxis struct {
	// spread says what is kept apart. shard defaults to Preferred.
	// +optional
	Spread *SpreadSpec `json:"spread,omitempty"`
}

// ZoneAxis spreads pods over zones or pins them.
type ZoneAxis struct {
	// spread says what is spread evenly.
	// +optional
	Spread *SpreadSpec `json:"spread,omitempty"`
	// pinning keeps every shard in the zones named, evenly. Excludes spread.
	// +optional
	Pinning *ZonePinning `json:"pinning,omitempty"`
}

// SpreadSpec says what is kept apart on one axis.
type SpreadSpec struct {
	// shard keeps the members of one shard apart.
	// +optional
	Shard *SpreadDimension `json:"shard,omitempty"`
	// primaries keeps the first pods of all shards apart.
	// +optional
	Primaries *SpreadDimension `json:"primaries,omitempty"`
	// pods spreads all pods of the cluster evenly.
	// +optional
	Pods *SpreadDimension `json:"pods,omitempty"`
}

// SpreadDimension is how strictly one set of pods is spread.
type SpreadDimension struct {
	// mode is Disabled, Preferred or Required.
	Mode SpreadMode `json:"mode"`
}

// ZonePinning names the zones that a cluster may use.
type ZonePinning struct {
	// zones are values of topology.kubernetes.io/zone. Immutable while set.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`
	Zones []string `json:"zones"`
}

// PodDisruptionBudgetMode says what one budget covers.
// +kubebuilder:validation:Enum=Shard;Cluster;Disabled
type PodDisruptionBudgetMode string

const (
	// BudgetShard renders one budget for each shard.
	BudgetShard PodDisruptionBudgetMode = "Shard"
	// BudgetCluster renders one budget for all data pods.
	BudgetCluster PodDisruptionBudgetMode = "Cluster"
	// BudgetDisabled renders none.
	BudgetDisabled PodDisruptionBudgetMode = "Disabled"
)

// PodDisruptionBudgetSpec limits voluntary evictions.
type PodDisruptionBudgetSpec struct {
	// mode is Shard (default), Cluster or Disabled.
	// +kubebuilder:default=Shard
	// +optional
	Mode PodDisruptionBudgetMode `json:"mode,omitempty"`
	// maxUnavailable pods, or a percentage, of what one budget covers. Default 1.
	// +kubebuilder:validation:XIntOrString
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// PodSpec adjusts the data pods.
type PodSpec struct {
	// labels added to the pods. Ours, and those of valkey-render.dev, cannot be
	// set.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// annotations added to the pods.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// securityContext of the pods, merged over ours.
	// +optional
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`
	// containerSecurityContext of every container of ours, merged over ours.
	// +optional
	ContainerSecurityContext *corev1.SecurityContext `json:"containerSecurityContext,omitempty"`
	// serviceAccountName of the pods. They never mount a token.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// containers are merged by name onto ours (server, exporter); others are
	// sidecars.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Containers []corev1.Container `json:"containers,omitempty"`
	// volumes added to the pods.
	// +listType=map
	// +listMapKey=name
	// +optional
	Volumes []corev1.Volume `json:"volumes,omitempty"`
	// volumeMounts added to the server container.
	// +listType=map
	// +listMapKey=mountPath
	// +optional
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
	// terminationGracePeriodSeconds of the pods. Default: 30, or
	// cluster-manual-failover-timeout and 10 seconds, whichever is longer.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	// +optional
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
}

// MetricsSpec adds an exporter.
type MetricsSpec struct {
	// enabled adds the exporter sidecar. Default false.
	// +optional
	Enabled bool `json:"enabled,omitempty"`
	// image of the exporter. Default docker.io/oliver006/redis_exporter:v1.80.0.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Image string `json:"image,omitempty"`
	// args of the exporter.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Args []string `json:"args,omitempty"`
	// resources of the exporter.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`
	// podMonitor renders a PodMonitor of the Prometheus operator.
	// +optional
	PodMonitor *MonitorSpec `json:"podMonitor,omitempty"`
	// prometheusRule renders a PrometheusRule with alerts.
	// +optional
	PrometheusRule *MonitorSpec `json:"prometheusRule,omitempty"`
	// dashboard renders a ConfigMap with a Grafana dashboard.
	// +optional
	Dashboard *MonitorSpec `json:"dashboard,omitempty"`
}

// MonitorSpec configures one object for Prometheus or Grafana.
type MonitorSpec struct {
	// enabled renders the object. Default true where this block is present.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// labels of the object, as its operator's selector asks.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// interval between scrapes. Only for the PodMonitor; default 30s.
	// +optional
	Interval *metav1.Duration `json:"interval,omitempty"`
}

// NetworkPolicySpec restricts who may connect.
type NetworkPolicySpec struct {
	// enabled renders a policy that admits allowFrom, the cluster's own pods,
	// its Jobs and the reconciler. Default false.
	// +optional
	Enabled bool `json:"enabled,omitempty"`
	// allowFrom lists the clients. Default: every pod of the namespace.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	AllowFrom []networkingv1.NetworkPolicyPeer `json:"allowFrom,omitempty"`
	// busPolicy renders the rule that only pods of the same cluster reach the
	// cluster bus, also when enabled is false. Default true.
	// +kubebuilder:default=true
	// +optional
	BusPolicy *bool `json:"busPolicy,omitempty"`
}

// RolloutMode says who drives a roll.
// +kubebuilder:validation:Enum=Orchestrated;StatefulSet
type RolloutMode string

const (
	// RolloutOrchestrated lets the reconciler roll, replicas first, with handover.
	RolloutOrchestrated RolloutMode = "Orchestrated"
	// RolloutStatefulSet lets the StatefulSet controller roll.
	RolloutStatefulSet RolloutMode = "StatefulSet"
)

// RolloutSpec says how a changed pod template reaches the pods.
type RolloutSpec struct {
	// mode is Orchestrated (default) or StatefulSet.
	// +optional
	Mode RolloutMode `json:"mode,omitempty"`
	// maxParallelShards that are rolled at the same time. Default 1.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=500
	// +optional
	MaxParallelShards *int32 `json:"maxParallelShards,omitempty"`
	// allowDataLoss lets a pod be rolled whose data exists nowhere else. Default
	// true for profile Cache without replicas, else false.
	// +optional
	AllowDataLoss *bool `json:"allowDataLoss,omitempty"`
}

// QuorumTakeover says who decides when most primaries are lost.
// +kubebuilder:validation:Enum=Auto;Manual
type QuorumTakeover string

const (
	// QuorumTakeoverAuto promotes replicas without a vote, once fenced.
	QuorumTakeoverAuto QuorumTakeover = "Auto"
	// QuorumTakeoverManual waits for the quorum-takeover annotation.
	QuorumTakeoverManual QuorumTakeover = "Manual"
)

// FailoverSpec tunes failover.
type FailoverSpec struct {
	// nodeTimeout after which a cluster node is held for failing. Default 2s.
	// +optional
	NodeTimeout *metav1.Duration `json:"nodeTimeout,omitempty"`
	// detection time after which a silent primary is replaced. Only for topology
	// Replication; default 3s.
	// +optional
	Detection *metav1.Duration `json:"detection,omitempty"`
	// quorumTakeover is Auto or Manual. Default Auto with profile Cache, Manual
	// with Durable.
	// +optional
	QuorumTakeover QuorumTakeover `json:"quorumTakeover,omitempty"`
}

// RebalanceSpec says how slots move to new shards.
type RebalanceSpec struct {
	// enabled moves slots to new shards. Default true. Disabled: they stay empty
	// until a reshard.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// maxConcurrent slot moves at a time. Default 4.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	// +optional
	MaxConcurrent *int32 `json:"maxConcurrent,omitempty"`
	// batchSlots in one move. Default 512.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16384
	// +optional
	BatchSlots *int32 `json:"batchSlots,omitempty"`
}

// JobsTemplateSpec adjusts the pods of topology Jobs.
type JobsTemplateSpec struct {
	// tolerations of the pods. Default: not-ready and unreachable for 5 seconds.
	// +listType=atomic
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// priorityClassName of the pods.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// nodeSelector of the pods.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// imagePullSecrets of the pods.
	// +listType=map
	// +listMapKey=name
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// annotations of the pods, to keep sidecars from being injected.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// resources of the container.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`
}

// BackupSpec writes RDB files to S3.
type BackupSpec struct {
	// schedule in cron syntax. Default "0 3 * * *".
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Schedule string `json:"schedule,omitempty"`
	// s3 is where backups go.
	S3 S3Spec `json:"s3"`
	// retention is how many backups are kept; 0 keeps all. Default 7.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Retention *int32 `json:"retention,omitempty"`
	// verify reads every object back. Default true.
	// +kubebuilder:default=true
	// +optional
	Verify *bool `json:"verify,omitempty"`
}

// S3Spec names a bucket.
type S3Spec struct {
	// bucket name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Bucket string `json:"bucket"`
	// endpoint URL. Absent: AWS.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// region of the bucket. Default us-east-1.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Region string `json:"region,omitempty"`
	// prefix of every key.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	Prefix string `json:"prefix,omitempty"`
	// credentialsSecret with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Absent:
	// the pod's own identity.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	CredentialsSecret string `json:"credentialsSecret,omitempty"`
	// encryption on the server: AES256 or KMS.
	// +kubebuilder:validation:Enum=AES256;KMS
	// +optional
	Encryption string `json:"encryption,omitempty"`
	// kmsKeyId of the key for encryption KMS.
	// +kubebuilder:validation:MaxLength=512
	// +optional
	KMSKeyID string `json:"kmsKeyId,omitempty"`
	// caSecret holds the CA of the endpoint; key defaults to ca.crt.
	// +optional
	CASecret *SecretKeyRef `json:"caSecret,omitempty"`
}

// RestoreSpec fills a new cluster from a backup.
type RestoreSpec struct {
	// s3 is where the backup is.
	S3 S3Spec `json:"s3"`
	// sourceKey of one RDB object, for topologies without slots.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	SourceKey string `json:"sourceKey,omitempty"`
	// manifestKey of a slot manifest, for topology Cluster.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	ManifestKey string `json:"manifestKey,omitempty"`
}

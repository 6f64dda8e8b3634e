// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

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
	// maxUnavailable pods, or a percentage, of what one budget covers: at least 1
	// or 1%, since none would block every drain for ever. Default 1.
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 : string(self).matches('^([1-9][0-9]?|100)%$')",message="must be at least 1, or a percentage from 1% to 100%"
	// +kubebuilder:validation:XIntOrString
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// PodSpec adjusts the data pods.
type PodSpec struct {
	// labels added to the pods. Ours, and those of valkey-render.dev, cannot be
	// set.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('valkey-render.dev/') && !(k in ['app.kubernetes.io/name', 'app.kubernetes.io/instance', 'app.kubernetes.io/component', 'app.kubernetes.io/part-of', 'app.kubernetes.io/managed-by', 'apps.kubernetes.io/pod-index', 'statefulset.kubernetes.io/pod-name', 'controller-revision-hash']))",message="these labels are set by valkey-render or Kubernetes"
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// annotations added to the pods. Those of valkey-render.dev cannot be set.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('valkey-render.dev/'))",message="these annotations are set by valkey-render"
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
	// containers are merged by name onto ours (server, exporter), whose image,
	// command, args, ports and variables cannot be set; others are sidecars.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(c, !(c.name in ['server', 'exporter']) || (!has(c.image) && !has(c.command) && !has(c.args) && !has(c.ports) && !has(c.workingDir)))",reason=FieldValueForbidden,message="containers server and exporter have an image, command, args and ports of their own"
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
// +kubebuilder:validation:XValidation:rule="!has(self.prometheusRule) || !has(self.prometheusRule.interval)",fieldPath=".prometheusRule.interval",reason=FieldValueForbidden,message="only the podMonitor scrapes"
// +kubebuilder:validation:XValidation:rule="!has(self.dashboard) || !has(self.dashboard.interval)",fieldPath=".dashboard.interval",reason=FieldValueForbidden,message="only the podMonitor scrapes"
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
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+([.][0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('1h')",message="must be between 1s and 1h"
	// +optional
	Interval *metav1.Duration `json:"interval,omitempty"`
}

// NetworkPolicySpec restricts who may connect.
// +kubebuilder:validation:XValidation:rule="!has(self.allowFrom) || self.allowFrom.size() == 0 || (has(self.enabled) && self.enabled)",fieldPath=".allowFrom",reason=FieldValueForbidden,message="restricts nobody without enabled: true beside it"
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
	// nodeTimeout after which a cluster node is held for failing. Only for
	// topology Cluster; default 2s.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+([.][0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('500ms') && duration(self) <= duration('10m')",message="must be between 500ms and 10m"
	// +optional
	NodeTimeout *metav1.Duration `json:"nodeTimeout,omitempty"`
	// detection time after which a silent primary is replaced. Only for topology
	// Replication; default 3s.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+([.][0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('10m')",message="must be between 1s and 10m"
	// +optional
	Detection *metav1.Duration `json:"detection,omitempty"`
	// quorumTakeover is Auto or Manual. Only for topology Cluster; default Auto
	// with profile Cache, Manual with Durable.
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

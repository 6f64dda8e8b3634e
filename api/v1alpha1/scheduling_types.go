// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import corev1 "k8s.io/api/core/v1"

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
// +kubebuilder:validation:XValidation:rule="!(has(self.topologySpreadConstraints) && has(self.node) && has(self.node.spread) && ((has(self.node.spread.primaries) && self.node.spread.primaries.mode == 'Required') || (has(self.node.spread.pods) && self.node.spread.pods.mode == 'Required')) && self.topologySpreadConstraints.exists(c, c.topologyKey == 'kubernetes.io/hostname' && c.whenUnsatisfiable == 'DoNotSchedule'))",fieldPath=".topologySpreadConstraints",reason=FieldValueForbidden,message="a Required mode of node.spread asks for a DoNotSchedule constraint on kubernetes.io/hostname already"
// +kubebuilder:validation:XValidation:rule="!(has(self.topologySpreadConstraints) && has(self.node) && has(self.node.spread) && ((has(self.node.spread.primaries) && self.node.spread.primaries.mode == 'Preferred') || (has(self.node.spread.pods) && self.node.spread.pods.mode == 'Preferred')) && self.topologySpreadConstraints.exists(c, c.topologyKey == 'kubernetes.io/hostname' && c.whenUnsatisfiable == 'ScheduleAnyway'))",fieldPath=".topologySpreadConstraints",reason=FieldValueForbidden,message="a Preferred mode of node.spread asks for a ScheduleAnyway constraint on kubernetes.io/hostname already"
// +kubebuilder:validation:XValidation:rule="!(has(self.topologySpreadConstraints) && has(self.zone) && has(self.zone.spread) && ((has(self.zone.spread.shard) && self.zone.spread.shard.mode == 'Required') || (has(self.zone.spread.primaries) && self.zone.spread.primaries.mode == 'Required') || (has(self.zone.spread.pods) && self.zone.spread.pods.mode == 'Required')) && self.topologySpreadConstraints.exists(c, c.topologyKey == 'topology.kubernetes.io/zone' && c.whenUnsatisfiable == 'DoNotSchedule'))",fieldPath=".topologySpreadConstraints",reason=FieldValueForbidden,message="a Required mode of zone.spread asks for a DoNotSchedule constraint on topology.kubernetes.io/zone already"
// +kubebuilder:validation:XValidation:rule="!(has(self.topologySpreadConstraints) && has(self.zone) && has(self.zone.spread) && ((has(self.zone.spread.shard) && self.zone.spread.shard.mode == 'Preferred') || (has(self.zone.spread.primaries) && self.zone.spread.primaries.mode == 'Preferred') || (has(self.zone.spread.pods) && self.zone.spread.pods.mode == 'Preferred')) && self.topologySpreadConstraints.exists(c, c.topologyKey == 'topology.kubernetes.io/zone' && c.whenUnsatisfiable == 'ScheduleAnyway'))",fieldPath=".topologySpreadConstraints",reason=FieldValueForbidden,message="a Preferred mode of zone.spread asks for a ScheduleAnyway constraint on topology.kubernetes.io/zone already"
// +kubebuilder:validation:XValidation:rule="!(has(self.topologySpreadConstraints) && has(self.zone) && has(self.zone.pinning) && self.topologySpreadConstraints.exists(c, c.topologyKey == 'topology.kubernetes.io/zone' && c.whenUnsatisfiable == 'DoNotSchedule'))",fieldPath=".topologySpreadConstraints",reason=FieldValueForbidden,message="zone.pinning asks for a DoNotSchedule constraint on topology.kubernetes.io/zone already"
// +kubebuilder:validation:XValidation:rule="!(has(self.nodeSelector) && has(self.zone) && has(self.zone.pinning) && 'topology.kubernetes.io/zone' in self.nodeSelector)",fieldPath=".nodeSelector",reason=FieldValueForbidden,message="zone.pinning names the zones"
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
	// +kubebuilder:validation:MaxItems=32
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
// +kubebuilder:validation:XValidation:rule="!has(self.spread) || !has(self.spread.primaries) || !has(self.spread.pods) || self.spread.primaries.mode == 'Disabled' || self.spread.primaries.mode != self.spread.pods.mode",fieldPath=".spread",message="primaries and pods may not both be Required, nor both be Preferred"
type NodeAxis struct {
	// spread says what is kept apart. shard defaults to Preferred.
	// +optional
	Spread *SpreadSpec `json:"spread,omitempty"`
}

// ZoneAxis spreads pods over zones or pins them.
// +kubebuilder:validation:XValidation:rule="!has(self.spread) || [(has(self.spread.shard) ? self.spread.shard.mode : 'Disabled'), (has(self.spread.primaries) ? self.spread.primaries.mode : 'Disabled'), (has(self.spread.pods) ? self.spread.pods.mode : 'Disabled')].filter(m, m == 'Required').size() <= 1",fieldPath=".spread",message="at most one of them may be Required"
// +kubebuilder:validation:XValidation:rule="!has(self.spread) || [(has(self.spread.shard) ? self.spread.shard.mode : 'Disabled'), (has(self.spread.primaries) ? self.spread.primaries.mode : 'Disabled'), (has(self.spread.pods) ? self.spread.pods.mode : 'Disabled')].filter(m, m == 'Preferred').size() <= 1",fieldPath=".spread",message="at most one of them may be Preferred"
// +kubebuilder:validation:XValidation:rule="!has(self.pinning) || !has(self.spread) || [(has(self.spread.shard) ? self.spread.shard.mode : 'Disabled'), (has(self.spread.primaries) ? self.spread.primaries.mode : 'Disabled'), (has(self.spread.pods) ? self.spread.pods.mode : 'Disabled')].all(m, m == 'Disabled')",fieldPath=".pinning",reason=FieldValueForbidden,message="pinned pods are spread over their zones already"
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
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="zones are immutable while set"
	// +kubebuilder:validation:XValidation:rule="self.all(z, self.exists_one(y, y == z))",message="zones must differ"
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`
	Zones []string `json:"zones"`
}

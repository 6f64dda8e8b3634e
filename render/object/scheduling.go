// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// preferredWeight is the weight of a preference of ours, the highest there is.
const preferredWeight = 100

// schedule places the data pods of one shard. The user's own rules are kept and
// come first.
func schedule(c *v1alpha1.ValkeyCluster, shard int32, spec *corev1.PodSpec) {
	placement(c, spec)
	var affinity *corev1.Affinity
	if s := c.Spec.Scheduling; s != nil {
		affinity = s.Affinity.DeepCopy()
		spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, s.TopologySpreadConstraints...)
	}
	members, primaries, all := name.DataSelector(c.Name, shard), name.FirstPodSelector(c.Name), name.ServerSelector(c.Name)
	affinity = apart(affinity, c.NodeSpread().Shard, members)
	spread(spec, corev1.LabelHostname, c.NodeSpread().Primaries, primaries)
	spread(spec, corev1.LabelHostname, c.NodeSpread().Pods, all)
	if zones := c.PinnedZones(); len(zones) > 0 {
		affinity = within(affinity, zones)
		spread(spec, corev1.LabelTopologyZone, v1alpha1.SpreadRequired, members)
	} else {
		spread(spec, corev1.LabelTopologyZone, c.ZoneSpread().Shard, members)
		spread(spec, corev1.LabelTopologyZone, c.ZoneSpread().Primaries, primaries)
		spread(spec, corev1.LabelTopologyZone, c.ZoneSpread().Pods, all)
	}
	spec.Affinity = affinity
}

// scheduleSentinels spreads the Sentinel pods as far as nodes and zones allow: the
// loss of one must leave a majority.
func scheduleSentinels(c *v1alpha1.ValkeyCluster, spec *corev1.PodSpec) {
	placement(c, spec)
	selector := name.SentinelSelector(c.Name)
	spec.Affinity = apart(nil, v1alpha1.SpreadPreferred, selector)
	spread(spec, corev1.LabelTopologyZone, v1alpha1.SpreadPreferred, selector)
}

// placement is what data and Sentinel pods have alike: which nodes may be used.
func placement(c *v1alpha1.ValkeyCluster, spec *corev1.PodSpec) {
	s := c.Spec.Scheduling
	if s == nil {
		return
	}
	spec.NodeSelector = s.NodeSelector
	spec.Tolerations = s.Tolerations
	spec.PriorityClassName = s.PriorityClassName
	spec.SchedulerName = s.SchedulerName
}

// apart keeps the pods that a selector matches on different nodes.
func apart(affinity *corev1.Affinity, mode v1alpha1.SpreadMode, selector map[string]string) *corev1.Affinity {
	if mode == v1alpha1.SpreadDisabled {
		return affinity
	}
	if affinity == nil {
		affinity = &corev1.Affinity{}
	}
	if affinity.PodAntiAffinity == nil {
		affinity.PodAntiAffinity = &corev1.PodAntiAffinity{}
	}
	anti := affinity.PodAntiAffinity
	term := corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: selector}}
	if mode == v1alpha1.SpreadRequired {
		anti.RequiredDuringSchedulingIgnoredDuringExecution = append(anti.RequiredDuringSchedulingIgnoredDuringExecution, term)
	} else {
		anti.PreferredDuringSchedulingIgnoredDuringExecution = append(anti.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.WeightedPodAffinityTerm{Weight: preferredWeight, PodAffinityTerm: term})
	}
	return affinity
}

// within keeps the pods in the zones. Terms of a node selector are alternatives,
// so the requirement goes into each of them.
func within(affinity *corev1.Affinity, zones []string) *corev1.Affinity {
	if affinity == nil {
		affinity = &corev1.Affinity{}
	}
	if affinity.NodeAffinity == nil {
		affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	if affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{}
	}
	required := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	zone := corev1.NodeSelectorRequirement{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: zones}
	if len(required.NodeSelectorTerms) == 0 {
		required.NodeSelectorTerms = []corev1.NodeSelectorTerm{{}}
	} else {
		// A term without any requirement matches no node; with ours it would.
		for i := range required.NodeSelectorTerms {
			if t := &required.NodeSelectorTerms[i]; len(t.MatchExpressions)+len(t.MatchFields) > 0 {
				t.MatchExpressions = append(t.MatchExpressions, zone)
			}
		}
		return affinity
	}
	required.NodeSelectorTerms[0].MatchExpressions = []corev1.NodeSelectorRequirement{zone}
	return affinity
}

// spread adds a constraint that keeps the pods of a selector even over a topology.
// The primaries are spread by the first pods of the shards, on every pod: a pod
// that the selector does not match is held back only where they are uneven already.
func spread(spec *corev1.PodSpec, key string, mode v1alpha1.SpreadMode, selector map[string]string) {
	var otherwise corev1.UnsatisfiableConstraintAction
	switch mode {
	case v1alpha1.SpreadRequired:
		otherwise = corev1.DoNotSchedule
	case v1alpha1.SpreadPreferred:
		otherwise = corev1.ScheduleAnyway
	default:
		return
	}
	spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
		MaxSkew:           1,
		TopologyKey:       key,
		WhenUnsatisfiable: otherwise,
		LabelSelector:     &metav1.LabelSelector{MatchLabels: selector},
	})
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/finding"
)

// places is what a spec itself says about where pods may run: how many values of a
// topology key, and the field that says so. Without such a field count is 0; how
// many nodes and zones there are nobody knows here.
type places struct {
	count int
	path  *field.Path
}

// placesOf reads zone.pinning, nodeSelector and required node affinity.
func placesOf(c *v1alpha1.ValkeyCluster, key string) places {
	s, at := c.Spec.Scheduling, spec().Child("scheduling")
	if s == nil {
		return places{}
	}
	if zones := c.PinnedZones(); key == corev1.LabelTopologyZone && len(zones) > 0 {
		return places{len(zones), at.Child("zone", "pinning", "zones")}
	}
	if _, one := s.NodeSelector[key]; one {
		return places{1, at.Child("nodeSelector").Key(key)}
	}
	if s.Affinity == nil || s.Affinity.NodeAffinity == nil || s.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return places{}
	}
	var values []string
	for _, term := range s.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		// Terms are alternatives: one that leaves the key open admits any value.
		i := slices.IndexFunc(term.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool {
			return r.Key == key && r.Operator == corev1.NodeSelectorOpIn
		})
		if i < 0 {
			return places{}
		}
		values = append(values, term.MatchExpressions[i].Values...)
	}
	slices.Sort(values)
	return places{len(slices.Compact(values)), at.Child("affinity", "nodeAffinity")}
}

// spreadUnmet: the spec asks for pods to be kept apart and itself leaves too few
// nodes or zones for it. Anti-affinity then leaves pods pending; an even spread over
// a single place is met by putting everything there, and protects from nothing.
func spreadUnmet(c *v1alpha1.ValkeyCluster) []Advice {
	members := int(c.PodsPerShard())
	nodes, zones := placesOf(c, corev1.LabelHostname), placesOf(c, corev1.LabelTopologyZone)
	var all []Advice
	if mode := c.NodeSpread().Shard; nodes.count > 0 && members > 1 {
		switch {
		case mode == v1alpha1.SpreadRequired && nodes.count < members:
			all = append(all, one(finding.SpreadUnmet, nodes.path,
				"a shard has %d members on different nodes, and the pods may run on %s only: the others stay pending", members, counted(nodes.count, "node"))...)
		case mode == v1alpha1.SpreadPreferred && nodes.count == 1:
			all = append(all, one(finding.SpreadUnmet, nodes.path,
				"all %d members of a shard run on one node and are lost with it", members)...)
		}
	}
	if zoned := c.ZoneSpread(); zones.count == 1 && members > 1 && (len(c.PinnedZones()) > 0 || asked(zoned.Shard) || asked(zoned.Pods)) {
		all = append(all, one(finding.SpreadUnmet, zones.path,
			"all %d members of a shard are in one zone and are lost with it; name at least two zones", members)...)
	}
	return append(all, ownConstraintsUnmet(c)...)
}

func asked(mode v1alpha1.SpreadMode) bool { return mode != v1alpha1.SpreadDisabled }

// ownConstraintsUnmet: while there are fewer places than minDomains, a constraint
// admits maxSkew pods to each of them and no more.
func ownConstraintsUnmet(c *v1alpha1.ValkeyCluster) []Advice {
	if c.Spec.Scheduling == nil {
		return nil
	}
	pods := int(c.ShardCount()) * int(c.PodsPerShard())
	var all []Advice
	for i, t := range c.Spec.Scheduling.TopologySpreadConstraints {
		known := placesOf(c, t.TopologyKey)
		if t.WhenUnsatisfiable != corev1.DoNotSchedule || t.MinDomains == nil || known.count == 0 || known.count >= int(*t.MinDomains) {
			continue
		}
		if admitted := known.count * int(t.MaxSkew); admitted < pods {
			all = append(all, one(finding.SpreadUnmet, spec().Child("scheduling", "topologySpreadConstraints").Index(i).Child("minDomains"),
				"asks for %d values of %s, and %s allows %d: of the pods that it selects at most %d are scheduled",
				*t.MinDomains, t.TopologyKey, known.path, known.count, admitted)...)
		}
	}
	return all
}

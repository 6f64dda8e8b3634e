// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// TestValidSchedulingIsAcceptedByTheServer: constraints are merged by key and
// action, and two alike are refused; terms of node affinity stay alternatives.
func TestValidSchedulingIsAcceptedByTheServer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &v1alpha1.ValkeyCluster{}
		c.Name = "orders"
		c.Spec.Scheduling = drawScheduling(t)
		c.Default()
		if len(c.Validate()) > 0 {
			return
		}
		var spec corev1.PodSpec
		schedule(c, 0, &spec)
		seen := map[string]bool{}
		for _, s := range spec.TopologySpreadConstraints {
			key := s.TopologyKey + " " + string(s.WhenUnsatisfiable)
			if seen[key] {
				t.Fatalf("two constraints for %s", key)
			}
			seen[key] = true
		}
		zones := c.PinnedZones()
		if zones == nil {
			return
		}
		terms := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		if len(terms) == 0 {
			t.Fatal("no term pins the zones")
		}
		for _, term := range terms {
			last := term.MatchExpressions[len(term.MatchExpressions)-1]
			if last.Key != corev1.LabelTopologyZone || len(last.Values) != len(zones) {
				t.Fatalf("a term lets pods out of the zones: %v", term)
			}
		}
	})
}

func drawScheduling(t *rapid.T) *v1alpha1.SchedulingSpec {
	mode := func(label string) *v1alpha1.SpreadDimension {
		m := rapid.SampledFrom([]v1alpha1.SpreadMode{"", v1alpha1.SpreadDisabled, v1alpha1.SpreadPreferred, v1alpha1.SpreadRequired}).Draw(t, label)
		if m == "" {
			return nil
		}
		return &v1alpha1.SpreadDimension{Mode: m}
	}
	axis := func(label string) *v1alpha1.SpreadSpec {
		return &v1alpha1.SpreadSpec{Shard: mode(label + " shard"), Primaries: mode(label + " primaries"), Pods: mode(label + " pods")}
	}
	s := &v1alpha1.SchedulingSpec{Node: &v1alpha1.NodeAxis{Spread: axis("node")}, Zone: &v1alpha1.ZoneAxis{}}
	if rapid.Bool().Draw(t, "pinned") {
		s.Zone.Pinning = &v1alpha1.ZonePinning{Zones: []string{"a", "b"}}
	} else {
		s.Zone.Spread = axis("zone")
	}
	for range rapid.IntRange(0, 2).Draw(t, "own constraints") {
		s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew:           1,
			TopologyKey:       rapid.SampledFrom([]string{corev1.LabelHostname, corev1.LabelTopologyZone, "rack"}).Draw(t, "key"),
			WhenUnsatisfiable: rapid.SampledFrom([]corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway}).Draw(t, "otherwise"),
			LabelSelector:     &metav1.LabelSelector{MatchLabels: name.ServerSelector("orders")},
		})
	}
	if n := rapid.IntRange(0, 2).Draw(t, "own terms"); n > 0 {
		required := &corev1.NodeSelector{}
		for range n {
			required.NodeSelectorTerms = append(required.NodeSelectorTerms, corev1.NodeSelectorTerm{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpExists}},
			})
		}
		s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
	}
	return s
}

// TestATermThatMatchesNothingStaysSo: an empty term selects no node.
func TestATermThatMatchesNothingStaysSo(t *testing.T) {
	affinity := &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}},
	}}
	within(affinity, []string{"a"})
	if terms := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms; len(terms[0].MatchExpressions) > 0 {
		t.Errorf("the term matches nodes now: %v", terms)
	}
}

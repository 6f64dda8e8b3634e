// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const maxZones = 32

func (c *ValkeyCluster) validateScheduling(v *violations, path *field.Path) {
	s := c.Spec.Scheduling
	if s == nil {
		return
	}
	v.labels(path.Child("nodeSelector"), s.NodeSelector)
	v.tolerations(path.Child("tolerations"), s.Tolerations)
	v.subdomain(path.Child("priorityClassName"), s.PriorityClassName)
	v.subdomain(path.Child("schedulerName"), s.SchedulerName)
	v.affinity(path.Child("affinity"), s.Affinity)
	v.constraints(path.Child("topologySpreadConstraints"), s.TopologySpreadConstraints)
	node, zone := c.NodeSpread(), c.ZoneSpread()
	at := path.Child("node", "spread")
	v.spreadModes(at, node)
	// The members of a shard are kept apart on nodes by anti-affinity, which
	// stands beside any constraint; the others are constraints.
	v.oneEach(at, node.Primaries, node.Pods)
	s.conflicts(v, path, corev1.LabelHostname, at, node.Primaries, node.Pods)
	at = path.Child("zone", "spread")
	v.spreadModes(at, zone)
	v.oneEach(at, zone.Shard, zone.Primaries, zone.Pods)
	if s.Zone == nil || s.Zone.Pinning == nil {
		s.conflicts(v, path, corev1.LabelTopologyZone, at, zone.Shard, zone.Primaries, zone.Pods)
		return
	}
	pinning := path.Child("zone", "pinning")
	v.zones(pinning.Child("zones"), s.Zone.Pinning.Zones)
	// Pinned pods are spread over their zones by a constraint as well.
	s.conflicts(v, path, corev1.LabelTopologyZone, pinning, SpreadRequired)
	if zone != (Spread{SpreadDisabled, SpreadDisabled, SpreadDisabled}) {
		v.forbidden(pinning, "pinned pods are spread over their zones already: remove zone.spread or zone.pinning")
	}
	if _, ok := s.NodeSelector[corev1.LabelTopologyZone]; ok {
		v.forbidden(path.Child("nodeSelector").Key(corev1.LabelTopologyZone), "zone.pinning names the zones: remove one of the two")
	}
}

func (v *violations) spreadModes(path *field.Path, s Spread) {
	oneOf(v, path.Child("shard", "mode"), s.Shard, SpreadDisabled, SpreadPreferred, SpreadRequired)
	oneOf(v, path.Child("primaries", "mode"), s.Primaries, SpreadDisabled, SpreadPreferred, SpreadRequired)
	oneOf(v, path.Child("pods", "mode"), s.Pods, SpreadDisabled, SpreadPreferred, SpreadRequired)
}

// oneEach holds that at most one set of pods on an axis is Required, and at
// most one Preferred: a pod may have one constraint of each kind for a topology
// key.
func (v *violations) oneEach(path *field.Path, modes ...SpreadMode) {
	for _, mode := range []SpreadMode{SpreadRequired, SpreadPreferred} {
		if count(modes, mode) > 1 {
			v.invalid(path, mode, "at most one of them may be %s: a pod can have one such constraint for each topology key", mode)
		}
	}
}

func count(modes []SpreadMode, mode SpreadMode) int {
	n := 0
	for _, m := range modes {
		if m == mode {
			n++
		}
	}
	return n
}

// conflicts reports constraints of the user's that a pod cannot have beside
// those that the modes of an axis ask for.
func (s *SchedulingSpec) conflicts(v *violations, path *field.Path, key string, axis *field.Path, modes ...SpreadMode) {
	_, inSpec, _ := strings.Cut(axis.String(), ".")
	for i, t := range s.TopologySpreadConstraints {
		mode := SpreadPreferred
		if t.WhenUnsatisfiable == corev1.DoNotSchedule {
			mode = SpreadRequired
		}
		if t.TopologyKey == key && count(modes, mode) > 0 {
			v.forbidden(path.Child("topologySpreadConstraints").Index(i), "%s asks for a %s constraint on %s already: remove one of the two", inSpec, t.WhenUnsatisfiable, key)
		}
	}
}

func (v *violations) zones(path *field.Path, zones []string) {
	if len(zones) == 0 {
		v.required(path, "at least one zone")
	}
	if len(zones) > maxZones {
		v.list = append(v.list, field.TooMany(path, len(zones), maxZones))
	}
	seen := map[string]bool{}
	for i, zone := range zones {
		if seen[zone] {
			v.duplicate(path.Index(i), zone)
		}
		seen[zone] = true
		if zone == "" {
			v.required(path.Index(i), "a value of "+corev1.LabelTopologyZone)
		}
		for _, why := range validation.IsValidLabelValue(zone) {
			v.invalid(path.Index(i), zone, "%s", why)
		}
	}
}

func (c *ValkeyCluster) validateBudget(v *violations, path *field.Path) {
	b := c.Spec.PodDisruptionBudget
	if b == nil {
		return
	}
	oneOf(v, path.Child("mode"), b.Mode, BudgetShard, BudgetCluster, BudgetDisabled)
	if b.MaxUnavailable == nil {
		return
	}
	at := path.Child("maxUnavailable")
	const right = "must be at least 1, or a percentage from 1% to 100%"
	if b.MaxUnavailable.Type == intstr.Int {
		if b.MaxUnavailable.IntVal < 1 {
			v.invalid(at, b.MaxUnavailable.String(), "%s; none would block every drain for ever", right)
		}
		return
	}
	number, percent := strings.CutSuffix(b.MaxUnavailable.StrVal, "%")
	n, err := strconv.ParseUint(number, 10, 8)
	if !percent || err != nil || n < 1 || n > 100 || strings.HasPrefix(number, "0") {
		v.invalid(at, b.MaxUnavailable.StrVal, "%s", right)
	}
}

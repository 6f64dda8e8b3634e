// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// affinity reports what a pod would be refused for, and terms that no node meets.
func (v *violations) affinity(at *field.Path, a *corev1.Affinity) {
	if a == nil {
		return
	}
	if n := a.NodeAffinity; n != nil {
		at := at.Child("nodeAffinity")
		if r := n.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
			at := at.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
			if len(r.NodeSelectorTerms) == 0 {
				v.required(at, "at least one term")
			}
			for i := range r.NodeSelectorTerms {
				v.nodeTerm(at.Index(i), &r.NodeSelectorTerms[i])
			}
		}
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			p, at := &n.PreferredDuringSchedulingIgnoredDuringExecution[i], at.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
			within(v, at.Child("weight"), &p.Weight, 1, 100)
			v.nodeTerm(at.Child("preference"), &p.Preference)
		}
	}
	if p := a.PodAffinity; p != nil {
		v.podTerms(at.Child("podAffinity"), p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		v.podTerms(at.Child("podAntiAffinity"), p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

func (v *violations) nodeTerm(at *field.Path, t *corev1.NodeSelectorTerm) {
	if len(t.MatchExpressions)+len(t.MatchFields) == 0 {
		v.required(at, "matchExpressions or matchFields: no node meets a term without")
	}
	for i := range t.MatchExpressions {
		r, at := &t.MatchExpressions[i], at.Child("matchExpressions").Index(i)
		v.labelKey(at.Child("key"), r.Key)
		v.nodeOperator(at, r)
	}
	for i := range t.MatchFields {
		r, at := &t.MatchFields[i], at.Child("matchFields").Index(i)
		if r.Key != metav1.ObjectNameField {
			v.invalid(at.Child("key"), r.Key, "must be "+metav1.ObjectNameField)
		}
		if r.Operator == "" {
			v.required(at.Child("operator"), "In or NotIn")
		}
		oneOf(v, at.Child("operator"), r.Operator, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn)
		if len(r.Values) != 1 {
			v.required(at.Child("values"), "the name of one node")
			continue
		}
		v.objectName(at.Child("values").Index(0), r.Values[0], "the name of a node")
	}
}

// nodeOperator holds that a requirement has the values that its operator takes.
func (v *violations) nodeOperator(at *field.Path, r *corev1.NodeSelectorRequirement) {
	values := at.Child("values")
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) == 0 {
			v.required(values, "at least one with operator %s", r.Operator)
		}
		for i, value := range r.Values {
			for _, why := range utilvalidation.IsValidLabelValue(value) {
				v.invalid(values.Index(i), value, "%s", why)
			}
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			v.forbidden(values, "operator %s takes none", r.Operator)
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(r.Values) != 1 {
			v.required(values, "one number with operator %s", r.Operator)
		} else if _, err := strconv.ParseInt(r.Values[0], 10, 64); err != nil {
			v.invalid(values.Index(0), r.Values[0], "must be a whole number with operator %s", r.Operator)
		}
	default:
		if r.Operator == "" {
			v.required(at.Child("operator"), "In, NotIn, Exists, DoesNotExist, Gt or Lt")
		}
		oneOf(v, at.Child("operator"), r.Operator, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn,
			corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt)
	}
}

func (v *violations) podTerms(at *field.Path, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
	for i := range required {
		v.podTerm(at.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(i), &required[i])
	}
	for i := range preferred {
		at := at.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
		within(v, at.Child("weight"), &preferred[i].Weight, 1, 100)
		v.podTerm(at.Child("podAffinityTerm"), &preferred[i].PodAffinityTerm)
	}
}

func (v *violations) podTerm(at *field.Path, t *corev1.PodAffinityTerm) {
	v.topologyKey(at.Child("topologyKey"), t.TopologyKey)
	v.selector(at.Child("labelSelector"), t.LabelSelector)
	v.selector(at.Child("namespaceSelector"), t.NamespaceSelector)
	for i, namespace := range t.Namespaces {
		for _, why := range utilvalidation.IsDNS1123Label(namespace) {
			v.invalid(at.Child("namespaces").Index(i), namespace, "%s", why)
		}
	}
	v.matchLabelKeys(at.Child("matchLabelKeys"), t.MatchLabelKeys, t.LabelSelector)
	v.matchLabelKeys(at.Child("mismatchLabelKeys"), t.MismatchLabelKeys, t.LabelSelector)
	for i, key := range t.MismatchLabelKeys {
		for _, match := range t.MatchLabelKeys {
			if key == match {
				v.invalid(at.Child("mismatchLabelKeys").Index(i), key, "is in matchLabelKeys too")
			}
		}
	}
}

func (v *violations) topologyKey(at *field.Path, key string) {
	if key == "" {
		v.required(at, "label of nodes, like "+corev1.LabelTopologyZone)
		return
	}
	v.labelKey(at, key)
}

func (v *violations) selector(at *field.Path, s *metav1.LabelSelector) {
	v.list = append(v.list, validation.ValidateLabelSelector(s, validation.LabelSelectorValidationOptions{}, at)...)
}

// matchLabelKeys holds that labels whose values are taken from the pod are beside
// a selector, and not in it.
func (v *violations) matchLabelKeys(at *field.Path, keys []string, selector *metav1.LabelSelector) {
	if len(keys) > 0 && selector == nil {
		v.forbidden(at, "needs labelSelector beside it")
		return
	}
	for i, key := range keys {
		v.labelKey(at.Index(i), key)
		for _, e := range selector.MatchExpressions {
			if e.Key == key {
				v.invalid(at.Index(i), key, "is in labelSelector too")
			}
		}
		if _, found := selector.MatchLabels[key]; found {
			v.invalid(at.Index(i), key, "is in labelSelector too")
		}
	}
}

// constraints checks what a pod would be refused for.
func (v *violations) constraints(path *field.Path, constraints []corev1.TopologySpreadConstraint) {
	type pair struct {
		key  string
		when corev1.UnsatisfiableConstraintAction
	}
	seen := map[pair]bool{}
	for i, t := range constraints {
		at := path.Index(i)
		if t.MaxSkew < 1 {
			v.invalid(at.Child("maxSkew"), t.MaxSkew, "must be at least 1")
		}
		v.topologyKey(at.Child("topologyKey"), t.TopologyKey)
		if t.WhenUnsatisfiable == "" {
			v.required(at.Child("whenUnsatisfiable"), "DoNotSchedule or ScheduleAnyway")
		}
		oneOf(v, at.Child("whenUnsatisfiable"), t.WhenUnsatisfiable, corev1.DoNotSchedule, corev1.ScheduleAnyway)
		if t.MinDomains != nil && *t.MinDomains < 1 {
			v.invalid(at.Child("minDomains"), *t.MinDomains, "must be at least 1")
		}
		if t.MinDomains != nil && t.WhenUnsatisfiable == corev1.ScheduleAnyway {
			v.forbidden(at.Child("minDomains"), "only with whenUnsatisfiable: DoNotSchedule")
		}
		one(v, at.Child("nodeAffinityPolicy"), t.NodeAffinityPolicy, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
		one(v, at.Child("nodeTaintsPolicy"), t.NodeTaintsPolicy, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
		v.selector(at.Child("labelSelector"), t.LabelSelector)
		v.matchLabelKeys(at.Child("matchLabelKeys"), t.MatchLabelKeys, t.LabelSelector)
		if p := (pair{t.TopologyKey, t.WhenUnsatisfiable}); seen[p] {
			v.duplicate(at, t.TopologyKey+" "+string(t.WhenUnsatisfiable))
		} else {
			seen[p] = true
		}
	}
}

// tolerations reports what a pod would be refused for.
func (v *violations) tolerations(path *field.Path, tolerations []corev1.Toleration) {
	for i, t := range tolerations {
		at := path.Index(i)
		oneOf(v, at.Child("operator"), t.Operator, corev1.TolerationOpEqual, corev1.TolerationOpExists)
		oneOf(v, at.Child("effect"), t.Effect, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)
		if t.Key == "" && t.Operator != corev1.TolerationOpExists {
			v.invalid(at.Child("operator"), t.Operator, "must be Exists without a key")
		}
		if t.Key != "" {
			v.labelKey(at.Child("key"), t.Key)
		}
		if t.Operator == corev1.TolerationOpExists && t.Value != "" {
			v.invalid(at.Child("value"), t.Value, "must be empty with operator Exists")
		} else if why := utilvalidation.IsValidLabelValue(t.Value); len(why) > 0 {
			v.invalid(at.Child("value"), t.Value, "%s", strings.Join(why, "; "))
		}
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			v.invalid(at.Child("effect"), t.Effect, "must be NoExecute with tolerationSeconds")
		}
	}
}

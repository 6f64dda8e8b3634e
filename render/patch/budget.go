// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// budget refuses a PodDisruptionBudget that lets no pod be evicted: it stops
// every drain of a node, for ever. objs have the pods.
func (r *refusals) budget(obj *unstructured.Unstructured, objs []*unstructured.Unstructured) {
	var b policyv1.PodDisruptionBudget
	if obj.GetKind() != kindBudget || !typed(obj, &b) || b.Spec.Selector == nil {
		return
	}
	covers := labels.SelectorFromSet(b.Spec.Selector.MatchLabels)
	pods := 0
	for _, o := range objs {
		var set appsv1.StatefulSet
		if o != nil && o.GetKind() == "StatefulSet" && typed(o, &set) && set.Spec.Replicas != nil && covers.Matches(labels.Set(set.Spec.Template.Labels)) {
			pods += int(*set.Spec.Replicas)
		}
	}
	for _, part := range []struct {
		field  string
		value  *intstr.IntOrString
		blocks func(n int) bool
	}{
		{"maxUnavailable", b.Spec.MaxUnavailable, func(n int) bool { return n <= 0 }},
		// A cluster that sleeps has no pods to count.
		{"minAvailable", b.Spec.MinAvailable, func(n int) bool { return pods > 0 && n >= pods }},
	} {
		if part.value == nil {
			continue
		}
		// The disruption controller rounds both up.
		n, err := intstr.GetScaledValueFromIntOrPercent(part.value, max(pods, 1), true)
		switch {
		case err != nil || n < 0 || part.value.Type == intstr.String && n > max(pods, 1):
			r.invalid(obj, "spec."+part.field+" is "+part.value.String()+"; a number or a percentage up to 100% is needed")
		case part.blocks(n):
			r.add("lets no pod be evicted by spec."+part.field+" of", obj, "a drain of a node would wait for ever")
		}
	}
}

func typed(obj *unstructured.Unstructured, into any) bool {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, into) == nil
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/valkey-render/valkey-render/render/finding"
)

// Rendered returns the advice for objects that patches have changed, whose
// effect no field of the spec shows. An object that does not fit its type is
// left to the API server.
func Rendered(objects []*unstructured.Unstructured) []Advice {
	pods := podsByShard(objects)
	var all []Advice
	for _, o := range objects {
		switch o.GetKind() {
		case "PodDisruptionBudget":
			all = append(all, blockingBudget(o, pods)...)
		case "StatefulSet":
			all = append(all, patchedVariables(o)...)
		}
	}
	return all
}

// podsByShard counts the pods that each StatefulSet asks for, by its selector.
func podsByShard(objects []*unstructured.Unstructured) []appsv1.StatefulSet {
	var sets []appsv1.StatefulSet
	for _, o := range objects {
		var sts appsv1.StatefulSet
		if o.GetKind() == "StatefulSet" && typed(o, &sts) {
			sets = append(sets, sts)
		}
	}
	return sets
}

func typed(o *unstructured.Unstructured, into any) bool {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, into) == nil
}

// blockingBudget: a budget that allows no eviction stops every node drain, for
// ever if nothing else moves the pods.
func blockingBudget(o *unstructured.Unstructured, sets []appsv1.StatefulSet) []Advice {
	var budget policyv1.PodDisruptionBudget
	if !typed(o, &budget) {
		return nil
	}
	expected := int32(0)
	for i := range sets {
		if selects(&budget, sets[i].Spec.Template.Labels) && sets[i].Spec.Replicas != nil {
			expected += *sets[i].Spec.Replicas
		}
	}
	if expected == 0 || !blocks(&budget, int(expected)) {
		return nil
	}
	return one(finding.BlockingBudget, spec().Child("patches"),
		"PodDisruptionBudget/%s allows none of its %d pods to be evicted: node drains wait for ever", budget.Name, expected)
}

func selects(b *policyv1.PodDisruptionBudget, labels map[string]string) bool {
	if b.Spec.Selector == nil {
		return false
	}
	for k, v := range b.Spec.Selector.MatchLabels {
		if labels[k] != v {
			return false
		}
	}
	return true
}

// blocks follows the disruption controller of Kubernetes: both percentages are
// rounded up.
func blocks(b *policyv1.PodDisruptionBudget, pods int) bool {
	if m := b.Spec.MaxUnavailable; m != nil {
		n, err := intstr.GetScaledValueFromIntOrPercent(m, pods, true)
		return err == nil && n <= 0
	}
	if m := b.Spec.MinAvailable; m != nil {
		n, err := intstr.GetScaledValueFromIntOrPercent(m, pods, true)
		return err == nil && n >= pods
	}
	return false
}

// patchedVariables: see unexpandedVariable; patches can add arguments too.
func patchedVariables(o *unstructured.Unstructured) []Advice {
	var sts appsv1.StatefulSet
	if !typed(o, &sts) {
		return nil
	}
	var all []Advice
	for _, list := range [][]corev1.Container{sts.Spec.Template.Spec.InitContainers, sts.Spec.Template.Spec.Containers} {
		for i := range list {
			if missing := missingVariables(&list[i]); len(missing) > 0 {
				all = append(all, one(finding.UnexpandedVariable, spec().Child("patches"),
					"container %s of StatefulSet/%s refers to $(%s), which has no env entry and stays as it is written", list[i].Name, sts.Name, strings.Join(missing, "), $("))...)
			}
		}
	}
	return all
}

// missingVariables returns the $(NAME) references in command and args that no env
// entry of the container defines. What envFrom brings is not known here.
func missingVariables(c *corev1.Container) []string {
	if len(c.EnvFrom) > 0 {
		return nil
	}
	known := map[string]bool{}
	for i := range c.Env {
		known[c.Env[i].Name] = true
	}
	var missing []string
	for _, list := range [][]string{c.Command, c.Args} {
		for _, value := range list {
			for _, v := range variables(value) {
				if !known[v] {
					missing = append(missing, v)
				}
			}
		}
	}
	return missing
}

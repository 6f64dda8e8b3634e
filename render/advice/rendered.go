// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/render/finding"
)

// Rendered returns the advice for objects that patches have changed, whose
// effect no field of the spec shows.
func Rendered(objects []*unstructured.Unstructured) []Advice {
	var all []Advice
	for _, o := range objects {
		if o.GetKind() == "StatefulSet" {
			all = append(all, patchedVariables(o)...)
		}
	}
	return all
}

// Idle returns the advice for patches, by their paths, that change nothing.
func Idle(patches []*field.Path) []Advice {
	var all []Advice
	for _, path := range patches {
		all = append(all, one(finding.PatchIdle, path, "changes nothing: what it asks for is rendered already")...)
	}
	return all
}

// patchedVariables: see unexpandedVariable; patches can add arguments too.
func patchedVariables(o *unstructured.Unstructured) []Advice {
	var sts appsv1.StatefulSet
	if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &sts) != nil {
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

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// template is the path of an object's pod template; nil for objects without.
func template(obj *unstructured.Unstructured) []string {
	switch obj.GetKind() {
	case "StatefulSet", "Job":
		return []string{"spec", "template"}
	case "CronJob":
		return []string{"spec", "jobTemplate", "spec", "template"}
	}
	return nil
}

// podTemplate compares what the containers of ours depend on.
func (r *refusals) podTemplate(before, after *unstructured.Unstructured) {
	at := template(before)
	r.metadata(before, after, " the pod template of", at...)
	mounted := map[string]bool{}
	for _, group := range []string{"containers", "initContainers"} {
		path := append(slices.Clone(at), "spec", group)
		kept := named(list(after, path...))
		for _, item := range list(before, path...) {
			container, _ := item.(map[string]any)
			called, _ := container["name"].(string)
			if group == "containers" && called != v1alpha1.ContainerServer && called != v1alpha1.ContainerExporter {
				continue
			}
			r.container(before, called, container, kept[called], mounted)
		}
	}
	path := append(slices.Clone(at), "spec", "volumes")
	volumes := named(list(after, path...))
	for called, volume := range named(list(before, path...)) {
		if mounted[called] && !reflect.DeepEqual(volume, volumes[called]) {
			r.add("changes the volumes of", before, "the containers mount them; more may be added")
		}
	}
}

// container compares one container of ours; mounted gathers what it mounts.
func (r *refusals) container(obj *unstructured.Unstructured, called string, before, after map[string]any, mounted map[string]bool) {
	for _, item := range items(before["volumeMounts"]) {
		if mount, ok := item.(map[string]any); ok {
			volume, _ := mount["name"].(string)
			mounted[volume] = true
		}
	}
	if after == nil {
		r.add("removes container "+called+" of", obj, "the pods cannot work without it")
		return
	}
	whole := []string{"command", "args"}
	if called == v1alpha1.ContainerServer {
		whole = append(whole, "lifecycle")
	}
	for _, f := range whole {
		if !reflect.DeepEqual(before[f], after[f]) {
			r.add("changes "+f+" of container "+called+" of", obj, "it is how the container is started and stopped")
		}
	}
	for _, f := range []string{"env", "ports", "volumeMounts"} {
		if !superset(items(before[f]), items(after[f])) {
			r.add("changes "+f+" of container "+called+" of", obj, "entries may be added, not changed or removed")
		}
	}
}

// kept notes that entries of a list were changed or removed.
func (r *refusals) kept(before, after *unstructured.Unstructured, what, why string, path ...string) {
	if !superset(list(before, path...), list(after, path...)) {
		r.add("changes "+what, before, why+"; entries may be added, not changed or removed")
	}
}

// superset says whether every item of before is in after.
func superset(before, after []any) bool {
	for _, item := range before {
		if !slices.ContainsFunc(after, func(other any) bool { return reflect.DeepEqual(item, other) }) {
			return false
		}
	}
	return true
}

func differs(before, after *unstructured.Unstructured, path ...string) bool {
	a, inA, _ := unstructured.NestedFieldNoCopy(before.Object, path...)
	b, inB, _ := unstructured.NestedFieldNoCopy(after.Object, path...)
	return inA != inB || !reflect.DeepEqual(a, b)
}

// list is the list at a path; nil when there is none.
func list(obj *unstructured.Unstructured, path ...string) []any {
	found, _, _ := unstructured.NestedFieldNoCopy(obj.Object, path...)
	return items(found)
}

func items(v any) []any {
	l, _ := v.([]any)
	return l
}

// named indexes mappings by their name.
func named(l []any) map[string]map[string]any {
	out := make(map[string]map[string]any, len(l))
	for _, item := range l {
		if m, ok := item.(map[string]any); ok {
			called, _ := m["name"].(string)
			out[called] = m
		}
	}
	return out
}

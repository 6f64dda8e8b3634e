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
	spec := append(slices.Clone(at), "spec")
	r.podFields(before, mapping(before, spec...), mapping(after, spec...))
	mounted := map[string]bool{}
	for _, group := range []string{"containers", "initContainers"} {
		path := append(slices.Clone(spec), group)
		kept := named(list(after, path...))
		for _, item := range list(before, path...) {
			was, _ := item.(map[string]any)
			called, _ := was["name"].(string)
			if group == "containers" && called != v1alpha1.ContainerServer && called != v1alpha1.ContainerExporter {
				continue
			}
			for _, mount := range items(was["volumeMounts"]) {
				mounted[entry(mount, "name")] = true
			}
			if kept[called] == nil {
				r.add("removes container "+called+" of", before, "the pods cannot work without it")
				continue
			}
			c := container{refusals: r, obj: before, name: called, was: was, is: kept[called]}
			c.compare()
		}
	}
	path := append(slices.Clone(spec), "volumes")
	volumes := named(list(after, path...))
	for called, volume := range named(list(before, path...)) {
		if mounted[called] && !reflect.DeepEqual(volume, volumes[called]) {
			r.add("changes the volumes of", before, "the containers mount them; more may be added")
		}
	}
}

// defaultGraceSeconds is what Kubernetes gives a pod that does not say.
const defaultGraceSeconds = int64(30)

// podFields compares the fields of a pod that are protected as a whole.
func (r *refusals) podFields(obj *unstructured.Unstructured, was, is map[string]any) {
	const names = "the names of the pods depend on it"
	for _, f := range []struct{ name, why string }{
		{"automountServiceAccountToken", "the pods have no use for a token"},
		{"enableServiceLinks", "the variables of Services would mix with those of the scripts"},
		{"hostname", names},
		{"hostnameOverride", names},
		{"setHostnameAsFQDN", names},
		{"subdomain", names},
		{"restartPolicy", "the server has to be started again"},
		{"activeDeadlineSeconds", "the server has to stay"},
		{"ephemeralContainers", "a pod template has none"},
		{"resources", "use spec.resources: maxmemory follows it"},
	} {
		if !reflect.DeepEqual(was[f.name], is[f.name]) {
			r.add("changes "+f.name+" in the pod template of", obj, f.why)
		}
	}
	const grace = "terminationGracePeriodSeconds"
	if seconds(is[grace]) < seconds(was[grace]) {
		r.add("lowers "+grace+" in the pod template of", obj, "use spec.pod."+grace+"; it may be raised")
	}
}

func seconds(v any) int64 {
	if n, ok := v.(int64); ok {
		return n
	}
	return defaultGraceSeconds
}

// kept notes that entries of a list were changed or removed.
func (r *refusals) kept(before, after *unstructured.Unstructured, what, why string, path ...string) {
	if !superset(list(before, path...), list(after, path...)) {
		r.add("changes "+what, before, why+"; entries may be added, not changed or removed")
	}
}

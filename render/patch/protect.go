// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// refusals gathers what one patch must not do, once for each kind of offence.
type refusals struct {
	offences []offence
}

type offence struct {
	what, why string
	// objects that it was seen on, in order.
	objects []string
}

// add notes an offence; what reads "changes <what> of", before the object.
func (r *refusals) add(what string, obj *unstructured.Unstructured, why string) {
	i := slices.IndexFunc(r.offences, func(o offence) bool { return o.what == what && o.why == why })
	if i < 0 {
		i = len(r.offences)
		r.offences = append(r.offences, offence{what: what, why: why})
	}
	o := &r.offences[i]
	if n := len(o.objects); n == 0 || o.objects[n-1] != id(obj) {
		o.objects = append(o.objects, id(obj))
	}
}

func (r *refusals) errors(path *field.Path) field.ErrorList {
	var out field.ErrorList
	for _, o := range r.offences {
		text := o.what + " " + o.objects[0]
		if n := len(o.objects) - 1; n > 0 {
			text += fmt.Sprintf(" (and of %d more objects)", n)
		}
		out = append(out, field.Forbidden(path, text+"; "+o.why))
	}
	return out
}

// deletion allows objects that hold nothing and that nothing needs.
func (r *refusals) deletion(obj *unstructured.Unstructured) {
	switch obj.GetKind() {
	case "PodDisruptionBudget", "NetworkPolicy", "PodMonitor", "PrometheusRule":
		return
	case "ConfigMap":
		if !ownConfigMap(obj) {
			return
		}
	}
	r.add("deletes", obj, "only budgets, network policies, monitoring objects and the dashboard may be deleted")
}

// ownConfigMap says whether the pods of a cluster read the ConfigMap.
func ownConfigMap(obj *unstructured.Unstructured) bool {
	cluster := obj.GetLabels()[name.LabelCluster]
	return obj.GetName() == name.Live(cluster) || obj.GetName() == name.Scripts(cluster)
}

// compare notes what of the protected parts differs.
func (r *refusals) compare(before, after *unstructured.Unstructured) {
	if before.GetAPIVersion() != after.GetAPIVersion() || before.GetKind() != after.GetKind() ||
		before.GetName() != after.GetName() || before.GetNamespace() != after.GetNamespace() {
		r.add("changes the identity of", before, "apiVersion, kind, name and namespace are the renderer's")
		return
	}
	r.metadata(before, after, "", "")
	r.fields(before, after)
	switch before.GetKind() {
	case v1alpha1.KindCluster, v1alpha1.KindACL:
		if before.GroupVersionKind().Group == v1alpha1.Group && differs(before, after, "spec") {
			r.add("changes spec of", before, "change the source instead: what is applied must be what was rendered")
		}
	case "ConfigMap":
		if ownConfigMap(before) && (differs(before, after, "data") || differs(before, after, "binaryData")) {
			r.add("changes data of", before, "use spec.config: a patch would not be checked")
		}
	case "Service":
		r.kept(before, after, "spec.ports of", "networking.port sets the number", "spec", "ports")
	case "Certificate":
		if !superset(list(before, "spec", "dnsNames"), list(after, "spec", "dnsNames")) {
			r.add("removes names of", before, "names may be added, not removed")
		}
	}
	if template(before) != nil {
		r.podTemplate(before, after)
	}
}

// fields compares the fields that are protected as a whole.
func (r *refusals) fields(before, after *unstructured.Unstructured) {
	for _, f := range []struct {
		path, why string
		kinds     []string
	}{
		{"spec.selector", "selectors are frozen for ever", nil},
		{"spec.podSelector", "selectors are frozen for ever", nil},
		{"spec.replicas", "use shards, replicasPerShard or replicas", []string{"StatefulSet"}},
		{"spec.serviceName", "the names of the pods depend on it", []string{"StatefulSet"}},
		{"spec.podManagementPolicy", "it cannot be changed later", []string{"StatefulSet"}},
		{"spec.volumeClaimTemplates", "use spec.storage; the claims are objects of their own", []string{"StatefulSet"}},
		{"spec.clusterIP", "the names of the pods depend on it", []string{"Service"}},
		{"spec.publishNotReadyAddresses", "pods must find each other before they are ready", []string{"Service"}},
		{"spec.secretName", "use spec.tls.secretName", []string{"Certificate"}},
	} {
		if (f.kinds == nil || slices.Contains(f.kinds, before.GetKind())) && differs(before, after, strings.Split(f.path, ".")...) {
			r.add("changes "+f.path+" of", before, f.why)
		}
	}
}

// metadata compares our labels and annotations under a prefix of fields.
func (r *refusals) metadata(before, after *unstructured.Unstructured, where string, prefix ...string) {
	prefix = slices.DeleteFunc(prefix, func(s string) bool { return s == "" })
	at := func(key string) []string { return append(slices.Clone(prefix), "metadata", key) }
	for _, part := range []struct {
		field, what string
		ours        func(string) bool
	}{
		{"labels", "labels", ourLabel},
		{"annotations", "annotations", func(key string) bool { return strings.HasPrefix(key, v1alpha1.Group+"/") }},
	} {
		if !reflect.DeepEqual(ours(before, part.ours, at(part.field)), ours(after, part.ours, at(part.field))) {
			r.add("changes our "+part.what+" on"+where, before, "selectors, policies and the pods themselves read them")
		}
	}
}

func ourLabel(key string) bool {
	switch key {
	case name.LabelName, name.LabelInstance, name.LabelComponent, name.LabelPartOf, name.LabelManagedBy:
		return true
	}
	return strings.HasPrefix(key, v1alpha1.Group+"/")
}

func ours(obj *unstructured.Unstructured, mine func(string) bool, path []string) map[string]any {
	found, _, _ := unstructured.NestedFieldNoCopy(obj.Object, path...)
	all, _ := found.(map[string]any)
	out := map[string]any{}
	for key, value := range all {
		if mine(key) {
			out[key] = value
		}
	}
	return out
}

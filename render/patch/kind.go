// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

const (
	kindBudget    = "PodDisruptionBudget"
	kindClaim     = "PersistentVolumeClaim"
	kindConfigMap = "ConfigMap"
)

// kind compares what is protected in objects of one kind only.
func (r *refusals) kind(before, after *unstructured.Unstructured) {
	switch before.GetKind() {
	case v1alpha1.KindCluster, v1alpha1.KindACL:
		if before.GroupVersionKind().Group == v1alpha1.Group && differs(before, after, "spec") {
			r.add("changes spec of", before, "change the source instead: what is applied must be what was rendered")
		}
	case kindConfigMap:
		r.configMap(before, after)
	case kindClaim:
		r.claim(before, after)
	case "Service":
		r.service(before, after)
	case "NetworkPolicy":
		r.kept(before, after, "spec.ingress of", "the pods reach each other by it", "spec", "ingress")
		r.kept(before, after, "spec.egress of", "the pods reach each other by it", "spec", "egress")
	case "Certificate":
		for _, part := range []struct{ field, what string }{
			{"dnsNames", "names"}, {"ipAddresses", "addresses"}, {"uris", "URIs"}, {"usages", "usages"},
		} {
			if !superset(list(before, "spec", part.field), list(after, "spec", part.field)) {
				r.add("removes "+part.what+" of", before, part.what+" may be added, not removed")
			}
		}
	}
}

// configMap lets keys be added to those that the pods read, and everything be
// changed in others. Nothing may freeze one: the next render could not change it.
func (r *refusals) configMap(before, after *unstructured.Unstructured) {
	if differs(before, after, "immutable") {
		r.add("changes immutable of", before, "the next change of the spec could not be applied")
	}
	if !ownConfigMap(before) {
		return
	}
	for _, f := range []string{"data", "binaryData"} {
		is := mapping(after, f)
		for key, value := range mapping(before, f) {
			if !reflect.DeepEqual(value, is[key]) {
				r.add("changes data of", before, "use spec.config: a patch would not be checked; keys may be added")
			}
		}
	}
}

// claim lets a disk be larger, and name where its content comes from.
func (r *refusals) claim(before, after *unstructured.Unstructured) {
	path := []string{"spec", "resources", "requests", "storage"}
	was, known := quantity(before, path...)
	if is, ok := quantity(after, path...); known && (!ok || is.Cmp(was) < 0) {
		r.add("shrinks spec.resources.requests.storage of", before, "use spec.storage.size; a claim cannot become smaller")
	}
}

func quantity(obj *unstructured.Unstructured, path ...string) (resource.Quantity, bool) {
	text, _, _ := unstructured.NestedString(obj.Object, path...)
	q, err := resource.ParseQuantity(text)
	return q, err == nil
}

// service lets a Service be reached from elsewhere too, and have more ports.
func (r *refusals) service(before, after *unstructured.Unstructured) {
	was, is := text(before, "spec", "type"), text(after, "spec", "type")
	headless := text(before, "spec", "clusterIP") == "None"
	if was != is && (headless || !slices.Contains([]string{"ClusterIP", "NodePort", "LoadBalancer"}, is)) {
		why := "it may be ClusterIP, NodePort or LoadBalancer"
		if headless {
			why = "a Service without an address of its own gives the pods their names"
		}
		r.add("changes spec.type of", before, why)
	}
	if families := list(before, "spec", "ipFamilies"); len(families) > 0 {
		if now := list(after, "spec", "ipFamilies"); len(now) == 0 || now[0] != families[0] {
			r.add("changes spec.ipFamilies of", before, "use networking.ipFamily; another may be added after it")
		}
	}
	ports := list(after, "spec", "ports")
	for _, port := range list(before, "spec", "ports") {
		if !slices.ContainsFunc(ports, func(other any) bool { return samePort(port, other) }) {
			r.add("changes spec.ports of", before, "networking.port sets the number; entries may be added, not changed or removed")
		}
	}
}

// samePort compares ports of a Service but for the port on nodes and the protocol
// above TCP, which are for others.
func samePort(a, b any) bool {
	was, _ := a.(map[string]any)
	is, _ := b.(map[string]any)
	for key := range merged(was, is) {
		if key != "nodePort" && key != "appProtocol" && !reflect.DeepEqual(was[key], is[key]) {
			return false
		}
	}
	return true
}

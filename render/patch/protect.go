// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/name"
)

// refusals gathers what one patch must not do, once for each kind of offence.
type refusals struct {
	offences []offence
}

type offence struct {
	// what reads "changes <what> of", before the object; empty for an object that
	// the API server would not accept.
	what, why string
	// objects that it was seen on, in order.
	objects []string
}

// add notes that something protected was touched.
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

// invalid notes that the API server would refuse the object.
func (r *refusals) invalid(obj *unstructured.Unstructured, why string) { r.add("", obj, why) }

func (r *refusals) errors(path *field.Path) field.ErrorList {
	var out field.ErrorList
	for _, o := range r.offences {
		more := ""
		if n := len(o.objects) - 1; n > 0 {
			more = fmt.Sprintf(" (and of %d more objects)", n)
		}
		if o.what == "" {
			out = append(out, field.TypeInvalid(path, nil, "makes an invalid object of "+o.objects[0]+more+": "+o.why))
			continue
		}
		err := field.Forbidden(path, o.what+" "+o.objects[0]+more+"; "+o.why)
		if o.what == deletes {
			err = finding.WithCode(err, finding.PatchDeletes)
		}
		out = append(out, err)
	}
	return out
}

// deletes is what a patch does that removes an object.
const deletes = "deletes"

// deletion allows objects that hold nothing and that nothing needs.
func (r *refusals) deletion(obj *unstructured.Unstructured) {
	switch obj.GetKind() {
	case kindBudget, "NetworkPolicy", "PodMonitor", "PrometheusRule":
		return
	case kindConfigMap:
		if !ownConfigMap(obj) {
			return
		}
	}
	r.add(deletes, obj, "only budgets, network policies, monitoring objects and the dashboard may be deleted")
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
	r.metadata(before, after, "")
	r.fields(before, after)
	r.kind(before, after)
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
		{"status", "it is what the cluster reports", nil},
		{"spec.selector", "selectors are frozen for ever", nil},
		{"spec.podSelector", "selectors are frozen for ever", nil},
		{"spec.replicas", "use shards, replicasPerShard or replicas", []string{"StatefulSet"}},
		{"spec.serviceName", "the names of the pods depend on it", []string{"StatefulSet"}},
		{"spec.ordinals", "the names of the pods and claims depend on it", []string{"StatefulSet"}},
		{"spec.podManagementPolicy", "it cannot be changed later", []string{"StatefulSet"}},
		{"spec.updateStrategy.type", "use spec.rollout.mode", []string{"StatefulSet"}},
		{"spec.volumeClaimTemplates", "use spec.storage; the claims are objects of their own", []string{"StatefulSet"}},
		{"spec.persistentVolumeClaimRetentionPolicy", "use spec.storage.reclaimPolicy; scaling never deletes data", []string{"StatefulSet"}},
		{"spec.accessModes", "use spec.storage.accessMode", []string{kindClaim}},
		{"spec.storageClassName", "use spec.storage.storageClassName", []string{kindClaim}},
		{"spec.volumeMode", "the server needs a file system", []string{kindClaim}},
		{"spec.clusterIP", "the names of the pods depend on it", []string{"Service"}},
		{"spec.clusterIPs", "the names of the pods depend on it", []string{"Service"}},
		{"spec.externalName", "the names of the pods depend on it", []string{"Service"}},
		{"spec.publishNotReadyAddresses", "pods must find each other before they are ready", []string{"Service"}},
		{"spec.policyTypes", "a direction without rules is closed, to the other pods too", []string{"NetworkPolicy"}},
		{"spec.secretName", "use spec.tls.secretName", []string{"Certificate"}},
	} {
		if (f.kinds == nil || slices.Contains(f.kinds, before.GetKind())) && differs(before, after, strings.Split(f.path, ".")...) {
			r.add("changes "+f.path+" of", before, f.why)
		}
	}
}

// metadata compares what a patch may not touch of the metadata under a prefix of
// fields: our labels and annotations, what keeps appliers away, and everything
// that is neither a label, an annotation nor a finalizer.
func (r *refusals) metadata(before, after *unstructured.Unstructured, where string, prefix ...string) {
	at := append(slices.Clone(prefix), "metadata")
	was, is := mapping(before, at...), mapping(after, at...)
	for _, part := range []struct {
		field string
		ours  func(string) bool
	}{
		{"labels", ourLabel},
		{"annotations", func(key string) bool { return strings.HasPrefix(key, v1alpha1.Group+"/") }},
	} {
		if !reflect.DeepEqual(ours(was[part.field], part.ours), ours(is[part.field], part.ours)) {
			r.add("changes our "+part.field+" on"+where, before, "selectors, policies and the pods themselves read them")
		}
	}
	kept := func(key string) bool { return keepsAppliersAway(before.GetKind(), key) }
	annotations := ours(is["annotations"], kept)
	given := ours(was["annotations"], kept)
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if annotations[key] != given[key] {
			r.add("changes annotation "+key+" on"+where, before, "appliers would rewrite or delete what must stay")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(merged(was, is))) {
		switch key {
		case "labels", "annotations", "finalizers", "name", "namespace":
		default:
			if !reflect.DeepEqual(was[key], is[key]) {
				r.add("changes metadata."+key+" on"+where, before, "only labels, annotations and finalizers may be changed")
			}
		}
	}
}

// keepsAppliersAway says whether an annotation, where it was rendered, has to
// stay: it keeps text from being rewritten, and claims from being deleted.
func keepsAppliersAway(kind, key string) bool {
	switch key {
	case "kustomize.toolkit.fluxcd.io/substitute":
		return true
	case "argocd.argoproj.io/sync-options", "argocd.argoproj.io/compare-options", "kustomize.toolkit.fluxcd.io/prune", "helm.sh/resource-policy":
		return kind == kindClaim
	}
	return false
}

// ourLabel says whether a label is set by us or by Kubernetes.
func ourLabel(key string) bool {
	switch key {
	case name.LabelName, name.LabelInstance, name.LabelComponent, name.LabelPartOf, name.LabelManagedBy,
		"apps.kubernetes.io/pod-index", "statefulset.kubernetes.io/pod-name", "controller-revision-hash":
		return true
	}
	return strings.HasPrefix(key, v1alpha1.Group+"/")
}

// ours are the entries of a mapping whose keys are mine.
func ours(value any, mine func(string) bool) map[string]any {
	all, _ := value.(map[string]any)
	out := map[string]any{}
	for key, value := range all {
		if mine(key) {
			out[key] = value
		}
	}
	return out
}

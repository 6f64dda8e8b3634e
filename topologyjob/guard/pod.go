// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// PodAnnotations are the annotations that the reconciler may write on pods.
func PodAnnotations() []string { return []string{v1alpha1.AnnotationRefresh} }

// podPolicy limits what the reconciler may patch on pods: the role label and its own
// annotations, on pods of a cluster. The right to patch pods would else reach their
// images, and the configuration of the server, which is an annotation.
func podPolicy(o Options) Policy {
	return rule{
		called:    "pod",
		resources: on("", "v1", []string{"pods"}, admission.Update),
		matches:   byTheReconciler(o),
		variables: []admission.Variable{
			{Name: "before", Expression: "oldObject.metadata.?labels.orValue({})"},
			{Name: "labels", Expression: "object.metadata.?labels.orValue({})"},
			{Name: "annotationsBefore", Expression: "oldObject.metadata.?annotations.orValue({})"},
			{Name: "annotations", Expression: "object.metadata.?annotations.orValue({})"},
		},
		denials: []denial{
			podDenial("a pod that belongs to no cluster", fmt.Sprintf("%s in variables.before", quote(name.LabelCluster))),
			podDenial("labels", unchangedBut("variables.before", "variables.labels", name.LabelRole)),
			podDenial("annotations", unchangedBut("variables.annotationsBefore", "variables.annotations", PodAnnotations()...)),
			podDenial("the spec", "object.spec == oldObject.spec"),
			podDenial("owners or finalizers", `object.metadata.?ownerReferences == oldObject.metadata.?ownerReferences &&
object.metadata.?finalizers == oldObject.metadata.?finalizers`),
		},
	}.build(o)
}

// unchangedBut holds when two maps differ in no key but these.
func unchangedBut(before, after string, keys ...string) string {
	for i, k := range keys {
		keys[i] = quote(k)
	}
	list := "[" + strings.Join(keys, ", ") + "]"
	return fmt.Sprintf("%[1]s.all(k, k in %[3]s || %[2]s[?k] == optional.of(%[1]s[k])) &&\n%[2]s.all(k, k in %[3]s || k in %[1]s)", before, after, list)
}

func podDenial(what, unless string) denial {
	can := fmt.Sprintf("label %s and annotation %s", name.LabelRole, strings.Join(PodAnnotations(), ", "))
	return denial{
		unless: unless,
		message: text("Pod/`request.namespace`/`oldObject.metadata.name`: the reconciler may change nothing of a pod but " + can + ", and tried " + what +
			": a pod changes by its spec: valkey-render apply -f SPEC"),
		fallback: "the reconciler may change nothing of a pod but " + can,
	}
}

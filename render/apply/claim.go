// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func requestPath() []string { return []string{"spec", "resources", "requests", "storage"} }

// fitClaim changes the size that a claim asks for to one that the server takes,
// and says so. A claim never shrinks: a volume autoscaler, or an older commit, is
// no reason for a whole apply to stop. One that is not bound cannot grow yet.
func (s *step) fitClaim(live *unstructured.Unstructured) {
	if s.object.GetKind() != "PersistentVolumeClaim" {
		return
	}
	asked, okAsked := quantityAt(s.object, requestPath()...)
	has, okHas := quantityAt(live, requestPath()...)
	if !okAsked || !okHas || asked.Cmp(has) == 0 {
		return
	}
	phase, _, _ := unstructured.NestedString(live.Object, "status", "phase")
	var text string
	switch {
	case asked.Cmp(has) < 0:
		text = fmt.Sprintf("is %s and %s is rendered: claims do not shrink, it stays as it is", has.String(), asked.String())
	case phase != "Bound":
		text = fmt.Sprintf("is not bound yet, so it stays at %s; it becomes %s once a pod uses it: with --wait, or when applied again", has.String(), asked.String())
		s.grows = true
	default:
		return
	}
	s.note("%s", text)
	// It fails only for an object that is no map on the way, and it was just read.
	_ = unstructured.SetNestedField(s.object.Object, has.String(), requestPath()...)
}

func quantityAt(o *unstructured.Unstructured, path ...string) (resource.Quantity, bool) {
	text, found, err := unstructured.NestedString(o.Object, path...)
	if !found || err != nil {
		return resource.Quantity{}, false
	}
	q, err := resource.ParseQuantity(text)
	return q, err == nil
}

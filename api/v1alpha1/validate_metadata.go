// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxAnnotations is what all annotations of one object may have in bytes, keys
// and values together (apimachinery, TotalAnnotationSizeLimitB).
const maxAnnotations = 256 << 10

// metadata checks what is copied from the object to the output. The name has
// rules of its own.
func (v *violations) metadata(meta *metav1.ObjectMeta) {
	path := field.NewPath("metadata")
	if meta.Namespace != "" && len(validation.IsDNS1123Label(meta.Namespace)) > 0 {
		v.invalid(path.Child("namespace"), meta.Namespace, "must be lower-case letters, digits and '-', at most 63, with a letter or digit at both ends")
	}
	v.labels(path.Child("labels"), meta.Labels)
	v.annotations(path.Child("annotations"), meta.Annotations)
}

// labels reports labels that no object, node or pod can have.
func (v *violations) labels(path *field.Path, labels map[string]string) {
	for _, key := range sortedKeys(labels) {
		v.labelKey(path.Key(key), key)
		for _, why := range validation.IsValidLabelValue(labels[key]) {
			v.invalid(path.Key(key), labels[key], "%s", why)
		}
	}
}

// labelKey reports what cannot be the key of a label.
func (v *violations) labelKey(path *field.Path, key string) {
	for _, why := range validation.IsQualifiedName(key) {
		v.invalid(path, key, "%s", why)
	}
}

// annotations reports keys that no object can have, and more than one may hold.
func (v *violations) annotations(path *field.Path, annotations map[string]string) {
	size := 0
	for _, key := range sortedKeys(annotations) {
		for _, why := range validation.IsQualifiedName(strings.ToLower(key)) {
			v.invalid(path.Key(key), key, "%s", why)
		}
		size += len(key) + len(annotations[key])
	}
	if size > maxAnnotations {
		v.list = append(v.list, field.TooLong(path, "", maxAnnotations))
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/render/finding"
)

// configMapFits refuses the data of a ConfigMap that the API server would refuse;
// path is the field that it comes from.
func configMapFits(path *field.Path, data map[string]string) error {
	return fits(path, "a ConfigMap", data, corev1.MaxSecretSize)
}

// annotationsFit is the same for all annotations of an object.
func annotationsFit(path *field.Path, annotations map[string]string) error {
	return fits(path, "the annotations of an object", annotations, validation.TotalAnnotationSizeLimitB)
}

// fits returns a *field.Error when keys and values are longer than most bytes.
func fits(path *field.Path, what string, data map[string]string, most int) error {
	size := bytesOf(data)
	if size <= most {
		return nil
	}
	return finding.WithCode(&field.Error{
		Type:   field.ErrorTypeTooLong,
		Field:  path.String(),
		Detail: fmt.Sprintf("leads to %d bytes, and %s may have %d", size, what, most),
	}, finding.TooLong)
}

func bytesOf(data map[string]string) int {
	size := 0
	for key, value := range data {
		size += len(key) + len(value)
	}
	return size
}

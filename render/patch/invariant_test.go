// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func holds(t *testing.T, all []*unstructured.Unstructured, before, after *unstructured.Unstructured) {
}

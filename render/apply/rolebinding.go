// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// roleTries times rolePause is how long a RoleBinding is tried whose Role has just
// been written: the server looks for it in a cache.
const (
	roleTries = 20
	rolePause = 100 * time.Millisecond
)

// lacksRole reports whether a RoleBinding was refused because its Role is not there.
// The server asks the Role what it allows, unless the user may bind any: a dry run
// before the Role is made says nothing about the RoleBinding.
func lacksRole(binding *unstructured.Unstructured, err error) bool {
	if binding.GetKind() != "RoleBinding" || !apierrors.IsNotFound(err) {
		return false
	}
	status, _ := answer(err)
	return status.Details != nil && status.Details.Kind != "namespaces" && status.Details.Name == roleOf(binding)
}

func roleOf(binding *unstructured.Unstructured) string {
	return nested(binding.Object, "roleRef", "name")
}

// makesRole reports whether the Role of a RoleBinding is rendered with it.
func makesRole(c Cluster, binding *unstructured.Unstructured) bool {
	return slices.ContainsFunc(c.Objects, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == "Role" && o.GetName() == roleOf(binding)
	})
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"

	admission "k8s.io/api/admissionregistration/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// clusterPolicy denies deleting a ValkeyCluster that guards itself: with
// deletionPolicy Guard, and without one when Durable. Without the ValkeyCluster
// nothing of it would be guarded any more.
func clusterPolicy(o Options) Policy {
	return rule{
		called:    "cluster",
		resources: on(v1alpha1.Group, "*", []string{"valkeyclusters"}, admission.Delete),
		variables: []admission.Variable{{
			Name: "policy", Expression: fmt.Sprintf(`oldObject.?spec.?deletionPolicy.orValue(oldObject.?spec.?profile.orValue("") == %s ? %s : %s)`,
				quote(string(v1alpha1.ProfileDurable)), quote(string(v1alpha1.DeletionGuard)), quote(string(v1alpha1.DeletionAllow))),
		}},
		denials: []denial{{
			unless: either(leaving, "has(oldObject.metadata.deletionTimestamp)", fmt.Sprintf("variables.policy == %s", quote(string(v1alpha1.DeletionAllow)))),
			message: text("ValkeyCluster/`request.namespace`/`oldObject.metadata.name` is guarded: set spec.deletionPolicy to Allow first, then delete: " +
				allow("oldObject.metadata.name")),
			fallback: "the ValkeyCluster is guarded: set spec.deletionPolicy to Allow first, then delete",
		}},
	}.build(o)
}

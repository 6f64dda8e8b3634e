// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	admission "k8s.io/api/admissionregistration/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// definitionPolicy denies deleting the definition of ValkeyClusters while the guard
// is there. It would delete every ValkeyCluster without asking any policy, and with
// them what guards the data; and after the next start of an API server no shard could
// be changed or deleted at all, nor its namespace.
func definitionPolicy(o Options) Policy {
	const definition = "valkeyclusters." + v1alpha1.Group
	return rule{
		called:    "definition",
		resources: on("apiextensions.k8s.io", "*", []string{"customresourcedefinitions"}, admission.Delete),
		matches:   []admission.MatchCondition{{Name: "is-ours", Expression: "oldObject.metadata.name == " + quote(definition)}},
		denials: []denial{{
			unless: "false",
			message: text("CustomResourceDefinition/" + definition + " takes every ValkeyCluster with it, and what guards their data: take the guard away first, with Helm or: " +
				"kubectl delete validatingadmissionpolicies,validatingadmissionpolicybindings -l " + name.LabelPartOf + "=" + name.PartOf + "," + name.LabelComponent + "=" + Component),
			fallback: "the definition takes every ValkeyCluster with it: take the guard away first",
		}},
	}.build(o)
}

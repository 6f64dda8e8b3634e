// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"

	admission "k8s.io/api/admissionregistration/v1"

	"github.com/valkey-render/valkey-render/render/name"
)

// claimPolicy denies making a claim that was not rendered. A StatefulSet controller
// that is faster than the applier would make it from its template, of the size that
// the cluster began with; denied, it tries again until the rendered one is there.
// And it denies taking the label off that the data policy is narrowed by.
func claimPolicy(o Options) Policy {
	const subject = "PersistentVolumeClaim/`request.namespace`/`object.metadata.?name.orValue(\"\")`"
	cluster := quote(name.LabelCluster)
	return rule{
		called:    "claim",
		resources: on("", "v1", []string{"persistentvolumeclaims"}, admission.Create, admission.Update),
		with:      name.LabelCluster,
		denials: []denial{
			{
				unless: either(`request.operation != "CREATE"`, fmt.Sprintf("%s in object.metadata.?labels.orValue({})", quote(name.LabelManagedBy))),
				message: text(subject + " is not the rendered one, which has the right size and the label " + name.LabelManagedBy +
					": apply that, from the file persistentvolumeclaim-`object.metadata.?name.orValue(\"\")`.yaml or with: " +
					"valkey-render apply -f SPEC; the StatefulSet then takes it by itself"),
				fallback: "the claim is not the rendered one: apply that first",
			},
			{
				unless: either(`request.operation != "UPDATE"`, leaving, "has(object.metadata.deletionTimestamp)",
					fmt.Sprintf("!(%s in oldObject.metadata.?labels.orValue({}))", cluster),
					fmt.Sprintf("%s in object.metadata.?labels.orValue({})", cluster)),
				message: text(subject + " has to keep the label " + name.LabelCluster + ", by which its data is guarded: change the other labels only; " +
					"when its data may go, delete it: kubectl -n `request.namespace` delete persistentvolumeclaim `object.metadata.?name.orValue(\"\")`"),
				fallback: "the claim has to keep the label " + name.LabelCluster,
			},
		},
	}.build(o)
}

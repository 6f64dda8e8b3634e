// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"

	admission "k8s.io/api/admissionregistration/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// dataPolicy denies deleting a claim with data of a shard that is not drained. Whose
// a claim is, its name says, which cannot be edited. The claim of a replica that the
// spec no longer asks for may go once the cluster is Ready without it: then the
// others have all there is.
func dataPolicy(o Options) Policy {
	const cluster = "params.metadata.name"
	const called = "oldObject.metadata.name"
	prefix := fmt.Sprintf("(%s + %s + %s)", quote(name.DataClaim+"-"), cluster, quote("-"))
	pod := fmt.Sprintf("%s.substring(size(%s))", called, prefix)
	return rule{
		called:    "data",
		resources: on("", "v1", []string{"persistentvolumeclaims"}, admission.Delete),
		with:      name.LabelCluster,
		clusters:  true,
		matches: []admission.MatchCondition{
			{Name: "of-this-cluster", Expression: fmt.Sprintf("%s.startsWith(%s) &&\n%s.matches(%s)", called, prefix, pod, quote("^[0-9]{1,9}-[0-9]{1,9}$"))},
		},
		variables: []admission.Variable{
			{Name: "pod", Expression: pod + `.split("-")`},
			{Name: "shard", Expression: "variables.pod[0]"},
			{Name: "ready", Expression: fmt.Sprintf(`params.?status.?conditions.orValue([]).exists(c,
c.type == %s && c.status == "True" && c.?observedGeneration.orValue(0) == params.metadata.generation)`, quote(v1alpha1.ConditionReady))},
			{Name: "beyond", Expression: fmt.Sprintf("variables.ready && int(variables.pod[1]) >= (%s)", podsPerShard())},
		},
		denials: []denial{{
			unless: either(leaving, "has(oldObject.metadata.deletionTimestamp)", going, allowed, drained, "variables.beyond"),
			message: text("PersistentVolumeClaim/`request.namespace`/`oldObject.metadata.name` has data of shard `variables.shard` of ValkeyCluster/`request.namespace`/`" + cluster + "`: " +
				"it may go when status.drainedShards lists the shard, or when the cluster is Ready with fewer pods in a shard; " +
				"to give the data of the cluster up: " + allow(cluster)),
			fallback: "the claim has data of a shard that is not drained; to give the data of the cluster up, set spec.deletionPolicy of its ValkeyCluster to Allow",
		}},
	}.build(o)
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"

	admission "k8s.io/api/admissionregistration/v1"

	"github.com/valkey-render/valkey-render/render/name"
)

// Rights are given by kind and namespace. What follows limits those of the reconciler to
// what is of a cluster, so that they are not worth more to who gets hold of its token.

// byTheReconciler matches requests of its service account.
func byTheReconciler(o Options) []admission.MatchCondition {
	return []admission.MatchCondition{{Name: "is-the-reconciler", Expression: "request.userInfo.username ==\n" + quote(o.Reconciler)}}
}

// ownPolicy limits what the reconciler may write and delete to objects of a cluster:
// Secrets, StatefulSets and Jobs.
func ownPolicy(o Options) Policy {
	cluster := quote(name.LabelCluster)
	resources := on("", "v1", []string{"secrets"}, admission.Update)
	resources = append(resources, on("apps", "v1", []string{"statefulsets"}, admission.Delete)...)
	resources = append(resources, on("batch", "v1", []string{"jobs"}, admission.Delete)...)
	return rule{
		called:    "own",
		resources: resources,
		matches:   byTheReconciler(o),
		variables: []admission.Variable{{Name: "before", Expression: "oldObject.metadata.?labels.orValue({})"}},
		denials: []denial{{
			unless: fmt.Sprintf("%[1]s in variables.before && (request.operation == \"DELETE\" ||\n"+
				"object.metadata.?labels.orValue({})[?%[1]s] == optional.of(variables.before[%[1]s]))", cluster),
			message: text("`request.kind.kind`/`request.namespace`/`oldObject.metadata.name`: the reconciler may not change or delete what belongs to no cluster, " +
				"nor take it from one: label " + name.LabelCluster + " says whose it is"),
			fallback: "the reconciler may not change or delete what belongs to no cluster",
		}},
	}.build(o)
}

// jobPolicy limits the pods that the reconciler may start by Jobs: none with the rights of
// an account, except in its own namespace, where Jobs that apply run, and none that reaches
// the node.
func jobPolicy(o Options) Policy {
	return rule{
		called:    "job",
		resources: on("batch", "v1", []string{"jobs"}, admission.Create),
		matches:   byTheReconciler(o),
		variables: []admission.Variable{
			{Name: "spec", Expression: "object.spec.template.spec"},
			{Name: "volumes", Expression: "variables.spec.?volumes.orValue([])"},
			{Name: "containers", Expression: "variables.spec.containers + variables.spec.?initContainers.orValue([])"},
			{Name: "own", Expression: `request.userInfo.username.startsWith("system:serviceaccount:" + request.namespace + ":")`},
		},
		denials: []denial{
			jobDenial("one that belongs to no cluster", quote(name.LabelCluster)+" in object.metadata.?labels.orValue({})"),
			jobDenial("one with the token of an account", `variables.own ||
(variables.spec.?automountServiceAccountToken.orValue(true) == false &&
variables.volumes.all(v, v.?projected.?sources.orValue([]).all(s, !has(s.serviceAccountToken))))`),
			jobDenial("one that reaches the node", `!variables.spec.?hostNetwork.orValue(false) && !variables.spec.?hostPID.orValue(false) &&
!variables.spec.?hostIPC.orValue(false) && variables.volumes.all(v, !has(v.hostPath)) &&
variables.containers.all(c, !c.?securityContext.?privileged.orValue(false) &&
size(c.?securityContext.?capabilities.?add.orValue([])) == 0)`),
		},
	}.build(o)
}

func jobDenial(what, unless string) denial {
	const may = "the reconciler may start Jobs of a cluster that reach its servers, and tried "
	return denial{
		unless:   unless,
		message:  text("Job/`request.namespace`/`object.metadata.name`: " + may + what),
		fallback: may + what,
	}
}

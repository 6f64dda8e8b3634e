// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"

	admission "k8s.io/api/admissionregistration/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// shardPolicy denies taking the pods of a shard that still owns data away: deleting
// its StatefulSet, and scaling it to zero.
//
// A rendered hibernation says so on the StatefulSet too, since appliers disagree on
// which of the two comes first: Argo CD and Helm write custom resources last, and
// would never get to the ValkeyCluster that allows it.
func shardPolicy(o Options) Policy {
	const selector = "oldObject.spec.selector.matchLabels"
	return rule{
		called:    "shard",
		resources: on("apps", "v1", []string{"statefulsets"}, admission.Delete, admission.Update),
		with:      name.LabelShard,
		clusters:  true,
		matches: []admission.MatchCondition{
			{Name: "is-a-shard", Expression: fmt.Sprintf("%s in oldObject.spec.selector.?matchLabels.orValue({})", quote(name.LabelShard))},
			{Name: "takes-all-pods", Expression: either(removed, emptied)},
			{Name: "of-this-cluster", Expression: fmt.Sprintf(`%s[?%s] == optional.of(params.metadata.name)`, selector, quote(name.LabelCluster))},
		},
		variables: []admission.Variable{
			{Name: "shard", Expression: fmt.Sprintf("%s[%s]", selector, quote(name.LabelShard))},
			{Name: "hibernates", Expression: fmt.Sprintf(`request.operation == "UPDATE" &&
(params.?spec.?hibernate.orValue(false) || object.metadata.?annotations[?%s].orValue("") == "true")`, quote(v1alpha1.AnnotationHibernate))},
		},
		denials: []denial{shardDenial()},
	}.build(o)
}

// scalePolicy denies the same through the scale subresource, whose objects have no
// labels: it looks at every StatefulSet that is scaled, and so never fails one that
// is not ours.
func scalePolicy(o Options) Policy {
	// The selector of a Scale is text: a=b,c=d.
	const selector = `oldObject.?status.?selector.orValue("").split(",")`
	shard := name.LabelShard + "="
	return rule{
		called:    "scale",
		resources: on("apps", "v1", []string{"statefulsets/scale"}, admission.Update),
		clusters:  true,
		failure:   admission.Ignore,
		matches: []admission.MatchCondition{
			{Name: "is-a-shard", Expression: fmt.Sprintf("%s.exists(s, s.startsWith(%s))", selector, quote(shard))},
			{Name: "takes-all-pods", Expression: emptied},
			{Name: "of-this-cluster", Expression: fmt.Sprintf("(%s + params.metadata.name) in %s", quote(name.LabelCluster+"="), selector)},
		},
		variables: []admission.Variable{
			{Name: "shard", Expression: fmt.Sprintf("%s.filter(s, s.startsWith(%s))[0].substring(%d)", selector, quote(shard), len(shard))},
			{Name: "hibernates", Expression: "params.?spec.?hibernate.orValue(false)"},
		},
		denials: []denial{shardDenial()},
	}.build(o)
}

func shardDenial() denial {
	const cluster = "params.metadata.name"
	return denial{
		unless: either(leaving, going, allowed, drained, "variables.hibernates"),
		message: text("StatefulSet/`request.namespace`/`oldObject.metadata.name` has the data of shard `variables.shard` of ValkeyCluster/`request.namespace`/`" + cluster + "`, which is not drained: `" +
			`(request.operation == "UPDATE" ? ` + text("to stop the pods and keep the data: "+patch(cluster, `{"spec":{"hibernate":true}}`)+"; ") + ` : ` +
			`params.?spec.?topology.orValue("") == "Cluster" ? "lower spec.shards and wait until status.drainedShards lists the shard; " : "")` +
			"`to give the data of the cluster up: " + allow(cluster)),
		fallback: "the shard is not drained; to give the data of the cluster up, set spec.deletionPolicy of its ValkeyCluster to Allow",
	}
}

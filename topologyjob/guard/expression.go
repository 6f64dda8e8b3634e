// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// Parts of expressions. In all of them params is a ValkeyCluster of the namespace.
const (
	// leaving: the namespace is being deleted, with all that is in it. It works in
	// validations only: among matchConditions the namespace is not known.
	leaving = "has(namespaceObject.metadata.deletionTimestamp)"
	// going: the ValkeyCluster is being deleted. Its own policy has let it.
	going = "has(params.metadata.deletionTimestamp)"
	// allowed: whoever wrote the spec gives the data up.
	allowed = `params.?spec.?deletionPolicy.orValue("") == "Allow"`
	// drained: the shard of the variable owns nothing. Only who may update the status
	// can say so.
	drained = "params.?status.?drainedShards.orValue([]).exists(s, string(s) == variables.shard)"
	// removed: the request deletes an object and what it owns. To orphan the pods
	// removes none, and is how immutable fields are changed.
	removed = `request.operation == "DELETE" && request.?options.?propagationPolicy.orValue("") != "Orphan"`
	// emptied: the request takes the last pod away. A Scale leaves replicas out when
	// it is 0; a StatefulSet and an old Scale with pods always have it.
	emptied = `request.operation == "UPDATE" && oldObject.spec.?replicas.orValue(0) > 0 && object.spec.?replicas.orValue(0) == 0`
)

// either joins conditions of which one is enough, one a line.
func either(conditions ...string) string { return strings.Join(conditions, " ||\n") }

// quote writes a string of an expression.
func quote(text string) string { return strconv.Quote(text) }

// text is an expression that joins its parts: strings between back quotes are
// expressions, the rest is literal. "Pod/`request.namespace`" is "Pod/" + request.namespace.
func text(template string) string {
	var parts []string
	for i, part := range strings.Split(template, "`") {
		switch {
		case part == "":
		case i%2 == 0:
			parts = append(parts, quote(part))
		default:
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " +\n")
}

// allow is the command that gives the data of a cluster up, cluster being an
// expression for its name.
func allow(cluster string) string {
	return patch(cluster, `{"spec":{"deletionPolicy":"Allow"}}`)
}

func patch(cluster, with string) string {
	return fmt.Sprintf("kubectl -n `request.namespace` patch valkeycluster `%s` --type merge -p '%s'", cluster, with)
}

// podsPerShard is an expression for the pods that a shard is to have. The numbers
// for what a spec leaves out are the API's.
func podsPerShard() string {
	count := func(t v1alpha1.Topology) string {
		c := &v1alpha1.ValkeyCluster{Spec: v1alpha1.ValkeyClusterSpec{Topology: t}}
		return fmt.Sprint(c.PodsPerShard())
	}
	replicas := &v1alpha1.ValkeyCluster{}
	return fmt.Sprintf(`params.?spec.?topology.orValue(%s) == "Cluster" ?
1 + params.?spec.?replicasPerShard.orValue(%d) :
params.?spec.?replicas.orValue(params.spec.topology == "Standalone" ? %s : %s)`,
		quote(string(replicas.EffectiveTopology())), replicas.ReplicaCount(),
		count(v1alpha1.TopologyStandalone), count(v1alpha1.TopologyReplication))
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"

	admission "k8s.io/api/admissionregistration/v1"

	"github.com/valkey-render/valkey-render/render/name"
)

// labelPolicy denies taking the pods of a shard away whose StatefulSet has lost the
// label that the shard policy is narrowed by. It asks no ValkeyCluster, so nothing
// can keep the server from evaluating it.
func labelPolicy(o Options) Policy {
	const selector = "oldObject.spec.selector.matchLabels"
	label := quote(name.LabelShard)
	return rule{
		called:    "label",
		resources: on("apps", "v1", []string{"statefulsets"}, admission.Delete, admission.Update),
		matches: []admission.MatchCondition{
			{Name: "is-a-shard", Expression: fmt.Sprintf("%s in oldObject.spec.selector.?matchLabels.orValue({})", label)},
			{Name: "has-lost-its-label", Expression: fmt.Sprintf("!(%s in oldObject.metadata.?labels.orValue({}))", label)},
			{Name: "takes-all-pods", Expression: either(removed, emptied)},
		},
		denials: []denial{{
			unless: leaving,
			message: text(fmt.Sprintf("StatefulSet/`request.namespace`/`oldObject.metadata.name` is a shard by its selector and has lost the label that its guard looks for: "+
				"put it back, and ask again: kubectl -n `request.namespace` label statefulset `oldObject.metadata.name` %s=`%s[%s]`", name.LabelShard, selector, label)),
			fallback: "the StatefulSet has lost the label " + name.LabelShard + ": put it back, and ask again",
		}},
	}.build(o)
}

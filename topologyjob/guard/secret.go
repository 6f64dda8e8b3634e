// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"

	"github.com/valkey-render/valkey-render/render/name"
)

// secretPolicy denies deleting the Secrets that the servers of a cluster were started
// with: without the passwords in them nobody gets in to set new ones. Whose a Secret
// is, its name says; it need not carry labels, since people make them too. So the
// policy looks at every Secret that is deleted, and never fails one that is not ours.
func secretPolicy(o Options) Policy {
	const called = "oldObject.metadata.name"
	const cluster = "params.metadata.name"
	endings := []string{name.SystemSecret(""), name.ACLSecret(""), name.AuthSecret("")}
	for i, e := range endings {
		endings[i] = quote(e)
	}
	return rule{
		called:    "secret",
		resources: on("", "v1", []string{"secrets"}, admission.Delete),
		clusters:  true,
		failure:   admission.Ignore,
		matches: []admission.MatchCondition{
			{Name: "may-be-ours", Expression: fmt.Sprintf("[%s].exists(e, %s.endsWith(e))", strings.Join(endings, ", "), called)},
			// A password of one's own leaves the default Secret without a use.
			{Name: "of-this-cluster", Expression: fmt.Sprintf("%[1]s in [%[2]s + %[3]s, %[2]s + %[4]s] ||\n(%[1]s == %[2]s + %[5]s && %[1]s == params.?spec.?auth.?existingSecret.?name.orValue(%[2]s + %[5]s))",
				called, cluster, endings[0], endings[1], endings[2])},
		},
		denials: []denial{{
			unless: either(leaving, "has(oldObject.metadata.deletionTimestamp)", going, allowed),
			message: text("Secret/`request.namespace`/`" + called + "` has what the running servers of ValkeyCluster/`request.namespace`/`" + cluster + "` were started with, and nobody gets in without it: " +
				"delete the ValkeyCluster first, or give the data of the cluster up: " + allow(cluster)),
			fallback: "the running servers of a ValkeyCluster were started with this Secret: delete the ValkeyCluster first",
		}},
	}.build(o)
}

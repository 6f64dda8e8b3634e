// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler_test

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/reconciler"
)

func rights() []rbacv1.PolicyRule {
	return slices.Concat(reconciler.Rights(), reconciler.OwnRights(name.ReconcilerLease("")), reconciler.MetricsRights(), reconciler.GuardRights())
}

// TestNothingElseIsWritten: the reconciler makes and changes none of the kinds that are
// rendered, reads Secrets by name only, and asks for nothing by a wildcard.
func TestNothingElseIsWritten(t *testing.T) {
	may := map[string]string{
		"statefulsets": "delete", "pods": "patch delete", "pods/eviction": "create", "jobs": "create delete",
		"secrets": "create update", "events": "create patch", "valkeynodes": "create delete", "leases": "create update",
		"valkeyclusters/status": "patch", "valkeyacls/status": "patch", "valkeynodes/status": "patch",
		"tokenreviews": "create", "subjectaccessreviews": "create",
	}
	for _, r := range rights() {
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				reads := slices.Contains([]string{"get", "list", "watch"}, verb)
				if verb == "*" || resource == "*" || resource == "secrets" && verb != "get" && reads ||
					!reads && !slices.Contains(strings.Fields(may[resource]), verb) {
					t.Errorf("may %s %s", verb, resource)
				}
			}
		}
	}
}

func TestEachRightIsGivenOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rights() {
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				key := strings.Join([]string{verb, r.APIGroups[0], resource, strings.Join(r.ResourceNames, ",")}, " ")
				if seen[key] {
					t.Errorf("%s is given twice", key)
				}
				seen[key] = true
			}
		}
	}
}

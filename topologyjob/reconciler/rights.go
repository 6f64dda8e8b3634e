// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// Rights are what the reconciler may do in the namespaces that it watches.
func Rights() []rbacv1.PolicyRule {
	rule := func(group string, resources []string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
	}
	// What is only read is read from a cache, which lists and watches.
	watch := []string{"list", "watch"}
	return []rbacv1.PolicyRule{
		rule(v1alpha1.Group, []string{"valkeyclusters"}, "get", "list", "watch"),
		rule(v1alpha1.Group, []string{"valkeyacls"}, watch...),
		rule(v1alpha1.Group, []string{"valkeyclusters/status", "valkeyacls/status", "valkeynodes/status"}, "patch"),
		rule(v1alpha1.Group, []string{"valkeynodes"}, "get", "list", "watch", "create", "delete"),
		rule("apps", []string{"statefulsets"}, "get", "list", "watch", "delete"),
		rule("", []string{"services", "configmaps", "persistentvolumeclaims"}, watch...),
		rule("policy", []string{"poddisruptionbudgets"}, watch...),
		rule("", []string{"pods"}, "list", "watch", "patch"),
		rule("", []string{"pods/eviction"}, "create"),
		rule("batch", []string{"jobs"}, "get", "list", "watch", "create", "delete"),
		// Secrets are read by name, and never listed.
		rule("", []string{"secrets"}, "get", "create", "update"),
		// Those of StatefulSets that cannot make their pods are listed, past the cache.
		rule("events.k8s.io", []string{"events"}, "list", "create", "patch"),
	}
}

// OwnRights are what it may do in the namespace that it runs in, with a Lease of this name.
func OwnRights(lease string) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		// A request to create has no name that could be limited.
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create"}},
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{lease}, Verbs: []string{"get", "update"}},
	}
}

// OwnJobRights are what it may do in the namespace that it runs in where that is not one of
// those that it watches: apply Jobs run there.
func OwnJobRights() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: []string{"get", "list", "watch", "create", "delete"}},
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "watch"}},
	}
}

// GuardRights are what it may do in the whole cluster when it looks after all namespaces, to
// see whether a guard is installed.
func GuardRights() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{{
		APIGroups: []string{"admissionregistration.k8s.io"}, Verbs: []string{"list"},
		Resources: []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings"},
	}}
}

// ApplyRights are what an apply Job may do in the namespaces of clusters: everything that
// is rendered, and reading the ValkeyCluster that it is done for. A patch that makes an object
// needs the right to create it; the inventory is updated; claims are kept.
func ApplyRights() []rbacv1.PolicyRule {
	rule := func(group string, resources []string, more ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: append([]string{"get", "create", "patch"}, more...)}
	}
	return []rbacv1.PolicyRule{
		{APIGroups: []string{v1alpha1.Group}, Resources: []string{"valkeyclusters"}, Verbs: []string{"get"}},
		rule("", []string{"configmaps"}, "update", "delete"),
		rule("", []string{"persistentvolumeclaims"}),
		rule("", []string{"services"}, "delete"),
		rule("apps", []string{"statefulsets"}, "delete"),
		rule("policy", []string{"poddisruptionbudgets"}, "delete"),
		rule("networking.k8s.io", []string{"networkpolicies"}, "delete"),
		rule("cert-manager.io", []string{"certificates"}, "delete"),
		rule("monitoring.coreos.com", []string{"podmonitors", "prometheusrules"}, "delete"),
	}
}

// MetricsRights are what it may do in the whole cluster, to know who asks for its metrics.
func MetricsRights() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
		{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"}},
	}
}

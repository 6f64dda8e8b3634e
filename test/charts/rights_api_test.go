// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/internal/apitest"
	"github.com/valkey-render/valkey-render/render/name"
	program "github.com/valkey-render/valkey-render/topologyjob/reconciler"
)

// list are rights one by one, sorted.
func list(rules ...rbacv1.PolicyRule) []string {
	var out []string
	for _, r := range rules {
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				for _, verb := range r.Verbs {
					out = append(out, strings.TrimSpace(strings.Join([]string{verb, resource, group, strings.Join(r.ResourceNames, ",")}, " ")))
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// may is what a service account may do in a namespace beyond what all may.
func (s *site) may(account, accountNamespace, namespace string) []string {
	s.Helper()
	all := s.allowed("nobody", accountNamespace, namespace)
	return slices.DeleteFunc(s.allowed(account, accountNamespace, namespace), func(right string) bool { return slices.Contains(all, right) })
}

// allowed is what the server says that a service account may do in a namespace.
func (s *site) allowed(account, accountNamespace, namespace string) []string {
	s.Helper()
	config := apitest.Config(s)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + accountNamespace + ":" + account,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + accountNamespace, "system:authenticated"},
	}
	c, err := client.New(config, client.Options{})
	s.must(err)
	review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
	s.must(c.Create(s.Context(), review))
	if review.Status.Incomplete {
		s.Fatal(review.Status.EvaluationError)
	}
	var rules []rbacv1.PolicyRule
	for _, r := range review.Status.ResourceRules {
		rules = append(rules, rbacv1.PolicyRule{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames})
	}
	return list(rules...)
}

// sees waits until the server's answer is what it should be: roles reach it by a watch.
func (s *site) sees(what string, want []string, got func() []string) {
	s.Helper()
	var last []string
	for range 100 {
		if last = got(); slices.Equal(want, last) {
			return
		}
	}
	s.Errorf("%s (-want +got)\n%s", what, cmp.Diff(want, last))
}

// TestAPIServerReconcilerMayWhatIsListed, where it watches and where it runs, and nothing
// else anywhere.
func TestAPIServerReconcilerMayWhatIsListed(t *testing.T) {
	s := newSite(t)
	home, shop, other := apitest.Namespace(t), apitest.Namespace(t), apitest.Namespace(t)
	watched, own, whole := program.Rights(), program.OwnRights(name.ReconcilerLease("")), slices.Concat(program.MetricsRights(), program.GuardRights())
	h := s.helm(reconciler, reconciler, home)
	h.must(h.install("guard: {enabled: false}"))
	s.sees("cluster scope, in any namespace", list(slices.Concat(watched, whole)...), func() []string { return s.may(reconciler, home, other) })
	s.sees("cluster scope, at home", list(slices.Concat(watched, own, whole)...), func() []string { return s.may(reconciler, home, home) })
	s.sees("apply Jobs in cluster scope", list(program.ApplyRights()...), func() []string { return s.may(reconciler+"-apply", home, other) })
	h.must(h.uninstall())
	s.sees("after the end", nil, func() []string { return s.may(reconciler, home, home) })

	h = s.helm(reconciler, "scoped", home)
	h.must(h.install("guard: {enabled: false}\ncrd: {enabled: false}\nrbac: {scope: namespace}\nwatchNamespaces: [" + shop + "]\nmetrics: {secure: false}"))
	const account = "scoped-valkey-reconciler"
	s.sees("namespace scope, in a watched one", list(watched...), func() []string { return s.may(account, home, shop) })
	s.sees("namespace scope, at home", list(slices.Concat(own, program.OwnJobRights())...), func() []string { return s.may(account, home, home) })
	s.sees("apply Jobs in a watched one", list(program.ApplyRights()...), func() []string { return s.may(account+"-apply", home, shop) })
	s.sees("apply Jobs at home", nil, func() []string { return s.may(account+"-apply", home, home) })
	s.sees("namespace scope, elsewhere", nil, func() []string { return s.may(account, home, other) })
	if got := h.args(account); !strings.Contains(got, "--namespaces="+shop) {
		t.Errorf("arguments %s", got)
	}
	roles := &rbacv1.ClusterRoleList{}
	s.must(s.client.List(s.Context(), roles, client.MatchingLabels{"app.kubernetes.io/instance": "scoped"}))
	if len(roles.Items) > 0 {
		t.Errorf("ClusterRole %s", roles.Items[0].Name)
	}
	h.must(h.uninstall())
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/reconciler"
)

// request is what the API server has recorded of one, as audit.k8s.io/v1 names it.
type request struct {
	Verb string `json:"verb"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	Object *struct {
		Group       string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	Annotations map[string]string `json:"annotations"`
}

// right is what it needed, as "verb group/resource".
func (r request) right() string {
	resource := r.Object.Resource
	if r.Object.Subresource != "" {
		resource += "/" + r.Object.Subresource
	}
	return r.Verb + " " + r.Object.Group + "/" + resource
}

// recorded are the requests of service accounts for objects, by the name of the account.
func recorded(t *testing.T, file string) map[string][]request {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	requests := map[string][]request{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v: %s", file, err, lines.Text())
		}
		if r.Object != nil {
			account := r.User.Username[strings.LastIndexByte(r.User.Username, ':')+1:]
			requests[account] = append(requests[account], r)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return requests
}

// given are the single rights of rules.
func given(rules []rbacv1.PolicyRule) map[string]bool {
	rights := map[string]bool{}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					rights[verb+" "+group+"/"+resource] = true
				}
			}
		}
	}
	return rights
}

// unseen are rights that these tests have no use for, by patterns, and what has.
func unseen() map[string]map[string]string {
	return map[string]map[string]string{
		reconcilerPod: {
			`^list `:                       "caches list where a server does not stream",
			`^get .*/valkeynodes$`:         "one that was made since the cache was read",
			`^patch .*/valkeyacls/status$`: "no ValkeyACL is in these tests",
		},
		reconcilerPod + "-apply": {
			`^delete `: "what is not rendered any more",
			`/(certificates|podmonitors|prometheusrules)$`: "kinds that this Kubernetes lacks",
		},
	}
}

// TestAuditOfRights reads what the API server has recorded of the tests before: nobody was
// refused anything, every right that was given was used, and no pod but those that have to
// speak to the API server did. It is run after all others. In a short run some rights have
// not been used yet.
func TestAuditOfRights(t *testing.T) {
	file := os.Getenv("AUDIT_LOG")
	if file == "" {
		t.Fatal("AUDIT_LOG names no file")
	}
	accounts := map[string][]rbacv1.PolicyRule{
		reconcilerPod:            slices.Concat(reconciler.Rights(), reconciler.OwnRights(name.ReconcilerLease(""))),
		reconcilerPod + "-apply": reconciler.ApplyRights(),
	}
	requests := recorded(t, file)
	for _, account := range slices.Sorted(maps.Keys(accounts)) {
		t.Run(account, func(t *testing.T) { audited(t, given(accounts[account]), requests[account], unseen()[account]) })
		delete(requests, account)
	}
	for account, asked := range requests {
		if !strings.HasSuffix(account, "-secrets") {
			t.Errorf("service account %s asked for %d objects, first for %s", account, len(asked), asked[0].right())
		}
	}
}

// audited compares the rights of a service account with its requests.
func audited(t *testing.T, granted map[string]bool, requests []request, unseen map[string]string) {
	t.Helper()
	left := maps.Clone(granted)
	for _, r := range requests {
		if r.Annotations["authorization.k8s.io/decision"] == "forbid" || !granted[r.right()] {
			t.Errorf("%s: %s is not among the rights", r.User.Username, r.right())
		}
		delete(left, r.right())
		if r.Verb == "patch" {
			// What a patch makes is asked for as a patch, and needs both.
			delete(left, strings.Replace(r.right(), "patch", "create", 1))
		}
	}
	if testing.Short() {
		return
	}
	for pattern := range unseen {
		maps.DeleteFunc(left, func(right string, _ bool) bool { return regexp.MustCompile(pattern).MatchString(right) })
	}
	for _, right := range slices.Sorted(maps.Keys(left)) {
		t.Errorf("%s was never asked for", right)
	}
}

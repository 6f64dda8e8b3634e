// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

func sampleCluster() *v1alpha1.ValkeyCluster {
	c := &v1alpha1.ValkeyCluster{}
	c.Name, c.Namespace = "c", "shop"
	c.Spec.Users = []v1alpha1.UserSpec{
		{Name: "app"},
		{Name: "batch", PasswordSecret: &v1alpha1.UserPasswordSecret{Name: "batch", Keys: []string{"now", "before"}}},
		{Name: "off", Enabled: new(bool)},
		{Name: "anyone", Nopass: true},
	}
	return c
}

func sampleACL(called, cluster string, users ...string) *v1alpha1.ValkeyACL {
	a := &v1alpha1.ValkeyACL{}
	a.Name, a.Namespace = called, "shop"
	a.Spec.ClusterRef.Name = cluster
	for _, u := range users {
		a.Spec.Users = append(a.Spec.Users, v1alpha1.UserSpec{Name: u})
	}
	return a
}

func sampleSecrets() Secrets {
	return Secrets{
		"c-auth":  {"password": []byte("d")},
		"c-users": {"app": []byte("a"), "more": []byte("m")},
		"batch":   {"now": []byte("n"), "before": []byte("#" + strings.Repeat("AB", 32))},
		"c-system": {
			"_exporter.current": []byte("e"), "_operator.current": []byte("o"), "_replication.current": []byte("r"), "_replication.next": []byte("r2"),
		},
	}
}

func TestResolveReadsEverySecret(t *testing.T) {
	c := sampleCluster()
	acls := []*v1alpha1.ValkeyACL{sampleACL("extra", "c", "more"), sampleACL("other", "d", "foreign")}
	in, err := Resolve(c, acls, sampleSecrets())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for user, passwords := range map[string][]string{
		"default": {"d"}, "app": {"a"}, "more": {"m"}, "batch": {"n", "#" + strings.Repeat("ab", 32)},
		"_exporter": {"e"}, "_operator": {"o"}, "_replication": {"r", "r2"},
	} {
		for _, password := range passwords {
			want[user] = append(want[user], hashOf(t, password))
		}
	}
	if diff := cmp.Diff(want, in.Hashes); diff != "" {
		t.Error(diff)
	}
	text, err := Text("9.1", in)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"user off off resetchannels\n", "user anyone on nopass resetchannels\n", "user more on #"} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in %s", line, text)
		}
	}
}

func TestNeedsNamesEverySecretKey(t *testing.T) {
	c := sampleCluster()
	needs := Needs(c, c.Spec.Users)
	want := []Ref{
		{"c-auth", "password"},
		{"c-system", "_exporter.current"},
		{"c-system", "_operator.current"},
		{"c-system", "_replication.current"},
		{"c-users", "app"},
		{"batch", "now"},
		{"batch", "before"},
	}
	if diff := cmp.Diff(want, needs); diff != "" {
		t.Error(diff)
	}
	c.Spec.Auth = &v1alpha1.AuthSpec{Enabled: new(bool)}
	if slices.Contains(Needs(c, nil), Ref{"c-auth", "password"}) {
		t.Error("an open cluster needs no password of the default user")
	}
	in, err := Resolve(c, nil, sampleSecrets())
	if err != nil || !in.Open {
		t.Errorf("open = %v, %v", in.Open, err)
	}
}

func TestResolveReportsEverythingMissing(t *testing.T) {
	secrets := sampleSecrets()
	delete(secrets, "batch")
	delete(secrets["c-users"], "app")
	secrets["c-auth"]["password"] = nil
	acls := []*v1alpha1.ValkeyACL{sampleACL("first", "c", "app", "twice"), sampleACL("second", "c", "twice")}
	in, err := Resolve(sampleCluster(), acls, secrets)
	if err == nil || in.Hashes != nil {
		t.Fatalf("%v, %v", in, err)
	}
	for _, want := range []string{
		"user default: secret c-auth key password: empty password",
		"user app: secret c-users has no key app",
		"user batch: secret batch is missing",
		`user "app": in spec.users of ValkeyCluster c and in ValkeyACL first`,
		`user "twice": in ValkeyACL first and in ValkeyACL second`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
}

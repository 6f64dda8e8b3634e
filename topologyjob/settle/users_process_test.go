// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package settle

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/client"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
)

// secrets are the passwords of users, several of which may be valid.
type secrets map[string][]string

// input is what ACL files are made of: every system user has a password of its own,
// unless some are given.
func input(t *testing.T, topology v1alpha1.Topology, passwords secrets, users ...v1alpha1.UserSpec) acl.Input {
	t.Helper()
	in := acl.Input{Topology: topology, Users: users, Hashes: map[string][]string{}}
	for _, user := range append(acl.SystemUsers(topology), acl.DefaultUser) {
		if len(passwords[user]) == 0 {
			in.Hashes[user] = []string{hash(t, user+"-password")}
		}
	}
	for user, list := range passwords {
		for _, password := range list {
			in.Hashes[user] = append(in.Hashes[user], hash(t, password))
		}
	}
	return in
}

func hash(t *testing.T, password string) string {
	t.Helper()
	h, err := acl.Hash([]byte(password))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// text is an ACL file.
func text(t *testing.T, version string, in acl.Input, sentinel bool) string {
	t.Helper()
	write := acl.Text
	if sentinel {
		write = acl.SentinelText
	}
	s, err := write(version, in)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wantedOf are the users of a version's files.
func wantedOf(t *testing.T, version string, in acl.Input, passwords ...string) Users {
	t.Helper()
	read := func(sentinel bool) map[string][]acl.User {
		users, err := setting.ParseUsers(text(t, version, in, sentinel))
		if err != nil {
			t.Fatal(err)
		}
		return map[string][]acl.User{version: users}
	}
	return Users{Data: read(false), Sentinel: read(true), Login: func() (node.Login, error) {
		return node.Login{User: name.UserOperator, Passwords: passwords}, nil
	}}
}

// operator dials as a Job does.
func operator(passwords ...string) node.Dialer {
	return client.Dialer{Username: name.UserOperator, Passwords: func() ([]string, error) { return passwords, nil }, Timeout: 10e9}
}

const operatorPassword = name.UserOperator + "-password"

// withACL starts servers with an ACL file, and replicas that log in by it.
func withACL(t *testing.T, version string, count int, in acl.Input) *rig {
	t.Helper()
	r := start(t, version, count, true, servertest.Options{
		Files: map[string]string{"users.acl": text(t, version, in, false)},
		Args:  []string{"--aclfile", "users.acl", "--primaryuser", name.UserReplication, "--primaryauth", name.UserReplication + "-password", "--repl-diskless-sync-delay", "0"},
	})
	r.dialer = operator(operatorPassword)
	return r
}

// addSentinel starts a sentinel of the first server.
func (r *rig) addSentinel(t *testing.T, version string, in acl.Input) {
	t.Helper()
	conf := fmt.Sprintf("sentinel monitor mymaster 127.0.0.1 %d 1\nsentinel auth-user mymaster _sentinel\nsentinel auth-pass mymaster _sentinel-password\n"+
		"sentinel sentinel-user _sentinel\nsentinel sentinel-pass _sentinel-password\nsentinel down-after-milliseconds mymaster 60000\naclfile users.acl\n", r.servers[0].Port)
	r.add(servertest.Start(t, version, servertest.Options{
		TCP: true, Sentinel: true, Conf: conf, Files: map[string]string{"users.acl": text(t, version, in, true)},
	}), true)
}

// as logs in at a server as a client does.
func as(t *testing.T, s *servertest.Server, user, password string) (*servertest.Client, error) {
	t.Helper()
	c, err := s.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_, err = c.Do("AUTH", user, password)
	return c, err
}

// listed is ACL LIST as the operator.
func listed(t *testing.T, s *servertest.Server, password string) []acl.User {
	t.Helper()
	c, err := as(t, s, name.UserOperator, password)
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.Do("ACL", "LIST")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, line := range list.([]any) {
		fmt.Fprintln(&b, line)
	}
	users, err := setting.ParseUsers(b.String())
	if err != nil {
		t.Fatal(err)
	}
	return users
}

func appUser(name string, allow ...string) v1alpha1.UserSpec {
	return v1alpha1.UserSpec{
		Name: name, Commands: &v1alpha1.UserCommands{Allow: allow}, Keys: &v1alpha1.UserKeys{ReadWrite: []string{"app:*"}, ReadOnly: []string{"x:*"}},
		Permissions: "(~tmp:* +get)",
	}
}

// TestProcessUsers changes, adds and deletes users on a primary, a replica and a
// sentinel, and finds nothing to do a second time.
func TestProcessUsers(t *testing.T) {
	t.Parallel()
	everyVersion(t, func(t *testing.T, version string) {
		const topology = v1alpha1.TopologySentinel
		before := input(t, topology, secrets{"app": {"app-password"}, "old": {"x"}}, appUser("app", "get"), appUser("old", "get"))
		after := input(t, topology, secrets{"app": {"app-password", "more"}, "new": {"y"}, name.UserOperator: {"operator-next"}},
			appUser("app", "get", "set"), appUser("new", "@read"))
		r := withACL(t, version, 2, before)
		r.addSentinel(t, version, before)
		wanted := wantedOf(t, version, after, operatorPassword, "operator-next")

		dry := r.options(t, r.dialer)
		dry.DryRun = true
		want(t, ACL(within(t), dry, wanted), outcome.Converged, "", "would: ACL SETUSER _operator, app, new; ACL DELUSER old on c-0-0")
		r.dialer = operator(operatorPassword, "operator-next")
		want(t, ACL(within(t), r.options(t, r.dialer), wanted), outcome.Converged, "", "3 of 3 pods changed")
		want(t, ACL(within(t), r.options(t, r.dialer), wanted), outcome.Converged, "", "nothing to do")
		for i, s := range r.servers {
			if c := setting.UserChanges(map[bool]map[string][]acl.User{false: wanted.Data, true: wanted.Sentinel}[i == 2][version], listed(t, s, "operator-next"), nil); !c.Empty() {
				t.Errorf("server %d: %+v", i, c)
			}
			if _, err := as(t, s, name.UserOperator, operatorPassword); err == nil {
				t.Errorf("server %d takes the old password", i)
			}
		}
		for _, password := range []string{"app-password", "more"} {
			c, err := as(t, r.servers[0], "app", password)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Do("SET", "app:1", "v"); err != nil {
				t.Error(err)
			}
		}
		if said := r.said.String(); strings.Contains(said, "-password") || strings.Contains(said, "#") {
			t.Errorf("narration tells a secret: %s", said)
		}
	})
}

// TestProcessARejectedRuleChangesNoUser: the server that refused it, a replica, has the
// users that it had, and no other was asked.
func TestProcessARejectedRuleChangesNoUser(t *testing.T) {
	t.Parallel()
	everyVersion(t, func(t *testing.T, version string) {
		before := input(t, v1alpha1.TopologyReplication, secrets{"app": {"p"}}, appUser("app", "get"))
		r := withACL(t, version, 2, before)
		wanted := wantedOf(t, version, input(t, v1alpha1.TopologyReplication, secrets{"app": {"p", "q"}, "new": {"n"}}, appUser("app", "get", "set"), appUser("new", "get")), operatorPassword)
		users := wanted.Data[version]
		users = append(users, acl.User{Name: "zoo", Rules: []string{"on", "#" + hash(t, "z"), "+no-such-command"}})
		wanted.Data[version] = users
		report := ACL(within(t), r.options(t, r.dialer), wanted)
		want(t, report, outcome.Blocked, ACLRejected, "c-0-1: ACL SETUSER zoo refused", "no-such-command")
		// A hash that is none, which the server repeats.
		users[len(users)-1].Rules[1] = "#" + strings.Repeat("z", 64)
		report = ACL(within(t), r.options(t, r.dialer), wanted)
		want(t, report, outcome.Blocked, ACLRejected)
		if strings.Contains(report.Message, "zzz") {
			t.Errorf("the message repeats what may be secret: %s", report.Message)
		}
		had, err := setting.ParseUsers(text(t, version, before, false))
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range r.servers {
			if c := setting.UserChanges(had, listed(t, s, operatorPassword), nil); !c.Empty() {
				t.Errorf("server %d: %+v", i, c)
			}
		}
	})
}

// TestProcessNobodyLocksHimselfOut.
func TestProcessNobodyLocksHimselfOut(t *testing.T) {
	t.Parallel()
	everyVersion(t, func(t *testing.T, version string) {
		before := input(t, v1alpha1.TopologyReplication, nil)
		r := withACL(t, version, 2, before)
		wanted := wantedOf(t, version, input(t, v1alpha1.TopologyReplication, secrets{name.UserOperator: {"unknown"}, "app": {"p"}}, appUser("app", "get")), operatorPassword)
		want(t, ACL(within(t), r.options(t, r.dialer), wanted), outcome.Blocked, ACLWouldLockOut, "would not take any of the passwords")

		wanted.Data[version] = slices.DeleteFunc(slices.Clone(wanted.Data[version]), func(u acl.User) bool { return u.Name == name.UserOperator })
		want(t, ACL(within(t), r.options(t, r.dialer), wanted), outcome.Blocked, ACLWouldLockOut, "without _operator")

		wanted = wantedOf(t, version, input(t, v1alpha1.TopologyReplication, secrets{"app": {"p"}}, appUser("app", "get")), operatorPassword)
		for i, u := range wanted.Data[version] {
			if u.Name == name.UserOperator {
				wanted.Data[version][i].Rules = append(slices.Clone(u.Rules), "-acl|setuser")
			}
		}
		want(t, ACL(within(t), r.options(t, r.dialer), wanted), outcome.Blocked, ACLWouldLockOut, "could not take back")

		// Only another connection shows this one.
		wanted = wantedOf(t, version, input(t, v1alpha1.TopologyReplication, secrets{"app": {"p"}}, appUser("app", "get")), operatorPassword)
		for i, u := range wanted.Data[version] {
			if u.Name == name.UserOperator {
				wanted.Data[version][i].Rules = append(slices.Clone(u.Rules), "-acl|whoami")
			}
		}
		want(t, ACL(within(t), r.options(t, r.dialer), wanted), outcome.Blocked, ACLWouldLockOut, "c-0-1: user _operator, as it is wanted, cannot go on")

		had, err := setting.ParseUsers(text(t, version, before, false))
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range r.servers {
			if c := setting.UserChanges(had, listed(t, s, operatorPassword), nil); !c.Empty() {
				t.Errorf("server %d: %+v", i, c)
			}
		}
	})
}

// TestProcessConnectionsOfARevokedPassword live on, unless they are to be ended.
func TestProcessConnectionsOfARevokedPassword(t *testing.T) {
	t.Parallel()
	everyVersion(t, func(t *testing.T, version string) {
		r := withACL(t, version, 1, input(t, v1alpha1.TopologyReplication, secrets{"app": {"one", "two"}}, appUser("app", "get", "ping")))
		connect := func(password string) *servertest.Client {
			c, err := as(t, r.servers[0], "app", password)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		open := connect("one")
		wanted := wantedOf(t, version, input(t, v1alpha1.TopologyReplication, secrets{"app": {"two", "three"}}, appUser("app", "get", "ping")), operatorPassword)
		want(t, ACL(within(t), r.options(t, r.dialer), wanted), outcome.Converged, "")
		if _, err := open.Do("PING"); err != nil {
			t.Errorf("a connection has ended: %v", err)
		}
		wanted = wantedOf(t, version, input(t, v1alpha1.TopologyReplication, secrets{"app": {"three"}}, appUser("app", "get", "ping")), operatorPassword)
		wanted.ClientKill = true
		want(t, ACL(within(t), r.options(t, r.dialer), wanted), outcome.Converged, "")
		if _, err := open.Do("PING"); err == nil {
			t.Error("a connection of a revoked password lives on")
		}
		other := connect("three")
		want(t, ACL(within(t), r.options(t, r.dialer), wanted), outcome.Converged, "", "nothing to do")
		if _, err := other.Do("PING"); err != nil {
			t.Errorf("nothing was revoked, and a connection has ended: %v", err)
		}
	})
}

func TestProcessUsersStoppedAnywhere(t *testing.T) {
	t.Parallel()
	everyVersion(t, func(t *testing.T, version string) {
		before := input(t, v1alpha1.TopologyReplication, secrets{"old": {"x"}}, appUser("old", "get"))
		after := input(t, v1alpha1.TopologyReplication, secrets{name.UserOperator: {"operator-next"}, "new": {"y"}}, appUser("new", "get"))
		r := withACL(t, version, 2, before)
		both := operator(operatorPassword, "operator-next")
		back := wantedOf(t, version, before, operatorPassword)
		wanted := wantedOf(t, version, after, "operator-next")
		commands := crashes(t, 1, both, func() {
			want(t, ACL(within(t), r.options(t, both), back), outcome.Converged, "")
		}, func(ctx context.Context, dialer node.Dialer) Report {
			return ACL(ctx, r.options(t, dialer), wanted)
		}, func() {
			for i, s := range r.servers {
				if c := setting.UserChanges(wanted.Data[version], listed(t, s, "operator-next"), nil); !c.Empty() {
					t.Errorf("server %d: %+v", i, c)
				}
			}
		})
		// Two users set, one deleted, and the operator's look as the new one.
		if commands != 8 {
			t.Errorf("%d commands, want 8", commands)
		}
	})
}

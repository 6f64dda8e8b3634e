// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/name"
)

// password is what every user of a test's input logs in with.
const password = "s3cret word"

func hashOf(t testing.TB, password string) string {
	t.Helper()
	hash, err := Hash([]byte(password))
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func inputOf(t testing.TB, topology v1alpha1.Topology, users ...v1alpha1.UserSpec) Input {
	in := Input{Topology: topology, Users: users, Hashes: map[string][]string{}}
	for _, name := range append(SystemUsers(topology), DefaultUser) {
		in.Hashes[name] = []string{hashOf(t, password)}
	}
	for _, u := range users {
		in.Hashes[u.Name] = []string{hashOf(t, password)}
	}
	return in
}

func allTopologies() []v1alpha1.Topology {
	return []v1alpha1.Topology{
		v1alpha1.TopologyCluster, v1alpha1.TopologyReplication, v1alpha1.TopologySentinel, v1alpha1.TopologyStandalone,
	}
}

// everything is a user that uses every field.
func everything() v1alpha1.UserSpec {
	return v1alpha1.UserSpec{
		Name:     "app.User@1:x+y-z",
		Commands: &v1alpha1.UserCommands{Allow: []string{"@read", "@write", "config|get", "commandlog|get", "hgetdel"}, Deny: []string{"keys", "@dangerous", "cluster|migrateslots"}},
		Keys: &v1alpha1.UserKeys{
			ReadWrite: []string{"app:*", "ключ:[a-z]?"}, ReadOnly: []string{"shared:*"}, WriteOnly: []string{`in"box'\x00:*`},
		},
		Channels:    []string{"news.*", "#weather"},
		Permissions: "-@scripting (~tmp:* +get +set) (%R~cold +@read)",
	}
}

// TestProcessServersAcceptTheText starts each version with its text in an aclfile
// and reads every user back.
func TestProcessServersAcceptTheText(t *testing.T) {
	t.Parallel()
	for _, version := range servertest.Versions() {
		for _, topology := range allTopologies() {
			for _, open := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/open=%v", version, topology, open), func(t *testing.T) {
					in := inputOf(t, topology, everything(), v1alpha1.UserSpec{Name: "anyone", Nopass: true}, v1alpha1.UserSpec{Name: "gone", Enabled: new(bool)})
					in.Open = open
					users, err := DataUsers(version, in)
					if err != nil {
						t.Fatal(err)
					}
					opts := servertest.Options{Args: []string{"--aclfile", "users.acl"}}
					if topology == v1alpha1.TopologyCluster {
						opts.Args = append(opts.Args, "--cluster-enabled", "yes")
					}
					compareUsers(t, version, users, opts)
				})
			}
		}
	}
}

func TestProcessSentinelsAcceptTheText(t *testing.T) {
	t.Parallel()
	for _, version := range servertest.Versions() {
		t.Run(version, func(t *testing.T) {
			users, err := SentinelUsers(version, inputOf(t, v1alpha1.TopologySentinel, everything()))
			if err != nil {
				t.Fatal(err)
			}
			compareUsers(t, version, users, servertest.Options{Sentinel: true, Conf: "aclfile users.acl\n"})
		})
	}
}

// compareUsers starts a server with the users in its aclfile, sets the same rules
// for other names by ACL SETUSER, and wants ACL LIST to show both alike and
// nothing else.
func compareUsers(t *testing.T, version string, users []User, opts servertest.Options) {
	t.Helper()
	var text strings.Builder
	for _, u := range users {
		text.WriteString(u.Line() + "\n")
	}
	opts.Files = map[string]string{"users.acl": text.String()}
	server := servertest.Start(t, version, opts)
	// The default user of sentinels may not change users, nor of closed servers
	// without its password.
	client := dialAs(t, server, name.UserOperator)
	var want []string
	for _, u := range users {
		twin := "twin-of-" + u.Name
		if _, err := client.Do(append([]string{"ACL", "SETUSER", twin, "reset"}, u.Rules...)...); err != nil {
			t.Fatalf("ACL SETUSER with the rules of %s: %v", u.Name, err)
		}
		want = append(want, "user "+u.Name, "user "+twin)
	}
	lines := map[string]string{}
	var got []string
	reply, err := client.Do("ACL", "LIST")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range reply.([]any) {
		words := strings.SplitN(line.(string), " ", 3)
		lines[words[1]] = words[2]
		got = append(got, "user "+words[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("users (-asked +listed):\n%s", diff)
	}
	for _, u := range users {
		if lines[u.Name] != lines["twin-of-"+u.Name] {
			t.Errorf("%s by file: %s\nby SETUSER:  %s", u.Name, lines[u.Name], lines["twin-of-"+u.Name])
		}
	}
}

// dialAs connects and logs in.
func dialAs(t testing.TB, server *servertest.Server, user string) *servertest.Client {
	t.Helper()
	client, err := server.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	if _, err := client.Do("AUTH", user, password); err != nil {
		t.Fatalf("AUTH %s: %v", user, err)
	}
	return client
}

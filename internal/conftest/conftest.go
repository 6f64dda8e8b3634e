// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conftest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/conf"
	"github.com/valkey-render/valkey-render/render/directive"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
)

// Password is what every user of the started servers logs in with.
const Password = "conftest password"

// Cannot lists, for each version, the directives of spec.config that a spec loses
// when it is rendered for that version.
type Cannot map[string][]string

// Accept renders c for every version that has a server, starts that server with
// it, and fails for every directive whose value is not the one asked for. c itself
// stays as it is. Directives that a version does not know or take must be listed;
// module files are not there, so loadmodule is left out.
func Accept(t *testing.T, c *v1alpha1.ValkeyCluster, cannot Cannot) {
	t.Helper()
	for _, version := range servertest.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			own, lost := Reversion(c, version)
			if diff := cmp.Diff(cannot[version], lost); diff != "" {
				t.Errorf("directives that %s cannot take (-listed +found):\n%s", version, diff)
			}
			if errs := conf.Check(own); len(errs) > 0 {
				t.Fatalf("spec for %s: %v", version, errs.ToAggregate())
			}
			acceptServer(t, own)
			if own.IsSentinel() {
				acceptSentinel(t, own)
			}
		})
	}
}

// Reversion returns a copy of c for another version, with its defaults, and the
// directives of spec.config that this version does not take.
func Reversion(c *v1alpha1.ValkeyCluster, version string) (own *v1alpha1.ValkeyCluster, lost []string) {
	own = c.DeepCopy()
	own.Spec.Version = version
	// A tag of another version is an error.
	own.Spec.Image = ""
	own.Default()
	for _, given := range slices.Sorted(maps.Keys(own.Spec.Config)) {
		if err := directive.Check(version, given, strings.TrimRight(own.Spec.Config[given], "\n")); err != nil {
			delete(own.Spec.Config, given)
			lost = append(lost, given)
		}
	}
	return own, lost
}

// acceptServer starts a data server as a pod's start.sh would.
func acceptServer(t *testing.T, c *v1alpha1.ValkeyCluster) {
	t.Helper()
	version := c.ServerVersion()
	text, err := conf.Server(c)
	if err != nil {
		t.Fatal(err)
	}
	live, err := conf.Live(c, version)
	if err != nil {
		t.Fatal(err)
	}
	users, err := acl.Text(version, Input(t, c))
	if err != nil {
		t.Fatal(err)
	}
	opts := servertest.Options{
		Conf: local(text),
		Files: map[string]string{
			"live.conf": live, "auth.conf": fmt.Sprintf("primaryuser %s\nprimaryauth %q\n", name.UserReplication, Password),
			version + ".acl": users,
		},
		Args: localArgs(t, conf.Args(c)),
		TCP:  !c.TLSEnabled(),
	}
	maps.Copy(opts.Files, Certificates(t, c))
	server := servertest.Start(t, version, opts)
	client := login(t, server)
	want := asked(version, parse(t, opts.Conf), parse(t, live), arguments(opts.Args))
	for _, directiveName := range slices.Sorted(maps.Keys(want)) {
		compare(t, client, version, directiveName, want[directiveName])
	}
	everyAskedDirective(t, c, want)
}

// everyAskedDirective fails for entries of spec.config that were not rendered.
func everyAskedDirective(t *testing.T, c *v1alpha1.ValkeyCluster, rendered map[string]string) {
	t.Helper()
	for given, value := range c.Spec.Config {
		called, canonical, err := directive.Canonical(c.ServerVersion(), given, strings.TrimRight(value, "\n"))
		if err != nil {
			t.Error(err)
			continue
		}
		if got, there := rendered[called]; !there || got != canonical {
			t.Errorf("spec.config[%s]: %q is rendered as %q", given, canonical, got)
		}
	}
}

// compare asks a server for one directive.
func compare(t *testing.T, client *servertest.Client, version, directiveName, want string) {
	t.Helper()
	answer, err := client.Config(directiveName)
	if err != nil {
		t.Fatal(err)
	}
	got, known := answer[directiveName]
	switch {
	case !known:
		t.Errorf("CONFIG GET %s: unknown to %s", directiveName, version)
	case directiveName == "client-output-buffer-limit" && strings.Contains(got, want):
		// The server shows the other classes too.
	case directiveName == "notify-keyspace-events" && sortedLetters(got) == sortedLetters(want):
		// The server has an order of its own.
	case got != want:
		t.Errorf("CONFIG GET %s = %q, want %q", directiveName, got, want)
	}
}

func sortedLetters(s string) string {
	letters := []byte(s)
	slices.Sort(letters)
	return string(letters)
}

// asked are the values that lines ask for, as CONFIG GET prints them, the later
// file winning.
func asked(version string, files ...[]line) map[string]string {
	want := map[string]string{}
	for _, lines := range files {
		given := map[string][]string{}
		for _, l := range lines {
			given[l.name] = append(given[l.name], strings.Join(l.words, " "))
		}
		for called, values := range given {
			d, _ := directive.Lookup(version, called)
			value := values[len(values)-1]
			if d.Repeatable {
				value = strings.Join(values, "\n")
			}
			if _, canonical, err := directive.Canonical(version, called, value); err == nil {
				value = canonical
			}
			want[called] = value
		}
	}
	// Lines that are no directives to ask for, and what servertest sets itself.
	for _, other := range []string{"include", "loadmodule", "bind", "user", "sentinel"} {
		delete(want, other)
	}
	return want
}

// Input gives every user the same password.
func Input(t *testing.T, c *v1alpha1.ValkeyCluster) acl.Input {
	t.Helper()
	hash, err := acl.Hash([]byte(Password))
	if err != nil {
		t.Fatal(err)
	}
	in := acl.Input{
		Topology: c.EffectiveTopology(), Open: !c.AuthEnabled(), Users: c.Spec.Users,
		Hashes: map[string][]string{acl.DefaultUser: {hash}}, Modules: len(c.Spec.Modules) > 0,
	}
	for _, user := range acl.SystemUsers(in.Topology) {
		in.Hashes[user] = []string{hash}
	}
	for _, user := range c.Spec.Users {
		in.Hashes[user.Name] = []string{hash}
	}
	return in
}

func login(t *testing.T, server *servertest.Server) *servertest.Client {
	t.Helper()
	client, err := server.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	if _, err := client.Do("AUTH", name.UserOperator, Password); err != nil {
		t.Fatal(err)
	}
	return client
}

// acceptSentinel starts a sentinel with the text that start.sh would compose and
// reads the options of the primary back.
func acceptSentinel(t *testing.T, c *v1alpha1.ValkeyCluster) {
	t.Helper()
	version := c.ServerVersion()
	text, err := conf.Sentinel(c)
	if err != nil {
		t.Fatal(err)
	}
	users, err := acl.SentinelText(version, Input(t, c))
	if err != nil {
		t.Fatal(err)
	}
	opts := servertest.Options{
		Sentinel: true,
		Conf:     local(text) + fmt.Sprintf("sentinel monitor %s 127.0.0.1 1 %d\n", name.SentinelMaster, c.SentinelQuorum()),
		Files:    map[string]string{version + ".sentinel.acl": users},
	}
	if c.TLSEnabled() {
		opts.Args = []string{"--tls-port", freePort(t)}
	}
	maps.Copy(opts.Files, Certificates(t, c))
	client := login(t, servertest.Start(t, version, opts))
	reply, err := client.Do("SENTINEL", "MASTER", name.SentinelMaster)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	pairs := reply.([]any)
	for i := 0; i+1 < len(pairs); i += 2 {
		shown[fmt.Sprint(pairs[i])] = fmt.Sprint(pairs[i+1])
	}
	want := map[string]string{"quorum": strconv.Itoa(int(c.SentinelQuorum()))}
	for _, l := range parse(t, text) {
		if l.name == "sentinel" && len(l.words) == 3 && l.words[1] == name.SentinelMaster {
			want[l.words[0]] = l.words[2]
		}
	}
	for option, value := range want {
		// The one option that SENTINEL MASTER does not show.
		if shown[option] != value && option != "master-reboot-down-after-period" {
			t.Errorf("SENTINEL MASTER: %s = %q, want %q", option, shown[option], value)
		}
	}
}

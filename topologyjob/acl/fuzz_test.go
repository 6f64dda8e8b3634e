// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/servertest"
)

// FuzzProcessText writes a user of arbitrary fields. Either that is an error, or a
// real server takes the text and has exactly the users that were asked for, with
// the rules that ACL SETUSER makes of them.
func FuzzProcessText(f *testing.F) {
	seed(f)
	dir := servertest.Dir(f)
	server, err := servertest.Launch(dir, "9.1", servertest.Options{
		Files: map[string]string{"users.acl": "user default on nopass ~* &* +@all\n"}, Args: []string{"--aclfile", "users.acl"},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(server.Stop)
	f.Fuzz(func(t *testing.T, name, allow, deny, key, channel, permissions string, nopass bool) {
		in := fuzzInput(name, allow, deny, key, channel, permissions, nopass)
		users, err := DataUsers("9.1", in)
		if err != nil {
			return
		}
		text, err := Text("9.1", in)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(server.Dir, "users.acl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := server.Do("ACL", "LOAD"); err != nil {
			t.Fatalf("%q is refused: %v", text, err)
		}
		var listed []string
		lines := map[string]string{}
		for _, line := range listACL(t, server) {
			words := strings.SplitN(line, " ", 3)
			listed = append(listed, words[1])
			lines[words[1]] = words[2]
		}
		var asked []string
		for _, u := range users {
			asked = append(asked, u.Name)
		}
		slices.Sort(asked)
		slices.Sort(listed)
		if !slices.Equal(asked, listed) {
			t.Fatalf("asked for %q, listed are %q", asked, listed)
		}
		last := users[len(users)-1]
		if _, err := server.Do(append([]string{"ACL", "SETUSER", "_twin", "reset"}, last.Rules...)...); err != nil {
			t.Fatalf("%q by SETUSER: %v", last.Rules, err)
		}
		for _, line := range listACL(t, server) {
			if rules, found := strings.CutPrefix(line, "user _twin "); found && rules != lines[last.Name] {
				t.Fatalf("by file %q, by SETUSER %q", lines[last.Name], rules)
			}
		}
	})
}

func listACL(t *testing.T, server *servertest.Server) []string {
	t.Helper()
	reply, err := server.Do("ACL", "LIST")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, line := range reply.([]any) {
		lines = append(lines, line.(string))
	}
	return lines
}

// FuzzText: whatever the fields hold, the text has one line for each user, which
// starts with its name.
func FuzzText(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, name, allow, deny, key, channel, permissions string, nopass bool) {
		in := fuzzInput(name, allow, deny, key, channel, permissions, nopass)
		for _, version := range v1alpha1.Versions() {
			text, err := Text(version, in)
			if err != nil {
				if text != "" {
					t.Fatalf("a text beside an error: %q", text)
				}
				continue
			}
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			want := append([]string{DefaultUser}, SystemUsers(in.Topology)...)
			want = append(want, name)
			if len(lines) != len(want) {
				t.Fatalf("%d lines for %d users: %q", len(lines), len(want), text)
			}
			for i, line := range lines {
				if !strings.HasPrefix(line, "user "+want[i]+" on ") {
					t.Fatalf("line %q is not of user %q", line, want[i])
				}
			}
			if !nopass && strings.Contains(strings.ToLower(lines[len(lines)-1]), " nopass") {
				t.Fatalf("without a password: %q", lines)
			}
			if strings.ContainsAny(text, "\r\x00") {
				t.Fatalf("control characters: %q", text)
			}
		}
	})
}

func seed(f *testing.F) {
	f.Helper()
	for _, permissions := range []string{
		"", "+@all", "+get\nuser evil on nopass +@all", "(~x +get)", "( ~x +get ) (&y)", "(~x", "+get)", "~* ~x %R~y", "resetkeys ~a", "&* &x",
		"nopass", "NoPass", ">secret", "#" + strings.Repeat("0", 64), "!x", "on", "reset", "+select|0", "-select|0", "+config|nope", "sanitize-payload (sanitize-payload)",
		"%~x", "%RW~x", "%rw~x", "%RR~x", "~", "&", "%R~", "()", "(+get ~* ~x)", "allchannels &x", "alldbs", "db=0", "\t+get\t", "+@all|x", "+GET -Config|Set",
	} {
		f.Add("app", "@read", "keys", "app:*", "news", permissions, false)
	}
	f.Add("a b", "@all", "@dangerous", "*", "*", "", true)
	f.Add("x\nuser y", "get|x", "get|x", "\n", "\r", "\x00", false)
	f.Add("é", "GET", "-get", "~*", "&*", "\u2028", true)
	f.Add("a", "", "", "", "", "", true)
}

func fuzzInput(name, allow, deny, key, channel, permissions string, nopass bool) Input {
	u := v1alpha1.UserSpec{
		Name: name, Nopass: nopass, Permissions: permissions, Channels: []string{channel},
		Commands: &v1alpha1.UserCommands{Allow: []string{allow}, Deny: []string{deny}},
		Keys:     &v1alpha1.UserKeys{ReadWrite: []string{key, "second"}, ReadOnly: []string{key}},
	}
	in := Input{Topology: v1alpha1.TopologyCluster, Open: true, Users: []v1alpha1.UserSpec{u}, Hashes: map[string][]string{}}
	for _, user := range append(SystemUsers(in.Topology), name) {
		in.Hashes[user] = []string{strings.Repeat("ab", 32)}
	}
	return in
}

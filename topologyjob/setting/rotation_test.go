// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package setting

import (
	"testing"

	"github.com/valkey-render/valkey-render/topologyjob/acl"
)

func hashOf(t *testing.T, password string) string {
	t.Helper()
	h, err := acl.Hash([]byte(password))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestStageOf(t *testing.T) {
	server := func(link string, up bool, passwords ...string) Passwords {
		p := Passwords{Known: true, Logins: map[string]Login{}, LinkUp: up}
		if link != "" {
			p.Link = hashOf(t, link)
		}
		for _, user := range []string{"_operator", "_replication"} {
			l := Login{On: true}
			for _, password := range passwords {
				l.Hashes = append(l.Hashes, hashOf(t, password))
			}
			p.Logins[user] = l
		}
		return p
	}
	secret := func(current, next, previous string) map[string][]byte {
		data := map[string][]byte{"exporter.json": []byte("x")}
		for _, user := range []string{"_operator", "_replication", "_sentinel"} {
			data[user+".current"] = []byte(current)
			if next != "" {
				data[user+".next"] = []byte(next)
			}
			if previous != "" {
				data[user+".previous"] = []byte(previous)
			}
		}
		return data
	}
	// Secrets, or keys, of which some were written before whoever does that was stopped.
	part := func(whole map[string][]byte, key, value string) map[string][]byte {
		whole[key] = []byte(value)
		return whole
	}
	for name, c := range map[string]struct {
		system  map[string][]byte
		servers []Passwords
		want    Stage
	}{
		"nothing to do":               {secret("a", "", ""), []Passwords{server("a", true, "a"), server("", true, "a")}, Idle},
		"an old password":             {secret("a", "", ""), []Passwords{server("a", true, "a"), server("a", true, "a", "z")}, Dropping},
		"a link with another":         {secret("a", "", ""), []Passwords{server("z", true, "a")}, Dropping},
		"a link that is down":         {secret("a", "", ""), []Passwords{server("a", false, "a")}, Dropping},
		"begun":                       {secret("a", "b", ""), []Passwords{server("a", true, "a")}, Accepting},
		"begun, in part":              {secret("a", "b", ""), []Passwords{server("a", true, "a", "b"), server("a", true, "a")}, Accepting},
		"begun, one does not answer":  {secret("a", "b", ""), []Passwords{server("a", true, "a", "b"), {}}, Accepting},
		"accepted":                    {secret("a", "b", ""), []Passwords{server("a", true, "a", "b"), server("", true, "a", "b")}, Accepted},
		"finished":                    {secret("b", "", "a"), []Passwords{server("a", true, "a", "b")}, Switching},
		"finished, restarted as old":  {secret("b", "", "a"), []Passwords{server("b", true, "a", "b"), server("a", true, "a")}, Switching},
		"finished, a link is down":    {secret("b", "", "a"), []Passwords{server("b", false, "a", "b")}, Switching},
		"switched":                    {secret("b", "", "a"), []Passwords{server("b", true, "a", "b")}, Switched},
		"forgotten":                   {secret("b", "", ""), []Passwords{server("b", true, "a", "b")}, Dropping},
		"begun, not all written":      {part(secret("a", "", ""), "_operator.next", "b"), []Passwords{server("a", true, "a", "b")}, Accepting},
		"finished, not all written":   {part(secret("b", "", "a"), "_sentinel.next", "b"), []Passwords{server("b", true, "a", "b")}, Switching},
		"forgotten, not all written":  {part(secret("b", "", ""), "_sentinel.previous", "a"), []Passwords{server("b", true, "a", "b")}, Switched},
		"a server without a password": {secret("b", "", ""), []Passwords{{Known: true, LinkUp: true, Logins: map[string]Login{"_operator": {On: true, Nopass: true}}}}, Idle},
	} {
		if got := StageOf(HeldBy(c.system, nil, ""), c.servers); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	held := HeldBy(secret("a", "", ""), map[string][]byte{"password": []byte("p"), "password.next": []byte("q")}, "password")
	if h := held[acl.DefaultUser]; h.Current != hashOf(t, "p") || h.Next != hashOf(t, "q") || h.Previous != "" || len(held) != 4 {
		t.Errorf("%+v", held)
	}
}

func TestWidened(t *testing.T) {
	wanted := []acl.User{user("a on #" + hashA + " +get"), user("b off #" + hashA), user("c on nopass"), user("d on #" + hashA), user("e on #" + hashA)}
	observed := []acl.User{user("a on #" + hashB), user("b on #" + hashB), user("c on #" + hashB), user("d off #" + hashB), user("e on nopass"), user("z on")}
	for i, want := range []string{"a on #" + hashA + " +get #" + hashB, "b off #" + hashA, "c on nopass", "d on #" + hashA, "e on #" + hashA + " nopass"} {
		if got := Widened(wanted, observed)[i].Line(); got != "user "+want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

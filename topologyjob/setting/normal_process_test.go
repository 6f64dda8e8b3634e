// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package setting

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
)

// TestProcessNormalIsWhatServersMean: whatever a server makes of a user's rules has the
// normal form of these rules.
func TestProcessNormalIsWhatServersMean(t *testing.T) {
	t.Parallel()
	for _, version := range servertest.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := servertest.Start(t, version, servertest.Options{})
			random := rand.New(rand.NewPCG(4, 2))
			for i := range 1500 {
				u := acl.User{Name: "a", Rules: randomRules(random, version)}
				if _, err := s.Do(append([]string{"ACL", "SETUSER", "a", "reset"}, u.Rules...)...); err != nil {
					t.Fatalf("%s: %v", u.Line(), err)
				}
				list, err := s.Do("ACL", "LIST")
				if err != nil {
					t.Fatal(err)
				}
				var text strings.Builder
				for _, line := range list.([]any) {
					fmt.Fprintln(&text, line)
				}
				users, err := ParseUsers(text.String())
				if err != nil {
					t.Fatal(err)
				}
				if c := UserChanges([]acl.User{u}, users, nil); len(c.Set) > 0 {
					t.Fatalf("%d: %s\nwanted %s\nserver %s", i, u.Line(), Normal(u), text.String())
				}
			}
		})
	}
}

// randomRules are rules that a server takes, in any order that it takes.
func randomRules(random *rand.Rand, version string) []string {
	login := []string{"on", "off", "nopass", "#" + hashA, "#" + hashB, "sanitize-payload", "resetpass"}
	keys := []string{"~a*", "~b", "%R~a*", "%W~a*", "%RW~c", "%R~d", "resetkeys"}
	channels := []string{"&x", "&y*", "resetchannels"}
	commands := []string{
		"+get", "-get", "+set", "-set", "+config", "-config", "+config|get", "-config|set", "+client|kill", "-client",
		"+@read", "-@read", "+@dangerous", "-@dangerous", "+@all", "-@all", "allcommands", "nocommands", "+GET", "+flushall",
	}
	if version >= "9.1" {
		keys = append(keys, "db=1", "db=1,2", "alldbs")
	}
	pick := func(from []string, most int) []string {
		var words []string
		for range random.IntN(most + 1) {
			words = append(words, from[random.IntN(len(from))])
		}
		return words
	}
	permissions := func() []string {
		words := append(pick(keys, 4), pick(channels, 2)...)
		words = append(words, pick(commands, 8)...)
		random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		// A pattern may not follow the one that is all of them.
		if random.IntN(5) == 0 {
			words = append(words, "~*", "allchannels")
		}
		return words
	}
	rules := append(pick(login, 4), permissions()...)
	for range random.IntN(3) {
		rules = append(rules, "("+strings.Join(permissions(), " ")+")")
	}
	if random.IntN(8) == 0 {
		rules = append(rules, "clearselectors")
	}
	return rules
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package setting

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/topologyjob/acl"
)

var (
	hashA = strings.Repeat("a", 64)
	hashB = strings.Repeat("b", 64)
)

func TestParseUsers(t *testing.T) {
	got, err := ParseUsers("user default on nopass +@all\n\nuser app on #" + hashA + " ~x (~y +get)\n")
	want := []acl.User{
		{Name: "default", Rules: []string{"on", "nopass", "+@all"}},
		{Name: "app", Rules: []string{"on", "#" + hashA, "~x", "(~y", "+get)"}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v -want +got\n%s", err, diff)
	}
	for text, words := range map[string]string{
		"":                                    "no line for the user default",
		"user app on\n":                       "no line for the user default",
		"user default on\nuser default off\n": "line 2: user default is there twice",
		"user default on\nuser\n":             "line 2: is not",
		"user default on\n>hunter2\n":         "line 2: is not",
	} {
		if _, err := ParseUsers(text); err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func user(line string) acl.User {
	words := strings.Fields(line)
	return acl.User{Name: words[0], Rules: words[1:]}
}

func TestNormal(t *testing.T) {
	for _, pair := range [][2]string{
		{"a on #" + hashB + " #" + hashA, "a on sanitize-payload #" + hashA + " #" + hashB + " resetchannels -@all"},
		{"a off nopass", "a off nopass resetchannels -@all"},
		{"a on #" + hashA + " nopass", "a on nopass"},
		{"a allkeys allchannels allcommands", "a ~* &* +@all"},
		{"a ~x ~x %RW~y", "a ~x ~y"},
		{"a %R~x %W~x", "a ~x"},
		{"a +get +set +get", "a -@all +set +get"},
		{"a +config|get -config", "a -config"},
		{"a -get +@all -set", "a +@all -set"},
		{"a ( ~x +get )", "a (~x resetchannels -@all +get)"},
		{"a resetchannels db=1,2 +get", "a db=1,2 -@all +get"},
		{"a +GET", "a +get"},
	} {
		if one, two := Normal(user(pair[0])), Normal(user(pair[1])); one != two {
			t.Errorf("%q is\n%s\nand %q is\n%s", pair[0], one, pair[1], two)
		}
	}
	for _, pair := range [][2]string{
		{"a on", "a off"},
		{"a on #" + hashA, "a on #" + hashB},
		{"a on nopass", "a on"},
		{"a ~x", "a ~X"},
		{"a %R~x", "a ~x"},
		{"a +get", "a -get"},
		{"a +get", "a (+get)"},
		{"a +config +config|get", "a +config|get +config"},
		{"a &x", "a &y"},
		{"a mystery", "a"},
	} {
		if one, two := Normal(user(pair[0])), Normal(user(pair[1])); one == two {
			t.Errorf("%q and %q are both %s", pair[0], pair[1], one)
		}
	}
}

func TestUserChanges(t *testing.T) {
	wanted := []acl.User{user("default on nopass"), user("a on #" + hashA), user("b off #" + hashA), user("c on #" + hashA + " #" + hashB), user("d on nopass")}
	observed := []acl.User{
		user("default on #" + hashA), user("a on #" + hashA + " #" + hashB), user("b on #" + hashA), user("c on #" + hashA), user("d sanitize-payload on nopass"), user("z on"), user("y off"),
	}
	got := UserChanges(wanted, observed, nil)
	want := Changes{Set: wanted[:4], Gone: []string{"y", "z"}, Revoked: []string{"a", "b"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if again := UserChanges(wanted, wanted, nil); !again.Empty() {
		t.Errorf("%+v", again)
	}
	all := UserChanges(wanted, observed, func(acl.User, acl.User) bool { return true })
	if len(all.Set) != 0 || len(all.Gone) != 2 {
		t.Errorf("%+v", all)
	}
	// The user of clients that name none cannot be deleted.
	if got := UserChanges(nil, wanted[:1], nil); !got.Empty() {
		t.Errorf("%+v", got)
	}
}

func TestLoginAccepts(t *testing.T) {
	const hash = "f52fbd32b2b3b86ff88ef6c490628285f482af15ddcb29541f94bcf526a3f6c7" // of hunter2
	for line, right := range map[string]bool{
		"a on #" + hash: true, "a off #" + hash: false, "a on nopass": true, "a off nopass": false, "a on >hunter2": true,
		"a on #" + hashA: false, "a on": false,
	} {
		if got := LoginOf(user(line)).Accepts("other", "hunter2"); got != right {
			t.Errorf("%s: %t", line, got)
		}
	}
}

func FuzzUsers(f *testing.F) {
	f.Add("user default on nopass ~* &* +@all\nuser a on #" + hashA + " %R~x (~y +get) -@all +config|get\n")
	f.Fuzz(func(t *testing.T, text string) {
		users, err := ParseUsers(text)
		if err != nil {
			return
		}
		for _, u := range users {
			normal := Normal(u)
			again, err := ParseUsers("user default\n" + strings.TrimSpace(normal) + "\n")
			if u.Name == acl.DefaultUser {
				continue
			}
			if err != nil || len(again) != 2 {
				t.Fatalf("%q: %q is not read again: %v", u.Line(), normal, err)
			}
			if Normal(again[1]) != normal {
				t.Errorf("%q:\n%q\nis again\n%q", u.Line(), normal, Normal(again[1]))
			}
		}
		if c := UserChanges(users, users, nil); !c.Empty() {
			t.Errorf("%q differs from itself: %+v", text, c)
		}
	})
}

func TestSetsUsers(t *testing.T) {
	for line, may := range map[string]bool{
		"a on":                       false,
		"a +@all":                    true,
		"a +acl":                     true,
		"a +acl|setuser":             false,
		"a +acl|setuser +acl|list":   true,
		"a +acl -acl|setuser":        false,
		"a +@all -@dangerous":        false,
		"a +@admin -acl|list":        false,
		"a +@all -@dangerous +acl":   true,
		"a (+@all)":                  false,
		"a +@all -@admin -@all +get": false,
	} {
		if got := SetsUsers(user(line)); got != may {
			t.Errorf("%s: %t", line, got)
		}
	}
}

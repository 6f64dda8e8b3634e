// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/golden"
	"github.com/valkey-render/valkey-render/render/name"
)

// TestTextIsPinned holds the files of all versions for one set of users: whatever
// differs after a change of the renderer is set on running servers.
func TestTextIsPinned(t *testing.T) {
	for _, topology := range allTopologies() {
		in := inputOf(t, topology, everything(), v1alpha1.UserSpec{Name: "anyone", Nopass: true}, v1alpha1.UserSpec{Name: "gone", Enabled: new(bool)})
		in.Hashes[name.UserReplication] = append(in.Hashes[name.UserReplication], hashOf(t, "next"))
		var out strings.Builder
		for _, version := range v1alpha1.Versions() {
			text, err := Text(version, in)
			if err != nil {
				t.Fatal(err)
			}
			out.WriteString("==== " + FileKey(version) + "\n" + text)
		}
		if topology == v1alpha1.TopologySentinel {
			text, err := SentinelText("9.1", in)
			if err != nil {
				t.Fatal(err)
			}
			out.WriteString("==== " + SentinelFileKey("9.1") + "\n" + text)
		}
		golden.File(t, filepath.Join("testdata", strings.ToLower(string(topology))+".acl"), []byte(out.String()))
	}
}

func TestCommandsThatAVersionLacksAreLeftOut(t *testing.T) {
	user := v1alpha1.UserSpec{
		Name:        "app",
		Commands:    &v1alpha1.UserCommands{Allow: []string{"hgetdel", "Get"}, Deny: []string{"cluster|migrateslots"}},
		Permissions: "+commandlog|get db=0,3 (+hsetex ~x alldbs)",
	}
	for version, want := range map[string][]string{
		"8.0": {"resetchannels", "+Get", "(~x)"},
		"8.1": {"resetchannels", "+Get", "+commandlog|get", "(~x)"},
		"9.0": {"resetchannels", "+Get", "-cluster|migrateslots", "+commandlog|get", "(+hsetex ~x)"},
		"9.1": {"resetchannels", "+hgetdel", "+Get", "-cluster|migrateslots", "+commandlog|get", "db=0,3", "(+hsetex ~x alldbs)"},
	} {
		rules, err := userRules(nil, version, &user, false)
		if diff := cmp.Diff(want, rules); len(err) > 0 || diff != "" {
			t.Errorf("%s: %v\n%s", version, err, diff)
		}
	}
}

// TestFaultsAreAllReported wants the word of each fault in the error.
func TestFaultsAreAllReported(t *testing.T) {
	for _, c := range []struct {
		name string
		user v1alpha1.UserSpec
		want []string
	}{
		{"command of no version", with("gett", "@raed", "", nil), []string{`did you mean "get"?`, `did you mean "@read"?`}},
		{"nothing near", with("completely|unheard", "xyzzy.frob", "", nil), []string{`commands.allow[0]: Invalid value: "completely|unheard": unknown to every version`, `"xyzzy.frob"`}},
		{"no command at all", with("get set", "+get", "", nil), []string{`"get set": must be a command`, `"+get": must be a command`}},
		{"category with an argument", with("@read|x", "", "", nil), []string{`"@read|x": must be a command`}},
		{"denied first argument", with("select|0", "select|0", "", nil), []string{"can be allowed, not denied"}},
		{"white space in patterns", with("", "", "", []string{"a b", "a\nuser evil on nopass", "\x00"}), []string{`keys.readWrite[0]: Invalid value: "a b": holds white space`, "evil", "control character"}},
		{"empty pattern", with("", "", "", []string{""}), []string{"is empty"}},
		{"not UTF-8", with("", "", "", []string{"\xff"}), []string{"not UTF-8"}},
		{"control character in permissions", with("", "", "+get\x07", nil), []string{"control character"}},
		{"passwords in permissions", with("", "", ">hunter2 <hunter2 #hunter2 !hunter2", nil), []string{"use passwordSecret"}},
		{"what fields say", with("", "", "on off NOPASS reset resetpass", nil), []string{"use the field enabled", "use the field nopass", "would undo"}},
		{"no rule", with("", "", "get", nil), []string{`"get": is no rule`}},
		{"half a selector", with("", "", "(~x +get", nil), []string{"closing parenthesis"}},
		{"nested selectors", with("", "", "(~x (~y +get))", nil), []string{"inside of a selector"}},
		{"user's rule in a selector", with("", "", "(clearselectors)", nil), []string{"not for a selector"}},
		{"access of a pattern", with("", "", "%X~a %~b %R", nil), []string{`"%X~a"`, `"%~b"`, `"%R"`}},
		{"system name", v1alpha1.UserSpec{Name: "_operator"}, []string{"the system's"}},
		{"default", v1alpha1.UserSpec{Name: "default"}, []string{"spec.auth"}},
		{"two words", v1alpha1.UserSpec{Name: "a b"}, []string{"white space"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := inputOf(t, v1alpha1.TopologyCluster, c.user)
			for _, write := range []func(string, Input) (string, error){Text, SentinelText} {
				text, err := write("9.1", in)
				if err == nil {
					t.Fatalf("no error, but %q", text)
				}
				for _, want := range c.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("no %q in: %v", want, err)
					}
				}
				if strings.Contains(err.Error(), "hunter2") {
					t.Errorf("a password is in: %v", err)
				}
			}
		})
	}
}

func with(allow, deny, permissions string, keys []string) v1alpha1.UserSpec {
	u := v1alpha1.UserSpec{Name: "app", Permissions: permissions, Commands: &v1alpha1.UserCommands{}, Keys: &v1alpha1.UserKeys{ReadWrite: keys}}
	if allow != "" {
		u.Commands.Allow = []string{allow}
	}
	if deny != "" {
		u.Commands.Deny = []string{deny}
	}
	return u
}

func TestModulesBringCommandsOfTheirOwn(t *testing.T) {
	in := inputOf(t, v1alpha1.TopologyStandalone, with("json.get", "@search", "+ft.search", nil))
	if text, err := Text("9.1", in); err == nil {
		t.Errorf("without modules: %q", text)
	}
	in.Modules = true
	text, err := Text("9.1", in)
	if err != nil || !strings.Contains(text, "+json.get -@search +ft.search\n") {
		t.Errorf("with modules: %q, %v", text, err)
	}
}

func TestNobodyIsWithoutAPasswordByAccident(t *testing.T) {
	user := v1alpha1.UserSpec{Name: "app"}
	for _, missing := range append(SystemUsers(v1alpha1.TopologySentinel), DefaultUser, "app") {
		in := inputOf(t, v1alpha1.TopologySentinel, user)
		delete(in.Hashes, missing)
		text, err := Text("9.1", in)
		if err == nil || text != "" || !strings.Contains(err.Error(), "user "+missing+": no password") {
			t.Errorf("%s: %q, %v", missing, text, err)
		}
		in.Hashes[missing] = []string{"not a hash"}
		if text, err := Text("9.1", in); err == nil || !strings.Contains(err.Error(), "64 lower-case") {
			t.Errorf("%s: %q, %v", missing, text, err)
		}
	}
	in := inputOf(t, v1alpha1.TopologyCluster, user, user)
	if _, err := Text("9.1", in); err == nil || !strings.Contains(err.Error(), `user "app": there more than once`) {
		t.Errorf("the same user twice: %v", err)
	}
	if _, err := Text("7.2", in); err == nil || !strings.Contains(err.Error(), "8.0, 8.1, 9.0, 9.1") {
		t.Errorf("another version: %v", err)
	}
}

func TestHashIsOfThePasswordOrGiven(t *testing.T) {
	const sum = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
	for _, given := range []string{"secret", "#" + sum, "#" + strings.ToUpper(sum)} {
		if got, err := Hash([]byte(given)); err != nil || got != sum {
			t.Errorf("Hash(%q) = %q, %v", given, got, err)
		}
	}
	if got, err := Hash([]byte("#" + sum[1:])); err != nil || got == sum[1:] {
		t.Errorf("a short hash is a password: %q, %v", got, err)
	}
	if _, err := Hash(nil); err == nil {
		t.Error("an empty password is taken")
	}
}

func TestSystemSecretHasAKeyForEveryUser(t *testing.T) {
	want := []string{"_exporter.current", "_operator.current", "_replication.current", "_sentinel.current", "exporter.json"}
	if diff := cmp.Diff(want, SystemKeys()); diff != "" {
		t.Error(diff)
	}
	if users := SystemUsers(v1alpha1.TopologyCluster); slices.Contains(users, name.UserSentinel) {
		t.Error("a cluster has no sentinels")
	}
}

func TestExporterFindsItsPassword(t *testing.T) {
	c := &v1alpha1.ValkeyCluster{}
	c.Spec.TLS = &v1alpha1.TLSSpec{}
	got, err := ExporterJSON(c, `p"w`)
	if want := `{"rediss://_exporter@localhost:6379":"p\"w"}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if _, err := ExporterJSON(c, ""); err == nil {
		t.Error("an empty password is taken")
	}
}

func TestCheckNamesThePlace(t *testing.T) {
	users := []v1alpha1.UserSpec{{Name: "ok"}, with("gett", "", "+getx", nil), {Name: "_x"}}
	var got []string
	for _, err := range Check(field.NewPath("spec", "users"), users, false) {
		got = append(got, err.Error())
	}
	want := []string{
		`spec.users[1].commands.allow[0]: Invalid value: "gett": unknown to every version; did you mean "get"?`,
		`spec.users[1].permissions: Invalid value: "getx": unknown to every version; did you mean "get"?`,
		`spec.users[2].name: Invalid value: "_x": names with a leading underscore are the system's`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

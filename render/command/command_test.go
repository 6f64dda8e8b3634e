// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

func TestRulesAreJudged(t *testing.T) {
	for _, c := range []struct {
		sign, name string
		modules    Modules
		want       Verdict
	}{
		{"+", "get", NoModules, Verdict{Since: "8.0"}},
		{"-", "GET", NoModules, Verdict{Since: "8.0"}},
		{"+", "@all", NoModules, Verdict{Since: "8.0"}},
		{"+", "config|get", NoModules, Verdict{Since: "8.0"}},
		{"+", "commandlog|get", NoModules, Verdict{Since: "8.1"}},
		{"+", "cluster|migrateslots", NoModules, Verdict{Since: "9.0"}},
		{"+", "hgetdel", NoModules, Verdict{Since: "9.1"}},
		{"+", "select|0", NoModules, Verdict{Since: "8.0"}},
		{"-", "select|0", NoModules, Verdict{Problem: "the first argument of a command can be allowed, not denied"}},
		{"+", "gett", NoModules, Verdict{Unknown: true, Problem: `unknown to every version; did you mean "get"?`}},
		{"+", "@raed", NoModules, Verdict{Unknown: true, Problem: `unknown to every version; did you mean "@read"?`}},
		{"+", "config|gett", NoModules, Verdict{Unknown: true, Problem: `unknown to every version; did you mean "config|get"?`}},
		{"+", "json.numincrby", NoModules, Verdict{Unknown: true, Problem: "unknown to every version"}},
		{"+", "json.numincrby", MaybeModules, Verdict{Since: "8.0"}},
		{"+", "gett", MaybeModules, Verdict{Unknown: true, Problem: `unknown to every version; did you mean "get"?`}},
		{"+", "gett", SomeModules, Verdict{Since: "8.0"}},
		{"+", "a b", SomeModules, Verdict{Problem: "must be a command, a subcommand (config|get) or a category (@read)"}},
		{"+", "@read|x", NoModules, Verdict{Problem: "must be a command, a subcommand (config|get) or a category (@read)"}},
	} {
		if diff := cmp.Diff(c.want, Judge(c.sign, c.name, c.modules)); diff != "" {
			t.Errorf("%s%s, modules %d (-want +got)\n%s", c.sign, c.name, c.modules, diff)
		}
	}
}

func TestRulesOfDatabasesAreJudged(t *testing.T) {
	for rule, want := range map[string]Verdict{
		"db=0":     {Since: "9.1"},
		"DB=0,13":  {Since: "9.1"},
		"alldbs":   {Since: "9.1"},
		"ResetDBs": {Since: "9.1"},
		"db=":      {Problem: "must be like db=0 or db=0,3"},
		"db=1,x":   {Problem: "must be like db=0 or db=0,3"},
	} {
		got, found := Database(rule)
		if diff := cmp.Diff(want, got); diff != "" || !found {
			t.Errorf("%s: found %t (-want +got)\n%s", rule, found, diff)
		}
	}
	if _, found := Database("+get"); found {
		t.Error("+get is no rule of databases")
	}
}

func TestCheckNamesThePlaceOfEveryUnknownName(t *testing.T) {
	users := []v1alpha1.UserSpec{
		{Name: "plain"},
		{
			Name:        "app",
			Commands:    &v1alpha1.UserCommands{Allow: []string{"@read", "gett", "hgetdel", "no command"}, Deny: []string{"hgetdel", "select|0", "@dangeruos"}},
			Permissions: "+set ~x:* db=0 (+sett -hgetdel) (+hgetdel ~a)",
		},
	}
	var got []string
	for _, err := range Check(field.NewPath("spec", "users"), "9.0", users, NoModules) {
		got = append(got, err.Error())
	}
	want := []string{
		`spec.users[1].commands.allow[1]: Not found: "gett": "gett" is unknown to every version; did you mean "get"?`,
		`spec.users[1].commands.allow[2]: Not found: "hgetdel": "hgetdel" is unknown to Valkey 9.0; it exists from 9.1 on`,
		`spec.users[1].commands.deny[1]: Invalid value: "select|0": the first argument of a command can be allowed, not denied`,
		`spec.users[1].commands.deny[2]: Not found: "@dangeruos": "@dangeruos" is unknown to every version; did you mean "@dangerous"?`,
		`spec.users[1].permissions: Not found: "db=0": "db=0" is unknown to Valkey 9.0; it exists from 9.1 on`,
		`spec.users[1].permissions: Not found: "sett": "sett" is unknown to every version; did you mean "set"?`,
		`spec.users[1].permissions: Not found: "hgetdel": "hgetdel" is unknown to Valkey 9.0; it exists from 9.1 on`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if errs := Check(nil, "9.1", users[:1], NoModules); len(errs) > 0 {
		t.Error(errs)
	}
}

func TestModulesOfAClusterAreSeen(t *testing.T) {
	c := &v1alpha1.ValkeyCluster{}
	if Of(c) != NoModules {
		t.Error("no module is listed")
	}
	c.Spec.Modules = []v1alpha1.ModuleSpec{{Name: "json"}}
	if Of(c) != SomeModules {
		t.Error("a module is listed")
	}
}

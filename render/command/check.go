// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// UnknownName is the Origin of an error about a name that no server of the version
// knows. Codes of findings are the caller's: this package is used without them.
const UnknownName = "command/unknown-name"

// Check returns what servers of a minor version would not know of the commands of
// users; path is that of the list. An unknown name is NotFound with the Origin
// UnknownName, a rule that cannot be is Invalid. A denied command that only a newer version knows is no problem.
// What has not the form of a rule is left to the validation of the API.
func Check(path *field.Path, version string, users []v1alpha1.UserSpec, modules Modules) field.ErrorList {
	c := checker{version: version, modules: modules}
	for i := range users {
		u, at := &users[i], path.Index(i)
		if u.Commands != nil {
			c.list(at.Child("commands", "allow"), "+", u.Commands.Allow)
			c.list(at.Child("commands", "deny"), "-", u.Commands.Deny)
		}
		for word := range strings.FieldsSeq(u.Permissions) {
			// A selector's parentheses are part of its first and last word.
			rule := strings.TrimSuffix(strings.TrimPrefix(word, "("), ")")
			c.permission(at.Child("permissions"), rule)
		}
	}
	return c.errs
}

type checker struct {
	version string
	modules Modules
	errs    field.ErrorList
}

func (c *checker) list(path *field.Path, sign string, names []string) {
	for i, name := range names {
		c.rule(path.Index(i), sign, name)
	}
}

func (c *checker) permission(path *field.Path, rule string) {
	if rule == "" {
		return
	}
	if rule[0] == '+' || rule[0] == '-' {
		c.rule(path, rule[:1], rule[1:])
	} else if v, found := Database(rule); found && v.Problem == "" && !v.In(c.version) {
		c.tooNew(path, rule, v.Since)
	}
}

func (c *checker) rule(path *field.Path, sign, name string) {
	if !hasForm(strings.ToLower(name)) {
		return
	}
	v := Judge(sign, name, c.modules)
	switch {
	case v.Unknown:
		c.notFound(path, name, v.Problem)
	case v.Problem != "":
		c.errs = append(c.errs, field.Invalid(path, name, v.Problem))
	case sign == "+" && !v.In(c.version):
		c.tooNew(path, name, v.Since)
	}
}

func (c *checker) tooNew(path *field.Path, name, since string) {
	c.notFound(path, name, fmt.Sprintf("unknown to Valkey %s; it exists from %s on", c.version, since))
}

func (c *checker) notFound(path *field.Path, name, why string) {
	err := field.NotFound(path, name)
	err.Detail = fmt.Sprintf("%q is %s", name, why)
	c.errs = append(c.errs, err.WithOrigin(UnknownName))
}

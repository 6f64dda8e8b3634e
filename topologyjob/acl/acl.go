// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// DefaultUser is the user of clients that name none.
const DefaultUser = "default"

// Input is everything that an ACL file is made of.
type Input struct {
	// Topology decides which system users there are and what they may do.
	Topology v1alpha1.Topology
	// Open leaves the default user without a password (spec.auth.enabled false).
	Open bool
	// Users are those of the cluster and its ValkeyACLs, merged (Merge).
	Users []v1alpha1.UserSpec
	// Hashes are the hashes of each user's valid passwords, as Hash makes them:
	// by name, of the default user and the system users too. Several hashes are
	// several valid passwords.
	Hashes map[string][]string
	// Modules says that modules are loaded, whose commands no table knows.
	Modules bool
}

// User is one user with its rules, in the order in which ACL SETUSER takes them
// after `reset`.
type User struct {
	Name  string
	Rules []string
}

// Line is the user's line of an ACL file, without a line end.
func (u User) Line() string {
	return "user " + u.Name + " " + strings.Join(u.Rules, " ")
}

// Text returns the ACL file of data pods of a minor version ("8.0" to "9.1"): the
// default user, the system users, then the others by name, one line each. The
// error names every fault of the input; there is then no text.
func Text(version string, in Input) (string, error) {
	return text(DataUsers(version, in))
}

// SentinelText returns the ACL file of the sentinels of a minor version: the same
// users with the same passwords, who may find the primary and watch the events.
func SentinelText(version string, in Input) (string, error) {
	return text(SentinelUsers(version, in))
}

func text(users []User, err error) (string, error) {
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, u := range users {
		b.WriteString(u.Line())
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// DataUsers returns the users of data pods of a minor version, in the order of
// the file.
func DataUsers(version string, in Input) ([]User, error) {
	return compose(version, in, defaultRules(), systemRules(version, in.Topology), func(path *field.Path, u *v1alpha1.UserSpec) ([]string, field.ErrorList) {
		return userRules(path, version, u, in.Modules)
	})
}

// SentinelUsers returns the users of sentinels of a minor version, in the order
// of the file.
func SentinelUsers(version string, in Input) ([]User, error) {
	return compose(version, in, discoveryRules(), sentinelSystemRules(), func(path *field.Path, u *v1alpha1.UserSpec) ([]string, field.ErrorList) {
		// What its rules say of data commands a sentinel does not know; that they
		// are well-formed is checked all the same.
		_, errs := userRules(path, version, u, in.Modules)
		return discoveryRules(), errs
	})
}

// compose puts passwords before rules for the default user, the system users and
// the users of the input.
func compose(version string, in Input, forDefault []string, system map[string][]string, rules func(*field.Path, *v1alpha1.UserSpec) ([]string, field.ErrorList)) ([]User, error) {
	if !slices.Contains(v1alpha1.Versions(), version) {
		return nil, fmt.Errorf("version %q: unknown, must be one of %s", version, strings.Join(v1alpha1.Versions(), ", "))
	}
	problems := duplicates(in.Users)
	var users []User
	add := func(name string, enabled, nopass bool, rules []string) {
		login, err := loginRules(name, enabled, nopass, in.Hashes[name])
		if err != nil {
			problems = append(problems, err)
			return
		}
		users = append(users, User{Name: name, Rules: append(login, rules...)})
	}
	add(DefaultUser, true, in.Open, forDefault)
	for _, name := range SystemUsers(in.Topology) {
		add(name, true, false, system[name])
	}
	for _, u := range sorted(in.Users) {
		path := field.NewPath("user").Key(u.Name)
		its, errs := rules(path, &u)
		errs = append(checkName(path, u.Name), errs...)
		if len(errs) > 0 {
			problems = append(problems, errs.ToAggregate())
			continue
		}
		add(u.Name, u.IsEnabled(), u.Nopass, its)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return users, nil
}

func sorted(users []v1alpha1.UserSpec) []v1alpha1.UserSpec {
	return slices.SortedFunc(slices.Values(users), func(a, b v1alpha1.UserSpec) int {
		return strings.Compare(a.Name, b.Name)
	})
}

func duplicates(users []v1alpha1.UserSpec) []error {
	var problems []error
	seen := map[string]bool{}
	for _, u := range users {
		if seen[u.Name] {
			problems = append(problems, fmt.Errorf("user %q: there more than once", u.Name))
		}
		seen[u.Name] = true
	}
	return problems
}

// loginRules say whether and with what a user may log in. Someone who may not
// needs no password.
func loginRules(name string, enabled, nopass bool, hashes []string) ([]string, error) {
	rules := []string{"on"}
	if !enabled {
		rules = []string{"off"}
	}
	switch {
	case nopass:
		return append(rules, "nopass"), nil
	case len(hashes) == 0 && enabled:
		return nil, fmt.Errorf("user %s: no password", name)
	}
	for _, hash := range hashes {
		if !isHash(hash) {
			return nil, fmt.Errorf("user %s: a password hash is not 64 lower-case hexadecimal digits", name)
		}
		if rule := "#" + hash; !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	return rules, nil
}

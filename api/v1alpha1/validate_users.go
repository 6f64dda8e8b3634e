// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The forms of what an ACL line is made of. None holds a space, so nothing here
// can become a second token, and none a line break, so nothing a second user.
var (
	userNameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@:+-]*$`)
	categoryForm = regexp.MustCompile(`^@[a-z][a-z0-9_-]*$`)
	commandForm  = regexp.MustCompile(`^[a-z][a-z0-9._-]*(\|[a-z0-9._-]+)?$`)
)

const (
	maxUserName    = 128
	maxPermissions = 4096
	maxPattern     = 512
	maxCommand     = 64
)

// validateUsers checks the ACL users of the named cluster.
func validateUsers(v *violations, path *field.Path, users []UserSpec, cluster string) {
	seen := map[string]bool{}
	for i := range users {
		at, u := path.Index(i), &users[i]
		if seen[u.Name] {
			v.duplicate(at.Child("name"), u.Name)
		}
		seen[u.Name] = true
		validateUserName(v, at.Child("name"), u.Name)
		validatePassword(v, at, u, cluster)
		if u.Commands != nil {
			validateCommands(v, at.Child("commands", "allow"), u.Commands.Allow)
			validateCommands(v, at.Child("commands", "deny"), u.Commands.Deny)
		}
		if u.Keys != nil {
			validatePatterns(v, at.Child("keys", "readWrite"), u.Keys.ReadWrite)
			validatePatterns(v, at.Child("keys", "readOnly"), u.Keys.ReadOnly)
			validatePatterns(v, at.Child("keys", "writeOnly"), u.Keys.WriteOnly)
		}
		validatePatterns(v, at.Child("channels"), u.Channels)
		validatePermissions(v, at.Child("permissions"), u.Permissions)
	}
}

func validateUserName(v *violations, path *field.Path, name string) {
	switch {
	case name == "":
		v.required(path, "name of the user")
	case name == "default":
		v.invalid(path, name, "is the default user, which spec.auth describes")
	case strings.HasPrefix(name, "_"):
		v.invalid(path, name, "names that begin with '_' are the system users': did you mean %q?", strings.TrimLeft(name, "_"))
	case !userNameForm.MatchString(name):
		v.invalid(path, name, "must be letters, digits and any of . _ @ : + - behind the first")
	case len(name) > maxUserName:
		v.list = append(v.list, field.TooLong(path, name, maxUserName))
	}
}

// validatePassword holds that a user logs in with the passwords of a Secret or,
// said so, with any.
func validatePassword(v *violations, at *field.Path, u *UserSpec, cluster string) {
	path := at.Child("passwordSecret")
	if u.Nopass {
		if u.PasswordSecret != nil {
			v.forbidden(path, "a user with nopass has no password: remove one of the two")
		}
		return
	}
	secret := u.Password(cluster)
	v.subdomain(path.Child("name"), secret.Name)
	if slices.Contains([]string{cluster + "-system", cluster + "-acl"}, secret.Name) {
		v.invalid(path.Child("name"), secret.Name, "is written by the reconciler")
	}
	seen := map[string]bool{}
	for i, key := range secret.Keys {
		if seen[key] {
			v.duplicate(path.Child("keys").Index(i), key)
		}
		seen[key] = true
		if key == "" {
			v.required(path.Child("keys").Index(i), "key in the Secret")
		}
		if key != "" && key == u.Name && len(validation.IsConfigMapKey(key)) > 0 {
			// The default, which nobody has written; a name that is none is an error
			// by itself.
			if !userNameForm.MatchString(u.Name) {
				continue
			}
			v.required(path.Child("keys"), "no key of a Secret can have the name of the user: write keys, for example [%s]", nearestKey(key))
			continue
		}
		v.key(path.Child("keys").Index(i), key)
	}
	if len(secret.Keys) > 8 {
		v.list = append(v.list, field.TooMany(path.Child("keys"), len(secret.Keys), 8))
	}
}

// nearestKey makes a key of a Secret out of the name of a user.
func nearestKey(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("@:+", r) {
			return '.'
		}
		return r
	}, name)
}

func validateCommands(v *violations, path *field.Path, commands []string) {
	for i, name := range commands {
		at := path.Index(i)
		lower := strings.ToLower(name)
		bare := strings.TrimLeft(lower, "+-")
		switch {
		case name == "":
			v.required(at, "a command, a subcommand like config|get, or a category like @read")
		case commandForm.MatchString(name) || categoryForm.MatchString(name):
			if len(name) > maxCommand {
				v.list = append(v.list, field.TooLong(at, name, maxCommand))
			}
		case name == "*":
			v.invalid(at, name, "did you mean @all?")
		case bare != name && (commandForm.MatchString(bare) || categoryForm.MatchString(bare)):
			v.invalid(at, name, "must be in lower case and without '+' or '-': did you mean %s?", bare)
		default:
			v.invalid(at, name, "must be one command, a subcommand like config|get, or a category like @read")
		}
	}
}

func validatePatterns(v *violations, path *field.Path, patterns []string) {
	for i, pattern := range patterns {
		at := path.Index(i)
		switch {
		case pattern == "":
			v.required(at, "a pattern; * matches everything")
		case strings.ContainsFunc(pattern, unicode.IsSpace):
			v.invalid(at, pattern, "must not contain a space: an ACL rule ends there; ? matches any character")
		case len(pattern) > maxPattern:
			v.list = append(v.list, field.TooLong(at, pattern, maxPattern))
		default:
			v.printable(at, pattern)
		}
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package setting

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/topologyjob/acl"
)

// ParseUsers reads an ACL file, or the lines of ACL LIST. Errors tell no rule, since one
// may be a password.
func ParseUsers(text string) ([]acl.User, error) {
	var users []acl.User
	seen := map[string]bool{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case words[0] != "user" || len(words) < 2:
			return nil, fmt.Errorf("line %d: is not \"user NAME RULES\"", number)
		case seen[words[1]]:
			return nil, fmt.Errorf("line %d: user %s is there twice", number, words[1])
		}
		seen[words[1]] = true
		users = append(users, acl.User{Name: words[1], Rules: words[2:]})
	}
	if !seen[acl.DefaultUser] {
		return nil, errors.New("has no line for the user default: it was emptied or cut short")
	}
	return users, nil
}

// Changes are what makes the users of a server those that are wanted.
type Changes struct {
	// Set are users that are to be given their rules, in the order of the file.
	Set []acl.User
	// Gone are users that are to be deleted, sorted.
	Gone []string
	// Revoked are those of Set who lose a password or may log in no more, sorted.
	Revoked []string
}

// Empty reports whether there is nothing to do.
func (c Changes) Empty() bool { return len(c.Set) == 0 && len(c.Gone) == 0 }

// UserChanges compares users. same, when not nil, says of users that differ in how they
// are written that they are the same.
func UserChanges(wanted, observed []acl.User, same func(wanted, observed acl.User) bool) Changes {
	var c Changes
	there := map[string]acl.User{}
	for _, u := range observed {
		there[u.Name] = u
	}
	for _, want := range wanted {
		have, found := there[want.Name]
		delete(there, want.Name)
		if found && (Normal(want) == Normal(have) || same != nil && same(want, have)) {
			continue
		}
		c.Set = append(c.Set, want)
		if found && loses(LoginOf(have), LoginOf(want)) {
			c.Revoked = append(c.Revoked, want.Name)
		}
	}
	for called := range there {
		if called != acl.DefaultUser {
			c.Gone = append(c.Gone, called)
		}
	}
	slices.Sort(c.Gone)
	slices.Sort(c.Revoked)
	return c
}

// Widened are users who take, beside their own passwords, those that they take on a
// server already. Who may log in without one there still may.
func Widened(wanted, observed []acl.User) []acl.User {
	var wide []acl.User
	for _, u := range wanted {
		i := slices.IndexFunc(observed, func(o acl.User) bool { return o.Name == u.Name })
		own := LoginOf(u)
		if i < 0 || !own.On || own.Nopass {
			wide = append(wide, u)
			continue
		}
		rules := slices.Clone(u.Rules)
		before := LoginOf(observed[i])
		for _, hash := range before.Hashes {
			if before.On && !slices.Contains(own.Hashes, hash) {
				rules = append(rules, "#"+hash)
			}
		}
		if before.On && before.Nopass {
			rules = append(rules, "nopass")
		}
		wide = append(wide, acl.User{Name: u.Name, Rules: rules})
	}
	return wide
}

// Login is with what a user may log in.
type Login struct {
	On, Nopass bool
	// Hashes of passwords, sorted.
	Hashes []string
}

// Equal compares logins.
func (l Login) Equal(other Login) bool {
	return l.On == other.On && l.Nopass == other.Nopass && slices.Equal(l.Hashes, other.Hashes)
}

// Accepts reports whether one of the passwords is right.
func (l Login) Accepts(passwords ...string) bool {
	if !l.On || l.Nopass {
		return l.On
	}
	return slices.ContainsFunc(passwords, func(password string) bool {
		sum := sha256.Sum256([]byte(password))
		return slices.Contains(l.Hashes, hex.EncodeToString(sum[:]))
	})
}

// loses reports whether somebody who could log in before can no more.
func loses(before, after Login) bool {
	switch {
	case !before.On || after.On && after.Nopass:
		return false
	case !after.On || before.Nopass:
		return true
	}
	return slices.ContainsFunc(before.Hashes, func(hash string) bool { return !slices.Contains(after.Hashes, hash) })
}

// LoginOf reads how a user may log in.
func LoginOf(u acl.User) Login { return parseRules(u.Rules).login }

// Normal is a user as text that is the same for rules that mean the same to a server, as
// far as one is known that writes them: it mends order and repetition as ACL LIST does.
// Rules that are equal in another way only differ.
func Normal(u acl.User) string { return "user " + u.Name + " " + parseRules(u.Rules).String() }

// SetsUsers reports whether a user may put users right: ACL SETUSER and ACL LIST, as far
// as its rules say by name or category. Who takes these from himself cannot take it back.
func SetsUsers(u acl.User) bool {
	root := parseRules(u.Rules).root
	for _, subcommand := range []string{"setuser", "list"} {
		allowed := root.base == "+@all"
		for _, rule := range root.commands {
			switch rule[1:] {
			case "acl", "acl|" + subcommand, "@admin", "@dangerous", "@slow":
				allowed = rule[0] == '+'
			}
		}
		if !allowed {
			return false
		}
	}
	return true
}

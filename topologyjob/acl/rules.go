// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// defaultRules let the default user do everything, as on a server without ACLs.
func defaultRules() []string { return []string{"~*", "resetchannels", "&*", "+@all"} }

// userRules are the rules of a user of spec, in the order of its fields. Commands
// that this version does not know and a later one does are left out.
func userRules(version string, u *v1alpha1.UserSpec, modules bool) ([]string, error) {
	w := &ruleWriter{version: version, modules: modules, rules: &ruleList{}}
	if keys := u.Keys; keys != nil {
		w.patterns("keys.readWrite", "~", keys.ReadWrite)
		w.patterns("keys.readOnly", "%R~", keys.ReadOnly)
		w.patterns("keys.writeOnly", "%W~", keys.WriteOnly)
	}
	// A directive could give new users every channel.
	w.rules.add("resetchannels")
	w.patterns("channels", "&", u.Channels)
	if commands := u.Commands; commands != nil {
		for _, c := range commands.Allow {
			w.command("commands.allow", "+", c)
		}
		for _, c := range commands.Deny {
			w.command("commands.deny", "-", c)
		}
	}
	w.permissions(u.Permissions)
	return w.rules.words, errors.Join(w.problems...)
}

// ruleList is the rules of a user, or of one selector. The server refuses a key or
// channel pattern after one for all of them, as it would add nothing; such are
// left out.
type ruleList struct {
	words                []string
	allKeys, allChannels bool
}

func (l *ruleList) add(rule string) {
	lower := strings.ToLower(rule)
	switch {
	case lower == "allkeys" || lower == "~*":
		l.allKeys = true
	case lower == "resetkeys":
		l.allKeys = false
	case lower == "allchannels" || lower == "&*":
		l.allChannels = true
	case lower == "resetchannels":
		l.allChannels = false
	case l.allKeys && (rule[0] == '~' || rule[0] == '%'), l.allChannels && rule[0] == '&':
		return
	}
	l.words = append(l.words, rule)
}

// ruleWriter collects rules and what is wrong with them.
type ruleWriter struct {
	version  string
	modules  bool
	rules    *ruleList
	problems []error
}

func (w *ruleWriter) fail(field, format string, args ...any) {
	w.problems = append(w.problems, fmt.Errorf(field+": "+format, args...))
}

func (w *ruleWriter) patterns(field, prefix string, patterns []string) {
	for _, p := range patterns {
		if err := checkWord(p); err != nil {
			w.fail(field, "%w", err)
			continue
		}
		w.rules.add(prefix + p)
	}
}

func (w *ruleWriter) command(field, sign, command string) {
	if w.known(field, sign, command) {
		w.rules.add(sign + command)
	}
}

// known says whether the server of this version takes the command or category;
// one that no version takes is a problem.
func (w *ruleWriter) known(field, sign, command string) bool {
	lower := strings.ToLower(command)
	if !isCommand(lower) {
		w.fail(field, "%q is no command, subcommand (config|get) or category (@read)", command)
		return false
	}
	first, argument, found := since(lower)
	switch {
	case argument && sign == "-":
		w.fail(field, "%q: the first argument of a command can be allowed, not denied", command)
		return false
	case found:
		return atLeast(w.version, first)
	case w.modules:
		return true
	}
	if near := closest(lower); near != "" {
		w.fail(field, "%q is unknown to every version; did you mean %q?", command, near)
	} else {
		w.fail(field, "%q is unknown to every version", command)
	}
	return false
}

// isCommand says whether s, in lower case, has the form of a command, of a
// subcommand or first argument after `|`, or of a category after `@`.
func isCommand(s string) bool {
	name, sub, hasSub := strings.Cut(strings.TrimPrefix(s, "@"), "|")
	return isName(name) && (!hasSub || isName(sub) && s[0] != '@')
}

func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// permissions takes further rules as ACL SETUSER does, but none about passwords,
// none that undoes what the fields say, and whole selectors only.
func (w *ruleWriter) permissions(text string) {
	const field = "permissions"
	if err := checkText(text); err != nil {
		w.fail(field, "%w", err)
		return
	}
	var selector *ruleList
	for _, word := range strings.Fields(text) {
		rule := word
		if inner, opens := strings.CutPrefix(word, "("); opens {
			if selector != nil {
				w.fail(field, "%q: a selector inside of a selector", word)
				return
			}
			selector, rule = &ruleList{}, inner
		}
		closes := false
		if selector != nil {
			rule, closes = strings.CutSuffix(rule, ")")
		}
		if rule != "" && w.rule(field, rule, selector != nil) {
			if selector != nil {
				selector.add(rule)
			} else {
				w.rules.add(rule)
			}
		}
		if closes {
			w.rules.add("(" + strings.Join(selector.words, " ") + ")")
			selector = nil
		}
	}
	if selector != nil {
		w.fail(field, "a selector without its closing parenthesis")
	}
}

// rule says whether one rule of permissions is kept.
func (w *ruleWriter) rule(field, rule string, inSelector bool) bool {
	switch rule[0] {
	case '+', '-':
		return w.known(field, rule[:1], rule[1:])
	case '~', '&', '%':
		return w.pattern(field, rule)
	}
	switch strings.ToLower(rule) {
	case "allkeys", "resetkeys", "allchannels", "resetchannels", "allcommands", "nocommands":
		return true
	case "sanitize-payload", "skip-sanitize-payload", "clearselectors":
		if inSelector {
			w.fail(field, "%s: is about the user, not for a selector", rule)
		}
		return !inSelector
	case "on", "off":
		w.fail(field, "%s: use the field enabled", rule)
	case "nopass":
		w.fail(field, "%s: use the field nopass", rule)
	case "reset", "resetpass":
		w.fail(field, "%s: would undo the other fields", rule)
	default:
		if strings.ContainsRune("<>#!", rune(rule[0])) {
			// Not echoed: it may be a password.
			w.fail(field, "passwords belong in a Secret, use passwordSecret")
		} else {
			w.fail(field, "%q is no rule", rule)
		}
	}
	return false
}

// pattern checks ~key, &channel and %RW~key.
func (w *ruleWriter) pattern(field, rule string) bool {
	if rule[0] != '%' {
		return true
	}
	access, _, found := strings.Cut(rule[1:], "~")
	if !found || !slices.Contains([]string{"R", "W", "RW", "WR"}, strings.ToUpper(access)) {
		w.fail(field, "%q: %% takes R, W or RW and a ~pattern", rule)
		return false
	}
	return true
}

// checkName refuses names that could be more than one word of a line, or are not
// for users of spec.
func checkName(name string) error {
	if err := checkWord(name); err != nil {
		return fmt.Errorf("user name: %w", err)
	}
	switch {
	case name == DefaultUser:
		return fmt.Errorf("user %q: spec.auth is about this one", name)
	case strings.HasPrefix(name, "_"):
		return fmt.Errorf("user %q: names with a leading underscore are the system's", name)
	}
	return nil
}

// checkWord refuses what an ACL file would not read as exactly one word.
func checkWord(s string) error {
	if s == "" {
		return errors.New("an empty word")
	}
	if strings.ContainsFunc(s, unicode.IsSpace) {
		return fmt.Errorf("%q holds white space", s)
	}
	return checkText(s)
}

func checkText(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%q is not UTF-8", s)
	}
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\n' }) {
		return fmt.Errorf("%q holds a control character", s)
	}
	return nil
}

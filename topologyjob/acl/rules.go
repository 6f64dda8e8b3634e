// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/command"
)

// defaultRules let the default user do everything, as on a server without ACLs.
func defaultRules() []string { return []string{"~*", "resetchannels", "&*", "+@all"} }

// Check returns what Text would refuse of users, with the place of each: path is
// that of the list. modules says that modules are loaded, whose commands no table
// knows. It says nothing of passwords.
func Check(path *field.Path, users []v1alpha1.UserSpec, modules bool) field.ErrorList {
	var errs field.ErrorList
	for i := range users {
		errs = append(errs, checkName(path.Index(i).Child("name"), users[i].Name)...)
		_, more := userRules(path.Index(i), v1alpha1.DefaultVersion, &users[i], modules)
		errs = append(errs, more...)
	}
	return errs
}

// userRules are the rules of a user of spec, in the order of its fields. Commands
// and rules about
// databases that this version does not know and another one does are left out.
func userRules(path *field.Path, version string, u *v1alpha1.UserSpec, modules bool) ([]string, field.ErrorList) {
	w := &ruleWriter{version: version, rules: &ruleList{}}
	if modules {
		w.modules = command.SomeModules
	}
	if keys := u.Keys; keys != nil {
		w.patterns(path.Child("keys", "readWrite"), "~", keys.ReadWrite)
		w.patterns(path.Child("keys", "readOnly"), "%R~", keys.ReadOnly)
		w.patterns(path.Child("keys", "writeOnly"), "%W~", keys.WriteOnly)
	}
	// A directive could give new users every channel.
	w.rules.add("resetchannels")
	w.patterns(path.Child("channels"), "&", u.Channels)
	if commands := u.Commands; commands != nil {
		w.commands(path.Child("commands", "allow"), "+", commands.Allow)
		w.commands(path.Child("commands", "deny"), "-", commands.Deny)
	}
	w.permissions(path.Child("permissions"), u.Permissions)
	return w.rules.words, w.errs
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
	version string
	modules command.Modules
	rules   *ruleList
	errs    field.ErrorList
}

func (w *ruleWriter) invalid(path *field.Path, value, format string, args ...any) {
	w.errs = append(w.errs, field.Invalid(path, value, fmt.Sprintf(format, args...)))
}

func (w *ruleWriter) patterns(path *field.Path, prefix string, patterns []string) {
	for i, p := range patterns {
		if why := notOneWord(p); why != "" {
			w.invalid(path.Index(i), p, "%s", why)
			continue
		}
		w.rules.add(prefix + p)
	}
}

func (w *ruleWriter) commands(path *field.Path, sign string, commands []string) {
	for i, c := range commands {
		if w.known(path.Index(i), sign, c) {
			w.rules.add(sign + c)
		}
	}
}

// known says whether the server of this version takes the command or category;
// one that no version takes is a problem.
func (w *ruleWriter) known(path *field.Path, sign, name string) bool {
	verdict := command.Judge(sign, name, w.modules)
	if verdict.Problem != "" {
		w.invalid(path, name, "%s", verdict.Problem)
	}
	return verdict.In(w.version)
}

// permissions takes further rules as ACL SETUSER does, but none about passwords,
// none that undoes what the fields say, and whole selectors only.
func (w *ruleWriter) permissions(path *field.Path, text string) {
	if why := notText(text); why != "" {
		w.invalid(path, text, "%s", why)
		return
	}
	var selector *ruleList
	for _, word := range strings.Fields(text) {
		rule := word
		if inner, opens := strings.CutPrefix(word, "("); opens {
			if selector != nil {
				w.invalid(path, word, "a selector inside of a selector")
				return
			}
			selector, rule = &ruleList{}, inner
		}
		closes := false
		if selector != nil {
			rule, closes = strings.CutSuffix(rule, ")")
		}
		if rule != "" && w.rule(path, rule, selector != nil) {
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
		w.invalid(path, text, "a selector without its closing parenthesis")
	}
}

// rule says whether one rule of permissions is kept.
func (w *ruleWriter) rule(path *field.Path, rule string, inSelector bool) bool {
	switch rule[0] {
	case '+', '-':
		return w.known(path, rule[:1], rule[1:])
	case '~', '&', '%':
		return w.pattern(path, rule)
	}
	if verdict, found := command.Database(rule); found {
		if verdict.Problem != "" {
			w.invalid(path, rule, "%s", verdict.Problem)
		}
		return verdict.In(w.version)
	}
	switch strings.ToLower(rule) {
	case "allkeys", "resetkeys", "allchannels", "resetchannels", "allcommands", "nocommands":
		return true
	case "sanitize-payload", "skip-sanitize-payload", "clearselectors":
		if inSelector {
			w.invalid(path, rule, "is about the user, not for a selector")
		}
		return !inSelector
	case "on", "off":
		w.invalid(path, rule, "use the field enabled")
	case "nopass":
		w.invalid(path, rule, "use the field nopass")
	case "reset", "resetpass":
		w.invalid(path, rule, "would undo the other fields")
	default:
		if strings.ContainsRune("<>#!", rune(rule[0])) {
			// Not echoed: it may be a password.
			w.errs = append(w.errs, field.Forbidden(path, "passwords belong in a Secret; use passwordSecret"))
		} else {
			w.invalid(path, rule, "is no rule of ACL SETUSER")
		}
	}
	return false
}

// pattern checks ~key, &channel and %RW~key.
func (w *ruleWriter) pattern(path *field.Path, rule string) bool {
	if rule[0] != '%' {
		return true
	}
	access, _, found := strings.Cut(rule[1:], "~")
	if !found || !slices.Contains([]string{"R", "W", "RW", "WR"}, strings.ToUpper(access)) {
		w.invalid(path, rule, "%% takes R, W or RW and a ~pattern")
		return false
	}
	return true
}

// checkName refuses names that could be more than one word of a line, or are not
// for users of spec.
func checkName(path *field.Path, name string) field.ErrorList {
	why := notOneWord(name)
	switch {
	case why != "":
	case name == DefaultUser:
		why = "spec.auth is about this one"
	case strings.HasPrefix(name, "_"):
		why = "names with a leading underscore are the system's"
	default:
		return nil
	}
	return field.ErrorList{field.Invalid(path, name, why)}
}

// notOneWord says why an ACL file would not read s as exactly one word.
func notOneWord(s string) string {
	switch {
	case s == "":
		return "is empty"
	case strings.ContainsFunc(s, unicode.IsSpace):
		return "holds white space"
	}
	return notText(s)
}

// notText says why s cannot be part of a file of lines.
func notText(s string) string {
	switch {
	case !utf8.ValidString(s):
		return "is not UTF-8"
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\n' }):
		return "holds a control character"
	}
	return ""
}

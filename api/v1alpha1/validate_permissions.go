// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// databaseForm is a rule of Valkey 9.1 for numbered databases.
var databaseForm = regexp.MustCompile(`^(db=[0-9]+(,[0-9]+)*|alldbs|resetdbs)$`)

// validatePermissions checks free ACL rules. They may hold everything that ACL
// SETUSER takes but what other fields hold (on, off, nopass), what would undo
// them (reset, resetpass), and passwords, which belong in Secrets.
func validatePermissions(v *violations, path *field.Path, text string) {
	if !v.printable(path, text) {
		return
	}
	if len(text) > maxPermissions {
		v.list = append(v.list, field.TooLong(path, "", maxPermissions))
		return
	}
	depth := 0
	for token := range strings.FieldsSeq(text) {
		rule := token
		if strings.HasPrefix(rule, "(") {
			if depth > 0 {
				v.invalid(path, token, "a selector cannot stand inside of another")
			}
			depth++
			rule = rule[1:]
		}
		closes := depth > 0 && strings.HasSuffix(rule, ")")
		if closes {
			rule = rule[:len(rule)-1]
		}
		if why := permission(rule, depth > 0); why != "" {
			v.invalid(path, token, "%s", why)
		}
		if closes {
			depth--
		}
	}
	if depth > 0 {
		v.invalid(path, text, "a selector's parenthesis is not closed")
	}
}

// permission says why one ACL rule is refused; empty when it is not.
func permission(rule string, inSelector bool) string {
	lower := strings.ToLower(rule)
	switch lower {
	case "":
		if inSelector {
			return ""
		}
	case "allkeys", "resetkeys", "allchannels", "resetchannels", "allcommands", "nocommands":
		return ""
	case "clearselectors", "sanitize-payload", "skip-sanitize-payload":
		if inSelector {
			return "cannot stand inside of a selector"
		}
		return ""
	case "on", "off":
		return "did you mean the field enabled?"
	case "nopass":
		return "did you mean the field nopass?"
	case "reset", "resetpass":
		return "would undo what the other fields say"
	}
	if databaseForm.MatchString(lower) {
		return ""
	}
	return permissionByMark(rule)
}

const noRule = "is no ACL rule: +command, -command, +@category, ~pattern, %R~pattern, &pattern or (selector)"

// permissionByMark judges the rules that their first character tells apart.
func permissionByMark(rule string) string {
	if rule == "" {
		return noRule
	}
	switch rest := rule[1:]; rule[0] {
	case '>', '<', '#', '!':
		return "passwords belong in the Secret that passwordSecret names"
	case '+', '-':
		if bare := strings.ToLower(rest); commandForm.MatchString(bare) || categoryForm.MatchString(bare) {
			return ""
		}
		return "must name one command, a subcommand like +config|get, or a category like +@read"
	case '~', '&':
		if rest != "" {
			return ""
		}
	case '%':
		if flags, pattern, ok := strings.Cut(rest, "~"); ok && pattern != "" && flags != "" && strings.Trim(strings.ToUpper(flags), "RW") == "" {
			return ""
		}
		return "must be like %R~pattern, %W~pattern or %RW~pattern"
	}
	return noRule
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package write

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/valkey-render/valkey-render/internal/oldbool"
)

// printable holds for what YAML allows in a line and a reader can see.
func printable(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r >= 0xfff0 && r <= 0xffff && r != 0xfffd:
		return false
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // bidirectional overrides
		return false
	}
	return true
}

func validUTF8(s string) bool { return utf8.ValidString(s) }

// notText matches what YAML 1.1 or 1.2 reads as a number, a time, a boolean or
// nothing, but for the words of package oldbool.
var notText = regexp.MustCompile(`^(?i:` +
	`true|false|null|~|=|<<` +
	`|[-+]?\.(inf|nan)` +
	`|[-+]?[0-9][0-9_,]*(:[0-5]?[0-9])+(\.[0-9_]*)?` + // base 60
	`|[-+]?0[xob]?[-+]?[0-9a-f_]+` + // go.yaml.in/yaml takes a sign behind the prefix too
	`|[-+]?(\.[0-9_]+|[0-9][0-9_]*(\.[0-9_]*)?)(e[-+]?[0-9_]+)?` +
	`|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?` +
	`)$`)

// plain says whether a text needs no quotes in block context: it is text to
// readers of every version, and nothing in it ends or splits it.
func plain(s string) bool {
	if s == "" || s[0] == ' ' || s[len(s)-1] == ' ' || s[len(s)-1] == ':' {
		return false
	}
	if strings.IndexByte("?:,[]{}#&*!|>'\"%@`=~", s[0]) >= 0 || strings.HasPrefix(s, "---") || strings.HasPrefix(s, "...") {
		return false
	}
	if s[0] == '-' && (len(s) == 1 || s[1] == ' ') {
		return false
	}
	if strings.Contains(s, ": ") || strings.Contains(s, " #") {
		return false
	}
	for _, r := range s {
		if !printable(r) {
			return false
		}
	}
	if !utf8.ValidString(s) {
		return false
	}
	if strings.IndexByte("yYnNtTfFoO.+-0123456789<", s[0]) < 0 {
		return true
	}
	if s[0] >= 'A' && len(s) > len("false") {
		// What begins with a letter is only mistaken when it is one of the words.
		return true
	}
	return !mistaken(s)
}

// mistaken says whether a reader of some version of YAML takes a text for something
// else.
func mistaken(s string) bool {
	if _, old := oldbool.Read(strings.ToLower(s)); old {
		return true
	}
	return notText.MatchString(s) || notText.MatchString(strings.ReplaceAll(s, "_", ""))
}

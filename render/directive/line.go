// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package directive

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// Line writes a directive as text of a config file, without a newline at the end:
// one line, or for a repeatable directive one line per line of the value. A server
// parses back exactly the value. Names that Lookup does not know in any version
// are written with the value as one word.
//
// It is the only way that values become config text: it refuses values with
// control characters (and newlines, except between the entries of a repeatable
// directive), and quotes everything else. It does not check the value otherwise.
func Line(name, value string) (string, error) {
	d := newest(name)
	var lines []string
	entries := []string{value}
	if d.Repeatable {
		entries = strings.Split(value, "\n")
	}
	for _, entry := range entries {
		words := []string{entry}
		if manyWords(d) {
			words = strings.Fields(entry)
		}
		if len(words) == 0 {
			words = []string{""}
		}
		line, err := Words(name, words...)
		if err != nil {
			return "", err
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"), nil
}

// newest is what the newest version that has the name knows of it.
func newest(name string) Directive {
	var newest Directive
	for _, version := range v1alpha1.Versions() {
		if d, found := Lookup(version, name); found {
			newest = d
		}
	}
	return newest
}

// manyWords tells the directives whose value is several words of a line.
func manyWords(d Directive) bool {
	switch d.Type {
	case Flags, Save, OutputBufferLimit, OOMScoreValues, Percentiles:
		return true
	}
	return d.Name == "bind" || d.Name == "replicaof"
}

var directiveName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]*$`)

// Words writes a directive with several words, each quoted where it must be, as
// Line does: for include, loadmodule, user and the like.
func Words(name string, words ...string) (string, error) {
	if !directiveName.MatchString(name) {
		return "", fmt.Errorf("directive name %q is no word of letters, digits and hyphens", name)
	}
	parts := []string{strings.ToLower(name)}
	for _, word := range words {
		if err := printable(word); err != nil {
			return "", fmt.Errorf("%s: value %w", name, err)
		}
		parts = append(parts, quote(word))
	}
	return strings.Join(parts, " "), nil
}

var bare = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,=*~&|!$-]+$`)

// quote makes one word of the server's config syntax. Within double quotes the
// server knows a backslash and a quote by a backslash before them.
func quote(word string) string {
	if bare.MatchString(word) {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package setting

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/render/directive"
)

func TestLinesAreSplitAsTheyWereWritten(t *testing.T) {
	for line, want := range map[string][]string{
		"timeout 300\n":                      {"timeout", "300"},
		`log-prefix "a \"b\" \\ c" d` + "\n": {"log-prefix", `a "b" \ c`, "d"},
		`empty ""`:                           {"empty", ""},
		"# a comment":                        {"#", "a", "comment"},
		"   \n":                              nil,
		"":                                   nil,
	} {
		got, err := splitLine(line)
		if err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got)\n%s", line, diff)
		}
	}
	for _, line := range []string{`a "b`, `a "b"c`, `a b"c"`, `a "b\`} {
		if got, err := splitLine(line); err == nil {
			t.Errorf("%q: %q", line, got)
		}
	}
}

func FuzzSplitLine(f *testing.F) {
	f.Add(`a "b\"c" d`)
	f.Fuzz(func(t *testing.T, line string) {
		words, err := splitLine(line)
		if err != nil {
			return
		}
		total := 0
		for _, word := range words {
			total += len(word)
		}
		if total > len(line) {
			t.Errorf("%q has more in its words", line)
		}
		if len(words) < 2 {
			return
		}
		// What is written again is split the same.
		text, err := directive.Words("name", words...)
		if err != nil {
			return
		}
		again, err := splitLine(strings.TrimPrefix(text, "name "))
		if err != nil || !cmp.Equal(words, again) {
			t.Errorf("%q: %q, again %q, %v", line, words, again, err)
		}
	})
}

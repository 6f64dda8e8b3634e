// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package difference

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// contextLines is how much unchanged text a diff shows around a change.
const contextLines = 3

// Result is how a rendering differs from what is committed.
type Result struct {
	// Diff is a unified diff that turns the committed files into the rendered
	// ones; empty when they are equal.
	Diff []byte
	// Changed, Missing and Extra name the files that differ, that are not
	// committed, and that are committed and no longer rendered; sorted.
	Changed, Missing, Extra []string
}

// Equal reports whether nothing differs.
func (r Result) Equal() bool {
	return len(r.Changed)+len(r.Missing)+len(r.Extra) == 0
}

// Summary is one line for humans.
func (r Result) Summary() string {
	var parts []string
	for _, part := range []struct {
		names []string
		what  string
	}{{r.Changed, "changed"}, {r.Missing, "missing"}, {r.Extra, "no longer rendered"}} {
		if n := len(part.names); n == 1 {
			parts = append(parts, "1 file "+part.what)
		} else if n > 1 {
			parts = append(parts, fmt.Sprintf("%d files %s", n, part.what))
		}
	}
	return strings.Join(parts, ", ")
}

// Compare compares files by name. The name of the golden, a directory or the
// one file, is what the diff shows.
func Compare(committed, rendered map[string][]byte) Result {
	var r Result
	var diff strings.Builder
	names := slices.Sorted(maps.Keys(committed))
	for name := range rendered {
		if _, ok := committed[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		before, inGolden := committed[name]
		after, inRendering := rendered[name]
		from, to := "a/"+name, "b/"+name
		switch {
		case !inGolden:
			r.Missing = append(r.Missing, name)
			from = "/dev/null"
		case !inRendering:
			r.Extra = append(r.Extra, name)
			to = "/dev/null"
		case bytes.Equal(before, after):
			continue
		default:
			r.Changed = append(r.Changed, name)
		}
		unified(&diff, from, to, string(before), string(after))
	}
	r.Diff = []byte(diff.String())
	return r
}

func unified(w *strings.Builder, from, to, before, after string) {
	// A strings.Builder does not fail, which is all that can go wrong here.
	_ = difflib.WriteUnifiedDiff(w, difflib.UnifiedDiff{
		A: lines(before), B: lines(after), FromFile: from, ToFile: to, Context: contextLines,
	})
}

// lines splits a text into lines that each end in a newline; a last line
// without one is marked as diff(1) does.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	split := strings.SplitAfter(text, "\n")
	last := len(split) - 1
	if split[last] == "" {
		return split[:last]
	}
	split[last] += "\n\\ No newline at end of file\n"
	return split
}

// FirstDifference is the line of before, counted from 1, where after begins to
// differ; 1 when either is empty.
func FirstDifference(before, after []byte) int {
	line := 1
	for i := range min(len(before), len(after)) {
		if before[i] != after[i] {
			return line
		}
		if before[i] == '\n' {
			line++
		}
	}
	if len(before) == 0 || len(after) == 0 {
		return 1
	}
	return line
}

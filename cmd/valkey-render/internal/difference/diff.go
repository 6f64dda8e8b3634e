// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package difference

import (
	"bytes"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// contextLines is how much unchanged text a diff shows around a change.
const contextLines = 3

// Unified is the unified diff of one file that leads from what is committed to what
// is rendered. A side that is nil is not there. Both names are the path of the
// file.
func Unified(path string, committed, rendered []byte) []byte {
	from, to := "a/"+path, "b/"+path
	if committed == nil {
		from = "/dev/null"
	}
	if rendered == nil {
		to = "/dev/null"
	}
	var b strings.Builder
	unified(&b, from, to, string(committed), string(rendered))
	return []byte(b.String())
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
// differ; 1 when either is empty. A line that follows from the others, the hash of
// the object, counts only where no other differs.
func FirstDifference(before, after []byte) int {
	if len(before) == 0 || len(after) == 0 {
		return 1
	}
	was, is := numbered(before), numbered(after)
	for i, line := range was {
		if i >= len(is) || line.text != is[i].text {
			return line.number
		}
	}
	if len(is) > len(was) {
		return bytes.Count(before, []byte("\n")) + 1
	}
	return max(1, slices.IndexFunc(strings.Split(string(before), "\n"), isHash)+1)
}

type line struct {
	number int
	text   string
}

// numbered are the lines of a text without the hash of the object.
func numbered(text []byte) []line {
	var out []line
	number := 0
	for text := range strings.Lines(string(text)) {
		number++
		if !isHash(text) {
			out = append(out, line{number, text})
		}
	}
	return out
}

func isHash(text string) bool {
	text = strings.TrimSpace(text)
	return slices.ContainsFunc(v1alpha1.HashAnnotations(), func(key string) bool { return strings.HasPrefix(text, key+":") })
}

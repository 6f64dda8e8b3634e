// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package nearest answers "did you mean": one measure for fields, values, kinds,
// directives and commands alike.
package nearest

import (
	"slices"
	"strings"
)

// Word returns the candidate that a misspelt word most likely means, or "" when
// none is near: equal but for case and separators, the same letters in another
// order, the word less what follows a dot in it (9.1 for 9.1.2), or at most a third of the word's letters away, and one where that is
// none. Among equals the first in candidates wins.
func Word(word string, candidates []string) string {
	lower, bare, letters := strings.ToLower(word), separated.Replace(strings.ToLower(word)), sorted(word)
	best, least := "", max(1, len(word)/3)+1
	for _, candidate := range candidates {
		if candidate == word {
			continue
		}
		other := strings.ToLower(candidate)
		if separated.Replace(other) == bare || sorted(candidate) == letters || other != "" && strings.HasPrefix(lower, other+".") {
			return candidate
		}
		if abs(len(candidate)-len(word)) >= least {
			continue
		}
		if edits := distance(lower, other); edits < least {
			best, least = candidate, edits
		}
	}
	return best
}

// separated takes out what people put between the parts of a name.
var separated = strings.NewReplacer("-", "", "_", "", ".", "", " ", "")

func sorted(s string) string {
	letters := []byte(strings.ToLower(s))
	slices.Sort(letters)
	return string(letters)
}

// distance returns the Levenshtein distance of two strings, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substituted := diagonal
			if a[i] != b[j] {
				substituted++
			}
			diagonal = row[j+1]
			row[j+1] = min(substituted, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

func abs(n int) int { return max(n, -n) }

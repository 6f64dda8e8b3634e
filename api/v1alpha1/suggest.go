// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"maps"
	"slices"
	"strings"
)

// didYouMean returns "did you mean X? " for the candidate nearest to a value,
// and nothing when none is near.
func didYouMean(value string, candidates []string) string {
	if near := nearest(value, candidates); near != "" {
		return "did you mean " + near + "? "
	}
	return ""
}

// nearest returns the candidate that a value was most likely meant to be, not
// minding case: the one with the fewest edits, if those are at most a third of
// its letters and one more. The first of several wins.
func nearest(value string, candidates []string) string {
	best, edits := "", 0
	for _, c := range candidates {
		n := distance(strings.ToLower(value), strings.ToLower(c))
		if n <= len(c)/3+1 && n < len(c) && (best == "" || n < edits) {
			best, edits = c, n
		}
	}
	return best
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

// sortedKeys returns the keys of a map in order, so that findings have one.
func sortedKeys[K ~string, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}

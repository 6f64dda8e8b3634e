// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"maps"
	"slices"

	"github.com/valkey-render/valkey-render/internal/nearest"
)

// didYouMean returns "did you mean X? " for the candidate nearest to a value,
// and nothing when none is near.
func didYouMean(value string, candidates []string) string {
	if near := nearest.Word(value, candidates); near != "" {
		return "did you mean " + near + "? "
	}
	return ""
}

// sortedKeys returns the keys of a map in order, so that findings have one.
func sortedKeys[K ~string, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}

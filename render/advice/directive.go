// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/directive"
	"github.com/valkey-render/valkey-render/render/finding"
)

// oldDirectiveName: servers still take the names that directives had, for as long
// as they like.
func oldDirectiveName(c *v1alpha1.ValkeyCluster) []Advice {
	version := c.ServerVersion()
	all := oldNames(spec().Child("config"), c.Spec.Config, func(given string) (string, bool) {
		d, known := directive.Lookup(version, given)
		return d.Name, known
	})
	if c.Spec.Sentinel == nil {
		return all
	}
	return append(all, oldNames(spec().Child("sentinel", "config"), c.Spec.Sentinel.Config, func(given string) (string, bool) {
		d, known := directive.LookupSentinel(version, given)
		return d.Name, known
	})...)
}

// oldNames compares the names of a map of directives with their present ones.
func oldNames(path *field.Path, config map[string]string, present func(string) (string, bool)) []Advice {
	var all []Advice
	for _, given := range slices.Sorted(maps.Keys(config)) {
		if name, known := present(given); known && name != strings.TrimPrefix(strings.ToLower(given), "sentinel ") {
			all = append(all, one(finding.DeprecatedDirective, path.Key(given),
				"%s is the old name of %s, which may go in a later version", given, name)...)
		}
	}
	return all
}

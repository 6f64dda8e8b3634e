// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/directive"
	"github.com/valkey-render/valkey-render/render/finding"
)

// oldDirectiveName: servers still take the names that directives had, for as long
// as they like.
func oldDirectiveName(c *v1alpha1.ValkeyCluster) []Advice {
	var all []Advice
	for _, given := range sortedKeys(c.Spec.Config) {
		d, ok := directive.Lookup(c.ServerVersion(), given)
		if ok && !strings.EqualFold(d.Name, given) {
			all = append(all, one(finding.DeprecatedDirective, spec().Child("config").Key(given),
				"%s is the old name of %s, which may go in a later version", given, d.Name)...)
		}
	}
	return all
}

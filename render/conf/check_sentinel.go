// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"errors"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/directive"
)

// checkSentinel holds spec.sentinel.config against the table of sentinel.conf.
func checkSentinel(path *field.Path, c *v1alpha1.ValkeyCluster) field.ErrorList {
	var errs field.ErrorList
	first := map[string]string{}
	for _, given := range slices.Sorted(maps.Keys(c.Spec.Sentinel.Config)) {
		value := trimmed(c.Spec.Sentinel.Config[given])
		d, known := directive.LookupSentinel(c.ServerVersion(), given)
		var problem *directive.Problem
		if !errors.As(directive.CheckSentinel(c.ServerVersion(), given, value), &problem) {
			if other, again := first[d.Name]; again {
				problem = &directive.Problem{Name: given, Kind: directive.Duplicate, Message: "is the same directive as " + other}
			}
		}
		if known && first[d.Name] == "" {
			first[d.Name] = given
		}
		if problem != nil {
			errs = append(errs, fieldError(path.Key(given), *problem, value))
		}
	}
	return errs
}

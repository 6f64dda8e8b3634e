// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestConflictHidesNothing(t *testing.T) {
	behind := apierrors.NewConflict(schema.GroupResource{Resource: "valkeyclusters"}, "c", errors.New("changed"))
	denied := apierrors.NewForbidden(schema.GroupResource{Resource: "jobs"}, "c-repair-1", errors.New("no"))
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"none":                    {nil, false},
		"one":                     {behind, true},
		"one with a subject":      {fmt.Errorf("ValkeyCluster/ns/c not written: %w", behind), true},
		"several":                 {errors.Join(behind, fmt.Errorf("Pod/ns/c-0-0 not labelled: %w", behind)), true},
		"beside something else":   {errors.Join(behind, denied), false},
		"something else":          {denied, false},
		"joined within a subject": {fmt.Errorf("ValkeyCluster/ns/c: %w", errors.Join(behind, denied)), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := conflict(c.err); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

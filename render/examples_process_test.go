// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"github.com/valkey-render/valkey-render/internal/conftest"
	"github.com/valkey-render/valkey-render/render/load"
)

// TestProcessServersAcceptEveryExample starts a server of each version with the
// config of each example, and asks it for every value.
func TestProcessServersAcceptEveryExample(t *testing.T) {
	cannot := map[string]conftest.Cannot{
		"production": {"8.0": {"log-format"}, "8.1": {"log-format"}},
	}
	for _, ex := range allExamples(t) {
		t.Run(ex.name, func(t *testing.T) {
			set, findings := load.Parse(ex.sources, load.Options{})
			if err := findings.Err(); err != nil {
				t.Fatal(err)
			}
			for _, c := range set.Clusters {
				conftest.Accept(t, c.Object, cannot[ex.name])
			}
		})
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf_test

import (
	"path/filepath"
	"testing"

	"github.com/valkey-render/valkey-render/internal/conftest"
)

// TestProcessServersAcceptTheText starts a server of each version for every
// pinned spec, and a sentinel where there are any.
func TestProcessServersAcceptTheText(t *testing.T) {
	t.Parallel()
	cannot := map[string]conftest.Cannot{
		"user-directives": {
			"8.0": {"active-defrag-cycle-us", "commandlog-slow-execution-max-len", "log-format", "slot-migration-max-failover-repl-bytes"},
			"8.1": {"log-format", "slot-migration-max-failover-repl-bytes"},
		},
	}
	for _, dir := range cases(t, "text", "expected.txt") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			conftest.Accept(t, read(t, dir), cannot[filepath.Base(dir)])
		})
	}
}

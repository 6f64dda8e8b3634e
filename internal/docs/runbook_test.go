// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestEveryProcedureHasATest: test/e2e/runbook_steps_test.go runs each procedure of the runbook,
// or runbook_test.go names the tests of what it stands on.
func TestEveryProcedureHasATest(t *testing.T) {
	var source []byte
	for _, file := range []string{"runbook_test.go", "runbook_steps_test.go"} {
		text, err := os.ReadFile(filepath.Join(root, "test", "e2e", file))
		if err != nil {
			t.Fatal(err)
		}
		source = append(source, text...)
	}
	procedures := 0
	for _, s := range read(t, "docs/runbook.md").Sections {
		if s.Level != 2 || len(s.Fences) == 0 || s.Title == "Before you begin" {
			continue
		}
		procedures++
		if !strings.Contains(string(source), strconv.Quote(s.Title)) {
			t.Errorf("docs/runbook.md:%d: no test of %q", s.Line, s.Title)
		}
	}
	if procedures < 20 {
		t.Errorf("only %d procedures", procedures)
	}
	named(t, "test/e2e/runbook_test.go", `"`, 8)
}

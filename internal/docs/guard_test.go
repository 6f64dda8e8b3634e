// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/topologyjob/guard"
)

const guardPage = "docs/guard.md"

// TestEveryPolicyHasASection: under the heading of the policies stands each of them
// with what it denies and the way out, and none that there is not.
func TestEveryPolicyHasASection(t *testing.T) {
	sections := map[string]section{}
	under := ""
	for _, s := range read(t, guardPage).Sections {
		switch {
		case s.Level == 2:
			under = s.Title
		case s.Level == 3 && under == "The policies":
			sections[s.Title] = s
		}
	}
	for _, p := range guard.Policies(guard.Options{}) {
		called := strings.TrimPrefix(p.Policy.Name, guard.Prefix)
		s, ok := sections[called]
		if !ok {
			t.Errorf("%s: no section %s", guardPage, called)
			continue
		}
		delete(sections, called)
		said := strings.Join(s.Lines, "\n")
		for _, want := range []string{"Denied: ", "ay out"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s:%d: %s does not say %q", guardPage, s.Line, called, want)
			}
		}
	}
	for title, s := range sections {
		t.Errorf("%s:%d: there is no policy %s", guardPage, s.Line, title)
	}
}

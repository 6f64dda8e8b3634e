// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"strings"
	"testing"
)

// TestRulesOfFieldsAreSaid: the words that a field takes, its range, that it has to be
// given and that it cannot change stand in its section.
func TestRulesOfFieldsAreSaid(t *testing.T) {
	for kind, path := range specPages {
		sections := fieldSections(t, read(t, path))
		fields := apiFields(t, kind)
		for name, field := range fields {
			s, ok := sections[name]
			if !ok || !strings.HasPrefix(name, "spec.") {
				continue
			}
			said := strings.Join(s.Lines, "\n")
			want := func(why, words string) {
				if !strings.Contains(said, words) {
					t.Errorf("%s:%d: %s: %s, so it should say %s", path, s.Line, name, why, words)
				}
			}
			for _, word := range field.Enum {
				want("the enum has it", "`"+fmt.Sprint(word)+"`")
			}
			if field.Minimum != nil && field.Maximum != nil && kind == "ValkeyCluster" {
				want("it has a range", fmt.Sprintf("%d to %d", *field.Minimum, *field.Maximum))
			}
			if field.Needed {
				want("it is required", "Required.")
			} else if strings.Contains(said, "Required.") {
				t.Errorf("%s:%d: %s is not required", path, s.Line, name)
			}
			for _, rule := range field.Rules {
				target, ok := sections[name+rule.FieldPath]
				if strings.Contains(rule.Message, "immutable") && ok && !strings.Contains(strings.Join(target.Lines, "\n"), "mmutable") {
					t.Errorf("%s:%d: %s is immutable", path, target.Line, name+rule.FieldPath)
				}
			}
		}
	}
}

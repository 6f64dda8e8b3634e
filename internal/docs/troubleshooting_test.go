// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import "testing"

// TestEveryReasonCanBeLookedUp: every reason of the API has one row that says what it means,
// what to look at and what to do, and no other has.
func TestEveryReasonCanBeLookedUp(t *testing.T) {
	const path = "docs/troubleshooting.md"
	known, rows := names(t, "Reason"), map[string]int{}
	for _, s := range read(t, path).Sections {
		for _, row := range s.rows() {
			reason := code(row[0])
			rows[reason]++
			if !known[reason] {
				t.Errorf("%s: the API has no reason %s", path, row[0])
			}
			if len(row) != 4 {
				t.Errorf("%s: %s: want a reason, its meaning, what to look at and what to do", path, reason)
				continue
			}
			for _, cell := range row[1:] {
				if cell == "" {
					t.Errorf("%s: %s: an empty cell", path, reason)
				}
			}
		}
	}
	for reason := range known {
		if rows[reason] != 1 {
			t.Errorf("%s: %d rows for %s", path, rows[reason], reason)
		}
	}
}

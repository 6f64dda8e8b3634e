// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"bytes"
	"path"
	"regexp"
	"testing"
)

// TestDecisionsHaveTheForm: each page has a number of its own, a date, the three sections
// and a line in the index.
func TestDecisionsHaveTheForm(t *testing.T) {
	var index []byte
	pages := map[string][]byte{}
	for _, f := range files(t) {
		switch {
		case f.Path == "docs/decisions/README.md":
			index = f.Data
		case path.Dir(f.Path) == "docs/decisions" && path.Base(f.Path) != "template.md":
			pages[path.Base(f.Path)] = f.Data
		}
	}
	if len(pages) == 0 {
		t.Fatal("no decision found")
	}
	form := regexp.MustCompile(`^# (\d{4})\. .+\n\nDate: \d{4}-\d\d-\d\d\. Status: [^\n]+\.\n\n## Context\n(?s:.+)\n## Decision\n(?s:.+)\n## Consequences\n(?s:.+)$`)
	number := regexp.MustCompile(`^(\d{4})-[a-z0-9-]+\.md$`)
	taken := map[string]string{}
	for name, data := range pages {
		inName, inTitle := number.FindStringSubmatch(name), form.FindSubmatch(data)
		switch {
		case inName == nil:
			t.Errorf("docs/decisions/%s: the name is not a number of four digits and a few words", name)
		case inTitle == nil || string(inTitle[1]) != inName[1]:
			t.Errorf("docs/decisions/%s does not follow template.md", name)
		case taken[inName[1]] != "":
			t.Errorf("docs/decisions/%s has the number of %s", name, taken[inName[1]])
		case !bytes.Contains(index, []byte("("+name+")")):
			t.Errorf("docs/decisions/README.md does not list %s", name)
		default:
			taken[inName[1]] = name
		}
	}
}

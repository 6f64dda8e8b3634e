// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/load"
)

const findingsPage = "docs/findings.md"

// TestEveryFindingHasASection: the code alone is the heading, since SARIF links to
// its anchor; the first line is the title of the registry.
func TestEveryFindingHasASection(t *testing.T) {
	sections := map[string]section{}
	for _, s := range read(t, findingsPage).Sections {
		if s.Level == 2 {
			sections[s.Title] = s
		}
	}
	for _, info := range finding.Codes() {
		s, ok := sections[string(info.Code)]
		if !ok {
			t.Errorf("%s: no section %s", findingsPage, info.Code)
			continue
		}
		delete(sections, string(info.Code))
		if s.Anchor != strings.ToLower(string(info.Code)) {
			t.Errorf("%s:%d: the anchor is %s", findingsPage, s.Line, s.Anchor)
		}
		lines := trim(s.Lines)
		if want := "**" + info.Title + "** (" + string(info.Severity) + ")"; len(lines) == 0 || lines[0] != want {
			t.Errorf("%s:%d: want the line %s", findingsPage, s.Line, want)
		}
		if len(lines) < 2 || len(s.Fences) != 1 {
			t.Errorf("%s:%d: %s needs an explanation and one example", findingsPage, s.Line, info.Code)
		}
	}
	for title, s := range sections {
		t.Errorf("%s:%d: %s is no code", findingsPage, s.Line, title)
	}
}

// TestPagesNamedByFindingsExist: what a finding sends a person to is there.
func TestPagesNamedByFindingsExist(t *testing.T) {
	all := pages(t)
	for _, info := range finding.Codes() {
		for _, name := range regexp.MustCompile(`docs/[a-z/-]+\.md`).FindAllString(info.Help, -1) {
			if _, ok := all[name]; !ok {
				t.Errorf("%s names %s, which does not exist", info.Code, name)
			}
		}
	}
}

// TestEveryRenamedFieldIsInTheTable: docs/coming-from.md has the fields that the loader
// knows under another name, and no others.
func TestEveryRenamedFieldIsInTheTable(t *testing.T) {
	const path = "docs/coming-from.md"
	said := map[string]string{}
	for _, s := range read(t, path).Sections {
		for _, row := range s.rows() {
			if len(row) != 3 || row[2] == "" {
				t.Errorf("%s: want three columns: %v", path, row)
				continue
			}
			said[code(row[0])] = code(row[1])
		}
	}
	known := map[string]string{}
	for name, renaming := range v1alpha1.Renamed() {
		known[name] = renaming.Right
	}
	if diff := cmp.Diff(known, said); diff != "" {
		t.Errorf("%s (-known +said)\n%s", path, diff)
	}
}

// TestExamplesOfFindingsAreFound: an example in YAML leads to the finding it stands
// under; one that cannot be shown in YAML is text.
func TestExamplesOfFindingsAreFound(t *testing.T) {
	for _, s := range read(t, findingsPage).Sections {
		for _, f := range s.Fences {
			if f.Language != "yaml" {
				continue
			}
			found := findings(f.Text)
			if !strings.Contains(string(found.Text()), " "+s.Title+" ") && !strings.Contains(string(found.Text()), " "+s.Title+":") {
				t.Errorf("%s:%d: the example of %s gives\n%s", findingsPage, f.Line, s.Title, found.Text())
			}
		}
	}
}

// findings are those of a part of a spec, completed to a whole one.
func findings(text string) finding.List {
	head := "apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyCluster\n"
	switch {
	case strings.HasPrefix(text, "spec:"):
		text = head + "metadata:\n  name: cache\n  namespace: shop\n" + text
	case strings.HasPrefix(text, "metadata:"):
		text = head + text
	}
	set, found := load.Parse([]load.Source{{Name: "cluster.yaml", Data: []byte(text)}}, load.Options{})
	return append(found, render.Build(set, render.Options{}).Findings...)
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestLinksLeadSomewhere: relative links name a file or directory of the tree, and
// anchors a heading.
func TestLinksLeadSomewhere(t *testing.T) {
	all := pages(t)
	for _, p := range all {
		for _, l := range p.Links {
			if strings.Contains(l.Target, "://") || strings.HasPrefix(l.Target, "mailto:") {
				continue
			}
			file, fragment, _ := strings.Cut(l.Target, "#")
			target := p.Path
			if file != "" {
				target = path.Join(path.Dir(p.Path), file)
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(target))); err != nil {
				t.Errorf("%s:%d: %s does not exist", p.Path, l.Line, l.Target)
				continue
			}
			if fragment != "" && !hasAnchor(all[target], fragment) {
				t.Errorf("%s:%d: %s has no heading #%s", p.Path, l.Line, target, fragment)
			}
		}
	}
}

func hasAnchor(p page, name string) bool {
	for _, s := range p.Sections {
		if s.Anchor == name {
			return true
		}
	}
	return false
}

// TestEveryPageIsInTheIndex: docs/README.md leads to each page; decisions have an index
// of their own.
func TestEveryPageIsInTheIndex(t *testing.T) {
	all := pages(t)
	linked := map[string]bool{}
	for _, l := range all["docs/README.md"].Links {
		file, _, _ := strings.Cut(l.Target, "#")
		linked[path.Join("docs", file)] = true
	}
	for name := range all {
		own := path.Dir(name) == "docs/decisions" && name != "docs/decisions/README.md"
		if strings.HasPrefix(name, "docs/") && name != "docs/README.md" && !own && !linked[name] {
			t.Errorf("docs/README.md does not lead to %s", name)
		}
	}
}

// TestExamplesOfSpecsRender: what the pages show as a spec is one.
func TestExamplesOfSpecsRender(t *testing.T) {
	for _, p := range pages(t) {
		if p.Path == findingsPage {
			continue
		}
		for _, f := range p.Fences {
			ours := strings.HasPrefix(f.Text, "spec:\n") || strings.Contains(f.Text, "\nkind: ValkeyCluster\n") || strings.Contains(f.Text, "\nkind: ValkeyACL\n")
			if f.Language != "yaml" || !ours {
				continue
			}
			if found := findings(f.Text); found.HasErrors() {
				t.Errorf("%s:%d: the example has errors\n%s", p.Path, f.Line, found.Text())
			}
		}
	}
}

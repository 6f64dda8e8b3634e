// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// names are the values of the constants of the API with a prefix.
func names(t *testing.T, prefix string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "api", "v1alpha1", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, file := range files {
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(syntax, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) == 0 || !strings.HasPrefix(spec.Names[0].Name, prefix) {
				return true
			}
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
				if value, err := strconv.Unquote(literal.Value); err == nil {
					out[value] = true
				}
			}
			return true
		})
	}
	if len(out) == 0 {
		t.Fatalf("no constant %s…", prefix)
	}
	return out
}

// TestStatusIsDocumented: every condition has a heading under "Conditions" with a table
// of its reasons, every event a row under "Events"; and nothing else has.
func TestStatusIsDocumented(t *testing.T) {
	conditions, reasons, events := names(t, "Condition"), names(t, "Reason"), names(t, "Event")
	said := map[string]map[string]bool{"condition": {}, "reason": {}, "event": {}}
	see := func(p page, s section, what, name string, known map[string]bool) {
		if !known[name] {
			t.Errorf("%s:%d: the API has no %s %q", p.Path, s.Line, what, name)
		}
		said[what][name] = true
	}
	for _, path := range specPages {
		p := read(t, path)
		for _, s := range p.Sections {
			switch s.Above {
			case "Conditions":
				if s.Level != 3 {
					break
				}
				see(p, s, "condition", code(s.Title), conditions)
				if len(s.rows()) == 0 {
					t.Errorf("%s:%d: condition %s has no table of reasons", path, s.Line, s.Title)
				}
				for _, row := range s.rows() {
					see(p, s, "reason", code(row[0]), reasons)
					if row[1] != "True" && row[1] != "False" || len(row) != 3 || row[2] == "" {
						t.Errorf("%s:%d: want the columns reason, status, meaning: %v", path, s.Line, row)
					}
				}
			case "Events":
				for _, row := range s.rows() {
					see(p, s, "event", code(row[0]), events)
					if row[1] != "Normal" && row[1] != "Warning" || len(row) != 3 || row[2] == "" {
						t.Errorf("%s:%d: want the columns reason, type, when: %v", path, s.Line, row)
					}
				}
			}
		}
	}
	for what, known := range map[string]map[string]bool{"condition": conditions, "reason": reasons, "event": events} {
		for name := range known {
			if !said[what][name] {
				t.Errorf("docs/spec: nothing about the %s %s", what, name)
			}
		}
	}
}

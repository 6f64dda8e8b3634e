// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
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

// statusWords are what the pages say about the status: conditions, reasons, events.
type statusWords struct {
	t     *testing.T
	known map[string]map[string]bool
	said  map[string]map[string]bool
}

func newStatusWords(t *testing.T) statusWords {
	t.Helper()
	w := statusWords{t, map[string]map[string]bool{}, map[string]map[string]bool{}}
	for _, what := range []string{"Condition", "Reason", "Event"} {
		w.known[what], w.said[what] = names(t, what), map[string]bool{}
	}
	return w
}

func (w statusWords) see(where, what, name string) {
	w.t.Helper()
	if !w.known[what][name] {
		w.t.Errorf("%s: the API has no %s %q", where, what, name)
	}
	w.said[what][name] = true
}

// table reads rows of a name, one of two words and a text.
func (w statusWords) table(where, what string, s section, words ...string) {
	w.t.Helper()
	if len(s.rows()) == 0 {
		w.t.Errorf("%s: no table", where)
	}
	for _, row := range s.rows() {
		w.see(where, what, code(row[0]))
		if len(row) != 3 || !slices.Contains(words, row[1]) || row[2] == "" {
			w.t.Errorf("%s: want a name, one of %v, and a text: %v", where, words, row)
		}
	}
}

// TestStatusIsDocumented: every condition has a heading under "Conditions" with a table
// of its reasons, every event a row under "Events"; and nothing else has.
func TestStatusIsDocumented(t *testing.T) {
	w := newStatusWords(t)
	for _, path := range specPages {
		for _, s := range read(t, path).Sections {
			where := fmt.Sprintf("%s:%d", path, s.Line)
			switch {
			case s.Above == "Conditions" && s.Level == 3:
				w.see(where, "Condition", code(s.Title))
				w.table(where, "Reason", s, "True", "False")
			case s.Above == "Events":
				w.table(where, "Event", s, "Normal", "Warning")
			}
		}
	}
	for what, known := range w.known {
		for name := range known {
			if !w.said[what][name] {
				t.Errorf("docs/spec: nothing about the %s %s", what, name)
			}
		}
	}
}

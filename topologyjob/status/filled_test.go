// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// looking are the files that fill in an Observed: here only those that make a part of it from
// an object, or from a plan.
func looking(t *testing.T) []string {
	t.Helper()
	files := []string{"from.go", "next.go"}
	for _, pattern := range []string{"../reconciler/*.go", "../decision/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	return files
}

// setFields are the fields that these files set, by their names: as keys of a literal, by an
// assignment, or by their address.
func setFields(t *testing.T) map[string]bool {
	t.Helper()
	set := map[string]bool{}
	left := func(e ast.Expr) {
		if index, is := e.(*ast.IndexExpr); is {
			e = index.X
		}
		if s, is := e.(*ast.SelectorExpr); is {
			set[s.Sel.Name] = true
		}
	}
	for _, file := range looking(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if key, is := n.Key.(*ast.Ident); is {
					set[key.Name] = true
				}
			case *ast.AssignStmt:
				for _, e := range n.Lhs {
					left(e)
				}
			case *ast.IncDecStmt:
				left(n.X)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					left(n.X)
				}
			}
			return true
		})
	}
	return set
}

// fieldsOf calls see with the fields of a type, and of those of this package that it is made of.
func fieldsOf(of reflect.Type, known map[reflect.Type]bool, see func(of reflect.Type, field string)) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of.PkgPath() != reflect.TypeFor[Observed]().PkgPath() || known[of] {
		return
	}
	known[of] = true
	for i := range of.NumField() {
		if f := of.Field(i); f.IsExported() {
			see(of, f.Name)
			fieldsOf(f.Type, known, see)
		}
	}
}

// TestWhatIsObservedIsFoundOut: each field that the status is worked out from is set by code that
// looks. Else a condition or a reason that follows from it is documented and never seen.
func TestWhatIsObservedIsFoundOut(t *testing.T) {
	set, known := setFields(t), map[reflect.Type]bool{}
	fieldsOf(reflect.TypeFor[Observed](), known, func(of reflect.Type, field string) {
		if !set[field] {
			t.Errorf("nothing sets %s.%s", of.Name(), field)
		}
	})
	if len(known) < 10 {
		t.Errorf("only %d types", len(known))
	}
}

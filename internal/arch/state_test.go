// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// globals returns the names of the package-level variables of every directory.
func globals(list []source) map[string]map[string]bool {
	names := map[string]map[string]bool{}
	for _, s := range list {
		if s.Test {
			continue
		}
		for _, decl := range s.Syntax.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.VAR {
				continue
			}
			for _, spec := range group.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					if names[s.Dir] == nil {
						names[s.Dir] = map[string]bool{}
					}
					names[s.Dir][name.Name] = true
				}
			}
		}
	}
	return names
}

// locals returns every name that a function declares anywhere in it. A global of the same
// name is not looked at in that function: without types it cannot be told which is meant.
func locals(fn *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				names[name.Name] = true
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				names[name.Name] = true
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, left := range n.Lhs {
					names[base(left)] = true
				}
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				names[base(n.Key)] = true
				names[base(n.Value)] = true
			}
		}
		return true
	})
	return names
}

// base is the variable at the root of an expression such as a.b[c], "" if there is none.
func base(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return ""
		}
	}
}

// written returns the expressions to which a node writes.
func written(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.CallExpr:
		if name, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && (name.Name == "delete" || name.Name == "clear") {
			return n.Args[:1]
		}
	}
	return nil
}

// stateful lists the places that change a package-level variable of their own package.
func stateful(list []source) []string {
	var found []string
	names := globals(list)
	for _, s := range list {
		for _, decl := range s.Syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || s.Test {
				continue
			}
			own := locals(fn)
			ast.Inspect(fn, func(n ast.Node) bool {
				for _, target := range written(n) {
					if name := base(target); names[s.Dir][name] && !own[name] {
						found = append(found, fmt.Sprintf("%s:%d changes the package-level variable %s", s.Path, s.line(n.Pos()), name))
					}
				}
				return true
			})
		}
	}
	slices.Sort(found)
	return found
}

// TestNoPackageState: two callers of a package never meet in it. Tables that are only read
// are not state.
func TestNoPackageState(t *testing.T) {
	for _, violation := range stateful(sources(t)) {
		t.Error(violation)
	}
}

func TestPackageStateIsSeen(t *testing.T) {
	const text = `package name

var table = map[string]int{"a": 1}
var count, other int

func f() int {
	table["b"] = 2
	count++
	other := table["a"]
	other++
	return other
}
`
	want := []string{
		"render/name/x.go:7 changes the package-level variable table",
		"render/name/x.go:8 changes the package-level variable count",
	}
	got := stateful([]source{parse(t, file{Path: "render/name/x.go", Data: []byte(text)})})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

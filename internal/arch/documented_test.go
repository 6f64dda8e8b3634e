// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"go/token"
	"slices"
	"testing"
)

// TestExportedNamesAreDocumented: every exported type, function, method, constant and
// variable has a comment; in api, where comments become the text of `explain`, every
// field as well. A comment over a group of constants counts for the group.
func TestExportedNamesAreDocumented(t *testing.T) {
	for _, s := range sources(t) {
		if s.Test || s.Generated || s.Syntax.Name.Name == "main" {
			continue
		}
		for _, decl := range s.Syntax.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !wellKnown(d) {
					t.Errorf("%s:%d: %s has no comment", s.Path, s.line(d.Pos()), d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					undocumented(t, s, d, spec)
				}
			}
		}
	}
}

// exportedReceiver reports whether a function is one that godoc shows: none or an exported
// receiver.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	receiver := d.Recv.List[0].Type
	for {
		switch r := receiver.(type) {
		case *ast.StarExpr:
			receiver = r.X
		case *ast.IndexExpr:
			receiver = r.X
		case *ast.Ident:
			return r.IsExported()
		default:
			return true
		}
	}
}

// wellKnown reports whether a method is one whose meaning an interface of the standard
// library gives.
func wellKnown(d *ast.FuncDecl) bool {
	return d.Recv != nil && slices.Contains([]string{"Error", "String", "Unwrap", "Is", "Read", "Write", "Len", "Less", "Swap"}, d.Name.Name)
}

func undocumented(t *testing.T, s source, group *ast.GenDecl, spec ast.Spec) {
	t.Helper()
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if !spec.Name.IsExported() {
			return
		}
		if spec.Doc == nil && group.Doc == nil {
			t.Errorf("%s:%d: type %s has no comment", s.Path, s.line(spec.Pos()), spec.Name.Name)
		}
		if under(s.Dir, "api") {
			undocumentedFields(t, s, spec)
		}
	case *ast.ValueSpec:
		if group.Tok != token.CONST && group.Tok != token.VAR {
			return
		}
		for _, name := range spec.Names {
			if name.IsExported() && spec.Doc == nil && spec.Comment == nil && group.Doc == nil {
				t.Errorf("%s:%d: %s has no comment", s.Path, s.line(name.Pos()), name.Name)
			}
		}
	}
}

func undocumentedFields(t *testing.T, s source, spec *ast.TypeSpec) {
	t.Helper()
	structure, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, field := range structure.Fields.List {
		for _, name := range field.Names {
			// Items of a list kind needs no words.
			if name.Name != "Items" && name.IsExported() && field.Doc == nil && field.Comment == nil {
				t.Errorf("%s:%d: field %s.%s has no comment", s.Path, s.line(name.Pos()), spec.Name.Name, name.Name)
			}
		}
	}
}

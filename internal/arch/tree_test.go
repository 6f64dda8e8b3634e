// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/valkey-render/valkey-render"

// file is one text file of the tree.
type file struct {
	Path string // slash-separated, from the root of the repository
	Data []byte
}

// root is the repository: go test runs in the directory of the package.
const root = "../.."

// skipped are directories that hold nothing that is checked in.
var skipped = map[string]bool{".git": true, "bin": true, "dist": true, "coverage": true, "node_modules": true}

// files returns every text file of the tree. It walks instead of asking git, so that a
// file counts before it is added, and a source archive can be tested.
func files(t *testing.T) []file {
	t.Helper()
	var list []file
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if skipped[entry.Name()] {
				return filepath.SkipDir
			}
			return nil
		}
		// A linked worktree has a file .git, which names a path of the machine.
		if !entry.Type().IsRegular() || entry.Name() == ".git" {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if bytes.IndexByte(data, 0) >= 0 {
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		list = append(list, file{Path: filepath.ToSlash(rel), Data: data})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatal("no file found: the tests run in the wrong directory")
	}
	return list
}

// source is one parsed Go file.
type source struct {
	file
	Dir       string // the package's directory from the root, "." for the root itself
	Test      bool   // a _test.go file
	Generated bool
	Syntax    *ast.File
	Set       *token.FileSet
}

// line is the line of the file on which a position lies.
func (s source) line(pos token.Pos) int { return s.Set.Position(pos).Line }

// sources parses every Go file of the tree outside testdata.
func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	for _, f := range files(t) {
		if !strings.HasSuffix(f.Path, ".go") || strings.Contains("/"+f.Path, "/testdata/") {
			continue
		}
		list = append(list, parse(t, f))
	}
	return list
}

func parse(t *testing.T, f file) source {
	t.Helper()
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, f.Path, f.Data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return source{
		file:      f,
		Dir:       path.Dir(f.Path),
		Test:      strings.HasSuffix(f.Path, "_test.go"),
		Generated: ast.IsGenerated(syntax),
		Syntax:    syntax,
		Set:       set,
	}
}

// under reports whether dir is one of the directories or lies below one.
func under(dir string, parents ...string) bool {
	for _, parent := range parents {
		if dir == parent || strings.HasPrefix(dir, parent+"/") {
			return true
		}
	}
	return false
}

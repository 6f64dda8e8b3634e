// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"bytes"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Limits in lines. The aim is 300 a file and 60 a function; the limits leave room for a
// type whose fields need their comments. Tables of test cases may be longer.
const (
	fileLines     = 420
	testFileLines = 600
	funcLines     = 80
	testFuncLines = 130
)

func TestFilesBeginWithTheHeader(t *testing.T) {
	const owner, license = "SPDX-FileCopyrightText: The valkey-render Authors", "SPDX-License-Identifier: Apache-2.0"
	for _, f := range files(t) {
		base := path.Base(f.Path)
		if strings.Contains("/"+f.Path, "/testdata/") ||
			!slices.Contains([]string{".go", ".sh", ".py"}, path.Ext(base)) && base != "Makefile" && f.Path != ".ci/run" {
			continue
		}
		head := strings.SplitN(string(f.Data), "\n", 8)
		found := slices.IndexFunc(head, func(line string) bool { return strings.HasSuffix(line, " "+owner) })
		if found < 0 || found+1 >= len(head) || !strings.HasSuffix(head[found+1], " "+license) {
			t.Errorf("%s does not begin with the two SPDX lines", f.Path)
		}
	}
}

func TestFilesAndFunctionsStayShort(t *testing.T) {
	for _, s := range sources(t) {
		if s.Generated {
			continue
		}
		most, mostFunc := fileLines, funcLines
		if s.Test {
			most, mostFunc = testFileLines, testFuncLines
		}
		if lines := bytes.Count(s.Data, []byte("\n")); lines > most {
			t.Errorf("%s has %d lines, more than %d: split it by concern", s.Path, lines, most)
		}
		for _, decl := range s.Syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if lines := s.line(fn.End()) - s.line(fn.Pos()) + 1; lines > mostFunc {
				t.Errorf("%s:%d: %s has %d lines, more than %d", s.Path, s.line(fn.Pos()), fn.Name.Name, lines, mostFunc)
			}
		}
	}
}

func TestNamesSayWhatTheyHold(t *testing.T) {
	vague := regexp.MustCompile(`(^|[/_.-])(utils?|common|helpers?|misc|stuff)([/_.-]|$)`)
	for _, s := range sources(t) {
		if vague.MatchString(s.Path) {
			t.Errorf("%s: the name does not say what is in it", s.Path)
		}
	}
}

func TestPackageComments(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range sources(t) {
		if !s.Test {
			documented[s.Dir] = documented[s.Dir] || s.Syntax.Doc != nil
		}
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("package %s has no package comment", dir)
		}
	}
}

func TestNoInit(t *testing.T) {
	for _, s := range sources(t) {
		for _, decl := range s.Syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" && !s.Generated {
				t.Errorf("%s:%d: init runs behind the caller's back", s.Path, s.line(fn.Pos()))
			}
		}
	}
}

// TestNothingUnfinished: what is not done is an issue, not a comment, and a test that
// cannot run fails and says what it misses.
func TestNothingUnfinished(t *testing.T) {
	unfinished := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)
	skips := regexp.MustCompile(`\b(t|b|f|tb)\.Sk` + `ip(f|Now)?\(`)
	for _, f := range files(t) {
		if strings.Contains("/"+f.Path, "/testdata/") {
			continue
		}
		switch path.Ext(f.Path) {
		case ".go", ".sh", ".py", ".yaml", ".yml", ".md":
		default:
			continue
		}
		for i, line := range strings.Split(string(f.Data), "\n") {
			if unfinished.MatchString(line) && !strings.Contains(line, "mktemp") {
				t.Errorf("%s:%d: %s", f.Path, i+1, strings.TrimSpace(line))
			}
			if path.Ext(f.Path) == ".go" && skips.MatchString(line) {
				t.Errorf("%s:%d: %s", f.Path, i+1, strings.TrimSpace(line))
			}
		}
	}
}

// TestNoMachines: nothing in the tree depends on where it was written.
func TestNoMachines(t *testing.T) {
	paths := regexp.MustCompile("(^|[\\s=:(,\\[{>])[\"'`]?/(ro" + `ot|wo` + `rk|Us` + `ers|ho` + `me/[a-z])(/|\b)`)
	hosts := regexp.MustCompile(`\b(proxy\.gol` + `ang\.org|sum\.gol` + `ang\.org|(deb|ftp|security)\.deb` + `ian\.org|archive\.ub` + `untu\.com|registry\.npm` + `js\.org|pyp` + `i\.org)\b`)
	for _, f := range files(t) {
		for i, line := range bytes.Split(f.Data, []byte("\n")) {
			if m := paths.Find(line); m != nil {
				t.Errorf("%s:%d names a path of one machine: %s", f.Path, i+1, m)
			}
			if m := hosts.Find(line); m != nil {
				t.Errorf("%s:%d names a registry host: %s", f.Path, i+1, m)
			}
		}
	}
}

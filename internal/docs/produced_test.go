// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/render/finding"
)

// constants maps the names that render/finding/codes.go gives codes to the codes.
func constants(t *testing.T) map[string]finding.Code {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "render/finding/codes.go"))
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]finding.Code{}
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+)(?: +Code)? += "(VR\d{4})"`).FindAllStringSubmatch(string(data), -1) {
		codes[m[1]] = finding.Code(m[2])
	}
	return codes
}

// TestEveryCodeIsProduced: no code is a promise that nothing keeps. A code counts as
// produced when a test outside of render/finding, or a golden of one, expects it, or
// when the example of docs/findings.md, which TestExamplesOfFindingsAreFound renders,
// leads to it.
func TestEveryCodeIsProduced(t *testing.T) {
	produced := map[finding.Code]string{}
	named := constants(t)
	literal := regexp.MustCompile(`\bVR\d{4}\b`)
	constant := regexp.MustCompile(`\bfinding\.(\w+)`)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if entry != nil && entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != root || strings.HasSuffix(path, "render/finding") || strings.HasSuffix(path, "internal/docs")) {
				return filepath.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, "_test.go") && !strings.Contains(filepath.ToSlash(path), "/testdata/") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, code := range literal.FindAllString(string(data), -1) {
			produced[finding.Code(code)] = path
		}
		for _, m := range constant.FindAllStringSubmatch(string(data), -1) {
			produced[named[m[1]]] = path
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range read(t, findingsPage).Sections {
		for _, f := range s.Fences {
			if f.Language == "yaml" {
				produced[finding.Code(s.Title)] = findingsPage
			}
		}
	}
	for _, info := range finding.Codes() {
		if produced[info.Code] == "" {
			t.Errorf("%s (%s): no test and no example leads to it", info.Code, info.Title)
		}
	}
}

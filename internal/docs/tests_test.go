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
)

// sources are all tests of the repository.
func sources(t *testing.T) string {
	t.Helper()
	var source strings.Builder
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		data, err := os.ReadFile(name)
		source.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return source.String()
}

// named checks that a file names tests of the repository, that many at least.
func named(t *testing.T, file, quote string, least int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(quote+"(Test[A-Za-z0-9]+)"+quote).FindAllStringSubmatch(string(text), -1)
	if len(names) < least {
		t.Errorf("%s names only %d tests", file, len(names))
	}
	source := sources(t)
	for _, name := range names {
		if !strings.Contains(source, "\nfunc "+name[1]+"(t *testing.T)") {
			t.Errorf("%s: there is no test %s", file, name[1])
		}
	}
}

// TestTheTestsOfThePageExist: a test that is renamed or goes takes its line of
// docs/testing.md with it.
func TestTheTestsOfThePageExist(t *testing.T) { named(t, "docs/testing.md", "`", 60) }

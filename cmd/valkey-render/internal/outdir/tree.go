// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package outdir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
)

// Header is the first line of every file written to a directory. It names no
// version and no source, so that it never shows up in a diff.
const Header = "# Rendered by valkey-render. Do not edit: change the spec and render again.\n"

// WithHeader puts Header before the data of each file.
func WithHeader(files map[string][]byte) map[string][]byte {
	out := make(map[string][]byte, len(files))
	for name, data := range files {
		out[name] = append([]byte(Header), data...)
	}
	return out
}

// Ours reports whether valkey-render wrote a file. Git may have changed the end
// of the line.
func Ours(data []byte) bool {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return string(bytes.TrimRight(line, "\r")) == strings.TrimRight(Header, "\n")
}

// Tree is what a directory holds of ours, and what is in its way.
type Tree struct {
	// Files are the files we wrote, by slash-separated name.
	Files map[string][]byte
	// Foreign are the YAML files that others wrote.
	Foreign map[string][]byte
	// kinds are the types of everything seen, to find what is in the way.
	kinds map[string]fs.FileMode
}

// Read reads the YAML files of a directory and of the directories directly in
// it, where files of several namespaces go. Symbolic links are not followed: we
// write none.
func Read(root system.Root) (Tree, error) {
	t := Tree{Files: map[string][]byte{}, Foreign: map[string][]byte{}, kinds: map[string]fs.FileMode{}}
	return t, errors.Join(t.read(root, ".", 1)...)
}

func (t *Tree) read(root system.Root, dir string, depth int) []error {
	entries, err := root.ReadDir(dir)
	if err != nil {
		return []error{err}
	}
	var errs []error
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		t.kinds[name] = entry.Type()
		switch {
		case strings.HasPrefix(entry.Name(), "."):
		case entry.IsDir():
			if depth > 0 {
				errs = append(errs, t.read(root, name, depth-1)...)
			}
		case entry.Type().IsRegular() && path.Ext(name) == ".yaml":
			data, err := root.ReadFile(name)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if Ours(data) {
				t.Files[name] = data
			} else {
				t.Foreign[name] = data
			}
		}
	}
	return errs
}

// Changes are what a directory needs to hold files and nothing else of ours.
type Changes struct {
	// Write are names to create or replace, Remove names to delete; sorted.
	Write, Remove []string
	// Unchanged counts files that are right already.
	Unchanged int
}

// Compare says what to change to get from the tree to files. The error names
// every file that is in the way and not ours to replace.
func (t Tree) Compare(files map[string][]byte) (Changes, error) {
	var changes Changes
	var errs []error
	for name, data := range files {
		if err := t.inTheWay(name); err != nil {
			errs = append(errs, err)
			continue
		}
		if old, ok := t.Files[name]; ok && bytes.Equal(old, data) {
			changes.Unchanged++
			continue
		}
		changes.Write = append(changes.Write, name)
	}
	for name := range t.Files {
		if _, ok := files[name]; !ok {
			changes.Remove = append(changes.Remove, name)
		}
	}
	slices.Sort(changes.Write)
	slices.Sort(changes.Remove)
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return changes, errors.Join(errs...)
}

// inTheWay reports what keeps a file from being written.
func (t Tree) inTheWay(name string) error {
	if !fs.ValidPath(name) || strings.Count(name, "/") > 1 || path.Ext(name) != ".yaml" || strings.HasPrefix(path.Base(name), ".") {
		return fmt.Errorf("%q is not a name for a rendered file", name)
	}
	if dir := path.Dir(name); dir != "." {
		if kind, ok := t.kinds[dir]; ok && !kind.IsDir() {
			return fmt.Errorf("%s: exists and is not a directory", dir)
		}
	}
	kind, ok := t.kinds[name]
	switch {
	case !ok:
		return nil
	case !kind.IsRegular():
		return fmt.Errorf("%s: exists and is not a regular file", name)
	case t.Files[name] == nil:
		return fmt.Errorf("%s: exists and was not written by valkey-render; move it away, or render into a directory of its own", name)
	}
	return nil
}

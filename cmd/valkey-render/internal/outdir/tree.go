// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package outdir

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/write"
)

// Ours reports whether valkey-render wrote a file. Git may have changed the end
// of the line.
func Ours(data []byte) bool {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return string(bytes.TrimRight(line, "\r")) == strings.TrimRight(write.Header, "\n")
}

// Sum tells texts apart, whatever their line ends: Git may have changed those.
type Sum [sha256.Size]byte

// SumOf is the sum of a text.
func SumOf(data []byte) Sum { return sha256.Sum256(WithoutCR(data)) }

// WithoutCR turns line ends of Windows into those that are rendered.
func WithoutCR(data []byte) []byte {
	if !bytes.Contains(data, []byte("\r\n")) {
		return data
	}
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
}

// Tree is what a directory holds of ours, and what is in its way. It holds no
// texts: those of a large fleet take hundreds of megabytes.
type Tree struct {
	// Files are the sums of the files we wrote, by slash-separated name.
	Files map[string]Sum
	// Foreign are the sums of the YAML files that others wrote.
	Foreign map[string]Sum
	// Rendered are the names of those among Foreign that hold an object of ours.
	Rendered map[string]bool
	// CRLF tells whether a file that we wrote has line ends of Windows.
	CRLF bool
	// kinds are the types of everything seen, to find what is in the way.
	kinds map[string]fs.FileMode
}

// Read reads the YAML files of a directory and of the directories directly in
// it, where files of several namespaces go. Symbolic links are not followed: we
// write none.
func Read(root system.Root) (Tree, error) {
	t := Tree{Files: map[string]Sum{}, Foreign: map[string]Sum{}, Rendered: map[string]bool{}, kinds: map[string]fs.FileMode{}}
	var buf []byte
	return t, errors.Join(t.read(root, ".", 1, &buf)...)
}

func (t *Tree) read(root system.Root, dir string, depth int, buf *[]byte) []error {
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
				errs = append(errs, t.read(root, name, depth-1, buf)...)
			}
		case entry.Type().IsRegular() && path.Ext(name) == ".yaml":
			data, err := root.ReadFile(name, *buf)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			*buf = data
			t.add(name, data)
		}
	}
	return errs
}

func (t *Tree) add(name string, data []byte) {
	if !Ours(data) {
		t.Foreign[name] = SumOf(data)
		t.Rendered[name] = HasOurLabel(data)
		return
	}
	t.Files[name] = SumOf(data)
	t.CRLF = t.CRLF || bytes.Contains(data, []byte("\r\n"))
}

// HasOurLabel reports whether a manifest looks rendered by us. Only rendered
// objects carry the label.
func HasOurLabel(manifest []byte) bool {
	return bytes.Contains(WithoutCR(manifest), []byte("app.kubernetes.io/managed-by: valkey-render\n"))
}

// Stale are the names of our files that are not among names, sorted.
func (t Tree) Stale(names map[string]bool) []string {
	var out []string
	for name := range t.Files {
		if !names[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// InTheWay is the error that names everything that keeps files from being written
// and is not ours to replace.
func (t Tree) InTheWay(names map[string]bool) error {
	var errs []error
	for name := range names {
		if err := t.inTheWay(name); err != nil {
			errs = append(errs, err)
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
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
	}
	if _, ours := t.Files[name]; !ours {
		return fmt.Errorf("%s: exists and was not written by valkey-render; move it away, or render into a directory of its own", name)
	}
	return nil
}

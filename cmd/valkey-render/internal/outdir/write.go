// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package outdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
)

// staging begins the name of the directory where files are complete before any of
// them is put in place; on the same file system, so that a rename is atomic.
// Hidden, so that nobody applies it.
const staging = ".valkey-render.staging."

// File is a file to write.
type File struct {
	// Name is slash-separated.
	Name string
	// Data makes the text, header included, in the memory of buf; it is called once.
	Data func(buf []byte) ([]byte, error)
}

// Changes are what was done to a directory, so that it holds files and nothing
// else of ours.
type Changes struct {
	// Write are names that were created or replaced, Remove names that were
	// deleted; sorted.
	Write, Remove []string
	// Unchanged counts files that were right already, Held all of ours that were
	// there before.
	Unchanged, Held int
}

// Astray reports whether most of the files of ours that a directory holds are stale:
// it is likely to be the directory of another build.
func Astray(stale, held int) bool { return stale > 1 && 2*stale > held }

// Sync makes dir hold exactly files beside what others put there, and says what it
// changed. When it fails before the first file is in place, nothing has changed;
// no file is ever half written, and nothing is removed unless all that is new is
// in place. Of several at the same time each waits for the one before, until ctx
// ends: what the last one wants is there in the end, and nothing else.
func Sync(ctx context.Context, files system.Files, dir string, want []File) (Changes, error) {
	if err := files.MkdirAll(dir); err != nil {
		return Changes{}, err
	}
	root, err := files.OpenRoot(dir)
	if err != nil {
		return Changes{}, err
	}
	defer root.Close()
	unlock, locked, err := root.Lock(ctx)
	if err != nil {
		return Changes{}, err
	}
	defer unlock()
	if locked {
		// No other run is at work: what is staged was left by one that was killed.
		if err := sweep(root); err != nil {
			return Changes{}, err
		}
	}
	tree, err := Read(root)
	if err != nil {
		return Changes{}, err
	}
	names := make(map[string]bool, len(want))
	for _, f := range want {
		names[f.Name] = true
	}
	if err := tree.InTheWay(names); err != nil {
		return Changes{}, err
	}
	changes := Changes{Remove: tree.Stale(names), Held: len(tree.Files)}
	s := &stage{root: root, files: map[string]bool{}}
	err = s.fill(tree, want, &changes)
	if err == nil {
		err = s.place(changes.Write)
	}
	if err = errors.Join(err, s.clear()); err != nil {
		return Changes{}, err
	}
	return changes, remove(root, changes.Remove, names)
}

// stage is a directory where files wait until all are complete. What others put
// there stays there.
type stage struct {
	root system.Root
	// dir is its name, "" until there is one.
	dir string
	// files are those staged and not yet placed.
	files map[string]bool
	// dirs are those made, parents first.
	dirs []string
}

// fill stages the files that differ from those of the tree, one after the other.
func (s *stage) fill(tree Tree, want []File, changes *Changes) error {
	var buf []byte
	for _, f := range want {
		data, err := f.Data(buf)
		if err != nil {
			return err
		}
		buf = data
		if sum, ok := tree.Files[f.Name]; ok && sum == SumOf(data) {
			changes.Unchanged++
			continue
		}
		if err := s.write(f.Name, data); err != nil {
			return err
		}
		changes.Write = append(changes.Write, f.Name)
	}
	slices.Sort(changes.Write)
	return nil
}

func (s *stage) write(name string, data []byte) error {
	if s.dir == "" {
		dir, err := s.root.Fresh(staging)
		if err != nil {
			return err
		}
		s.dir, s.dirs = dir, []string{dir}
	}
	at := path.Join(s.dir, name)
	if dir := path.Dir(at); !slices.Contains(s.dirs, dir) {
		if err := s.root.MkdirAll(dir); err != nil {
			return err
		}
		s.dirs = append(s.dirs, dir)
	}
	s.files[at] = true
	return s.root.WriteFile(at, data)
}

// place moves all files where they belong.
func (s *stage) place(names []string) error {
	for _, name := range names {
		if dir := path.Dir(name); dir != "." {
			if err := s.root.MkdirAll(dir); err != nil {
				return err
			}
		}
		at := path.Join(s.dir, name)
		if err := s.root.Rename(at, name); err != nil {
			return err
		}
		delete(s.files, at)
	}
	return nil
}

// clear removes what was staged and not placed, and the directories.
func (s *stage) clear() error {
	var errs []error
	for at := range s.files {
		if err := s.root.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	for _, dir := range slices.Backward(s.dirs) {
		errs = append(errs, prune(s.root, dir))
	}
	return errors.Join(errs...)
}

// prune removes a directory that is empty.
func prune(root system.Root, dir string) error {
	entries, err := root.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		return err
	}
	return root.Remove(dir)
}

// sweep removes what killed runs left staged: files that begin as ours do, also
// those of which nothing was written yet, and the directories that leaves empty.
func sweep(root system.Root) error {
	entries, err := root.ReadDir(".")
	var errs []error
	for _, entry := range entries {
		if entry.IsDir() && strings.HasPrefix(entry.Name(), staging) {
			errs = append(errs, sweepBelow(root, entry.Name(), 1))
		}
	}
	return errors.Join(append(errs, err)...)
}

func sweepBelow(root system.Root, dir string, depth int) error {
	entries, err := root.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		switch {
		case entry.IsDir() && depth > 0:
			err = sweepBelow(root, name, depth-1)
		case entry.Type().IsRegular():
			err = removeOurs(root, name)
		}
		if err != nil {
			return err
		}
	}
	return prune(root, dir)
}

func removeOurs(root system.Root, name string) error {
	data, err := root.ReadFile(name, nil)
	if err != nil || len(data) > 0 && !Ours(data) {
		return err
	}
	return root.Remove(name)
}

// remove deletes stale files, and directories of namespaces that they leave
// empty.
func remove(root system.Root, names []string, want map[string]bool) error {
	var errs []error
	dirs := map[string]bool{}
	for _, name := range names {
		if err := root.Remove(name); err != nil {
			errs = append(errs, fmt.Errorf("stale file: %w", err))
			continue
		}
		dirs[path.Dir(name)] = true
	}
	for name := range want {
		delete(dirs, path.Dir(name))
	}
	delete(dirs, ".")
	for dir := range dirs {
		errs = append(errs, prune(root, dir))
	}
	return errors.Join(errs...)
}

// Replace writes one file whole: a reader sees the old one or the new one. A
// symbolic link is followed, so that what it names is replaced.
func Replace(files system.Files, name string, data []byte) error {
	if target, err := files.RealPath(name); err == nil {
		name = target
	}
	dir, base := filepath.Split(name)
	if dir == "" {
		dir = "."
	}
	if err := files.MkdirAll(dir); err != nil {
		return err
	}
	root, err := files.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	s := &stage{root: root, files: map[string]bool{}}
	err = s.write(base, data)
	if err == nil {
		err = s.place([]string{base})
	}
	return errors.Join(err, s.clear())
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package outdir

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
)

// staging is where files are complete before any of them is put in place; on
// the same file system, so that a rename is atomic. Hidden, so that nobody
// applies it.
const staging = ".valkey-render.staging"

// Sync makes dir hold exactly files (by slash-separated name, header included)
// beside what others put there, and says what it changed. When it fails before
// the first file is in place, nothing has changed; no file is ever half
// written, and nothing is removed unless all that is new is in place.
func Sync(files system.Files, dir string, want map[string][]byte) (Changes, error) {
	if err := files.MkdirAll(dir); err != nil {
		return Changes{}, err
	}
	root, err := files.OpenRoot(dir)
	if err != nil {
		return Changes{}, err
	}
	defer root.Close()
	tree, err := Read(root)
	if err != nil {
		return Changes{}, err
	}
	changes, err := tree.Compare(want)
	if err != nil {
		return Changes{}, err
	}
	if len(changes.Write) > 0 {
		if err := put(root, changes.Write, want); err != nil {
			return Changes{}, err
		}
	}
	return changes, remove(root, changes.Remove, want)
}

// put stages all files, then moves them in place.
func put(root system.Root, names []string, want map[string][]byte) (err error) {
	// What a killed run left.
	if err := root.RemoveAll(staging); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.RemoveAll(staging)) }()
	for _, name := range names {
		staged := path.Join(staging, name)
		if err := root.MkdirAll(path.Dir(staged)); err != nil {
			return err
		}
		if err := root.WriteFile(staged, want[name]); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := root.MkdirAll(path.Dir(name)); err != nil {
			return err
		}
		if err := root.Rename(path.Join(staging, name), name); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes stale files, and directories of namespaces that they leave
// empty.
func remove(root system.Root, names []string, want map[string][]byte) error {
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
		entries, err := root.ReadDir(dir)
		if err == nil && len(entries) == 0 {
			err = root.Remove(dir)
		}
		errs = append(errs, err)
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
	staged := "." + base + ".valkey-render"
	if err := root.WriteFile(staged, data); err != nil {
		return errors.Join(err, root.RemoveAll(staged))
	}
	if err := root.Rename(staged, base); err != nil {
		return errors.Join(err, root.RemoveAll(staged))
	}
	return nil
}

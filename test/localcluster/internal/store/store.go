// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Dir is the cache directory: VALKEY_RENDER_CACHE, or valkey-render in the user's cache
// directory. It need not exist.
func Dir(getenv func(string) string) (string, error) {
	if dir := getenv("VALKEY_RENDER_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "valkey-render"), nil
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".cache", "valkey-render"), nil
	}
	return "", errors.New("cache: none of VALKEY_RENDER_CACHE, XDG_CACHE_HOME and HOME is set")
}

// Store is the directory of one kind of things, each below it named by its key.
type Store struct{ Dir string }

// Get is the directory of the thing with that key. When there is none, build makes it in an
// empty directory that gets its name only once build has succeeded, so that an interrupted
// one leaves no half a thing; two processes that need the same one build it once.
func (s Store) Get(ctx context.Context, key string, build func(dir string) error) (string, error) {
	final := filepath.Join(s.Dir, key)
	if isDir(final) {
		return final, nil
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	unlock, err := Lock(ctx, filepath.Join(s.Dir, ".lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if isDir(final) {
		return final, nil
	}
	temporary, err := os.MkdirTemp(s.Dir, ".building-")
	if err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	defer os.RemoveAll(temporary)
	if err := os.Chmod(temporary, 0o755); err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	if err := build(temporary); err != nil {
		return "", err
	}
	if err := os.Rename(temporary, final); err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	return final, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Lock waits for the lock of a file, which it makes, and returns what gives it back. The
// kernel gives back the lock of a process that dies. Its holder may remove the file.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_CLOEXEC, 0o644)
		if err != nil {
			return nil, fmt.Errorf("lock: %w", err)
		}
		if err := flock(ctx, f); err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if isFile(f, path) {
			return func() { f.Close() }, nil
		}
		// Who held it has removed it: the next to come would lock another file.
		f.Close()
	}
}

func flock(ctx context.Context, f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("held by another process: %w", ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// isFile tells whether an open file is the one that a path names.
func isFile(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(open, named)
}

// Key hashes names and contents of files, and words, to the name of a directory: 16 digits.
func Key(files, words []string) (string, error) {
	h := sha256.New()
	files = slices.Sorted(slices.Values(files))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("cache: %w", err)
		}
		fmt.Fprintf(h, "%s %d\n", filepath.Base(file), len(data))
		h.Write(data)
	}
	for _, word := range words {
		fmt.Fprintf(h, "%d %s\n", len(word), word)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// Files are the files below dir that decide what a Go module builds to.
func Files(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		test := len(name) > 8 && name[len(name)-8:] == "_test.go"
		if !entry.IsDir() && !test && (filepath.Ext(name) == ".go" || name == "go.mod" || name == "go.sum") {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", dir, err)
	}
	return files, nil
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/store"
)

func TestBuildsAThingOnce(t *testing.T) {
	s := store.Store{Dir: filepath.Join(t.TempDir(), "things")}
	var built atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			dir, err := s.Get(t.Context(), "key", func(dir string) error {
				built.Add(1)
				time.Sleep(20 * time.Millisecond)
				return os.WriteFile(filepath.Join(dir, "thing"), nil, 0o644)
			})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := os.Stat(filepath.Join(dir, "thing")); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := built.Load(); n != 1 {
		t.Errorf("built %d times", n)
	}
}

func TestLeavesNothingOfAFailedBuild(t *testing.T) {
	s := store.Store{Dir: t.TempDir()}
	broken := errors.New("broken")
	_, err := s.Get(t.Context(), "key", func(dir string) error {
		if err := os.WriteFile(filepath.Join(dir, "half"), nil, 0o644); err != nil {
			return err
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("got error %v", err)
	}
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != ".lock" {
			t.Errorf("left %s", e.Name())
		}
	}
}

func TestWaitsForALockNoLongerThanAsked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	unlock, err := store.Lock(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := store.Lock(ctx, file); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v", err)
	}
	unlock()
	again, err := store.Lock(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	again()
}

// TestALockThatWasRemovedLocksNothing: down removes its lock while another command
// waits for it.
func TestALockThatWasRemovedLocksNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	first, err := store.Lock(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	second := make(chan func(), 1)
	go func() {
		unlock, err := store.Lock(t.Context(), file)
		if err != nil {
			t.Error(err)
			unlock = func() {}
		}
		second <- unlock
	}()
	// It has opened the file once its second descriptor is there.
	for range 200 {
		if opened(t, file) == 2 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	first()
	unlock := <-second
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if third, err := store.Lock(ctx, file); err == nil {
		third()
		t.Error("two hold the lock")
	}
}

// opened counts the descriptors of this process for a file.
func opened(t *testing.T, file string) int {
	t.Helper()
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == file {
			n++
		}
	}
	return n
}

func TestKeyFollowsContents(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.go": "package a", "go.mod": "module a", "a_test.go": "package a", "notes": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	key := func(words ...string) string {
		files, err := store.Files(dir)
		if err != nil {
			t.Fatal(err)
		}
		k, err := store.Key(files, words)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	first := key("go1.26")
	write("a_test.go", "package a // other")
	write("notes", "y")
	if key("go1.26") != first {
		t.Error("the key follows files that no build reads")
	}
	if key("go1.27") == first {
		t.Error("the key does not follow the version of Go")
	}
	write("a.go", "package a // other")
	if key("go1.26") == first {
		t.Error("the key does not follow a source file")
	}
}

func TestCacheDirectory(t *testing.T) {
	for name, c := range map[string]struct {
		environment map[string]string
		want        string
	}{
		"its own variable": {map[string]string{"VALKEY_RENDER_CACHE": "/a", "XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/a"},
		"XDG":              {map[string]string{"XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/b/valkey-render"},
		"home":             {map[string]string{"HOME": "/c"}, "/c/.cache/valkey-render"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := store.Dir(func(key string) string { return c.environment[key] })
			if err != nil || got != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
	if _, err := store.Dir(func(string) string { return "" }); err == nil {
		t.Error("no error without any variable")
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package outdir

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
)

// breaking fails the nth change of a directory.
type breaking struct {
	system.Files
	left *int
}

type breakingRoot struct {
	system.Root
	left *int
}

var errBroken = errors.New("disk full")

func (b breaking) OpenRoot(name string) (system.Root, error) {
	root, err := b.Files.OpenRoot(name)
	return breakingRoot{root, b.left}, err
}

func (b breakingRoot) spend() error {
	if *b.left--; *b.left == 0 {
		return errBroken
	}
	return nil
}

func (b breakingRoot) WriteFile(name string, data []byte) error {
	if err := b.spend(); err != nil {
		// A full disk leaves half a file behind.
		return errors.Join(err, b.Root.WriteFile(name, data[:len(data)/2]))
	}
	return b.Root.WriteFile(name, data)
}

func (b breakingRoot) MkdirAll(name string) error {
	if err := b.spend(); err != nil {
		return err
	}
	return b.Root.MkdirAll(name)
}

func (b breakingRoot) Fresh(prefix string) (string, error) {
	if err := b.spend(); err != nil {
		return "", err
	}
	return b.Root.Fresh(prefix)
}

func (b breakingRoot) Rename(from, to string) error {
	if err := b.spend(); err != nil {
		return err
	}
	return b.Root.Rename(from, to)
}

func (b breakingRoot) Remove(name string) error {
	if err := b.spend(); err != nil {
		return err
	}
	return b.Root.Remove(name)
}

// TestAFailureAtAnyPointLeavesWholeFiles breaks every single change in turn:
// each file is the old or the new one, stale files are removed only once all
// new ones are in place, and running again ends where the first run would have.
func TestAFailureAtAnyPointLeavesWholeFiles(t *testing.T) {
	old := map[string]string{"a.yaml": Header + "old a\n", "b.yaml": Header + "old b\n", "stale.yaml": Header, "keep.txt": "k"}
	texts := map[string]string{"a.yaml": "new a\n", "b.yaml": "new b\n", "shop/c.yaml": "new c\n"}
	want := rendered(texts)
	failures := 0
	for n := 1; ; n++ {
		dir := filepath.Join(t.TempDir(), "out")
		lay(t, dir, old)
		left := n
		_, err := Sync(t.Context(), breaking{system.Disk(), &left}, dir, want)
		if err == nil {
			break
		}
		failures++
		if !errors.Is(err, errBroken) {
			t.Fatalf("change %d: %v", n, err)
		}
		got := held(t, dir)
		complete := true
		for name, text := range texts {
			if got[name] != Header+text {
				complete = false
				if got[name] != old[name] {
					t.Errorf("change %d: %s is neither old nor new: %q", n, name, got[name])
				}
			}
		}
		if _, ok := got["stale.yaml"]; !ok && !complete {
			t.Errorf("change %d: a stale file was removed before the new ones were in place", n)
		}
		if left := slices.DeleteFunc(slices.Collect(maps.Keys(got)), func(name string) bool {
			// A directory that cannot be removed is the next run's to remove.
			return !strings.HasPrefix(name, staging) || strings.HasSuffix(name, "/")
		}); len(left) > 0 {
			t.Errorf("change %d: left behind %v", n, left)
		}
		if _, err := Sync(t.Context(), system.Disk(), dir, want); err != nil {
			t.Errorf("change %d: running again: %v", n, err)
		}
		final := map[string]string{"keep.txt": "k", "shop/": ""}
		for name, text := range texts {
			final[name] = Header + text
		}
		if diff := cmp.Diff(final, held(t, dir)); diff != "" {
			t.Errorf("change %d: running again (-want +got)\n%s", n, diff)
		}
	}
	if failures < 10 {
		t.Errorf("only %d failures were tried", failures)
	}
}

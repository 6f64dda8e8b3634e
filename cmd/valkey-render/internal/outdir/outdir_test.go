// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package outdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/write"
)

// lay writes files below dir; a name that ends in / makes a directory.
func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o777); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// held is what a directory holds, directories with a final slash.
func held(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			got[filepath.ToSlash(name)+"/"] = ""
			return nil
		}
		data, err := os.ReadFile(path)
		got[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Header is the first line of our files.
const Header = write.Header

func rendered(files map[string]string) []File {
	var out []File
	for name, text := range files {
		out = append(out, File{Name: name, Data: func([]byte) ([]byte, error) { return []byte(Header + text), nil }})
	}
	return out
}

func TestSync(t *testing.T) {
	for name, c := range map[string]struct {
		before, want map[string]string
		after        map[string]string
		changes      Changes
	}{
		"a directory that does not exist is made": {
			want:    map[string]string{"a.yaml": "a\n", "shop/b.yaml": "b\n"},
			after:   map[string]string{"a.yaml": Header + "a\n", "shop/": "", "shop/b.yaml": Header + "b\n"},
			changes: Changes{Write: []string{"a.yaml", "shop/b.yaml"}},
		},
		"only what differs is written": {
			before:  map[string]string{"a.yaml": Header + "a\n", "b.yaml": Header + "old\n"},
			want:    map[string]string{"a.yaml": "a\n", "b.yaml": "new\n"},
			after:   map[string]string{"a.yaml": Header + "a\n", "b.yaml": Header + "new\n"},
			changes: Changes{Write: []string{"b.yaml"}, Unchanged: 1},
		},
		"stale files of ours go, with directories they leave empty": {
			before:  map[string]string{"a.yaml": Header + "a\n", "shop/b.yaml": Header, "old/c.yaml": Header, "old/notes.txt": "x"},
			want:    map[string]string{"a.yaml": "a\n"},
			after:   map[string]string{"a.yaml": Header + "a\n", "old/": "", "old/notes.txt": "x"},
			changes: Changes{Remove: []string{"old/c.yaml", "shop/b.yaml"}, Unchanged: 1},
		},
		"files of others stay, whatever they are called": {
			before: map[string]string{
				"kustomization.yaml": "resources: [a.yaml]\n", "statefulset-old-0.yaml": "kind: StatefulSet\n",
				"header-below.yaml": "\n" + Header, "ours.txt": Header, ".hidden.yaml": Header, ".git/x.yaml": Header,
				"shop/deep/x.yaml": Header,
			},
			want: map[string]string{"a.yaml": "a\n"},
			after: map[string]string{
				"kustomization.yaml": "resources: [a.yaml]\n", "statefulset-old-0.yaml": "kind: StatefulSet\n",
				"header-below.yaml": "\n" + Header, "ours.txt": Header, ".hidden.yaml": Header, ".git/": "", ".git/x.yaml": Header,
				"shop/": "", "shop/deep/": "", "shop/deep/x.yaml": Header, "a.yaml": Header + "a\n",
			},
			changes: Changes{Write: []string{"a.yaml"}},
		},
		"line ends that Git changed do not hide our files": {
			before:  map[string]string{"stale.yaml": strings.TrimSuffix(Header, "\n") + "\r\na\r\n"},
			after:   map[string]string{},
			changes: Changes{Remove: []string{"stale.yaml"}},
		},
		"what a killed run left staged is cleared, and nothing else": {
			before: map[string]string{
				staging + "1-0/a.yaml": Header + "half", staging + "1-0/shop/b.yaml": "",
				staging + "2-0/a.yaml": Header + "x", staging + "2-0/mine.txt": "mine",
			},
			want:    map[string]string{"a.yaml": "a\n"},
			after:   map[string]string{"a.yaml": Header + "a\n", staging + "2-0/": "", staging + "2-0/mine.txt": "mine"},
			changes: Changes{Write: []string{"a.yaml"}},
		},
		"line ends alone are no difference": {
			before:  map[string]string{"a.yaml": strings.TrimSuffix(Header, "\n") + "\r\na\r\n"},
			want:    map[string]string{"a.yaml": "a\n"},
			after:   map[string]string{"a.yaml": strings.TrimSuffix(Header, "\n") + "\r\na\r\n"},
			changes: Changes{Unchanged: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			if c.before != nil {
				lay(t, dir, c.before)
			}
			changes, err := Sync(t.Context(), system.Disk(), dir, rendered(c.want))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.changes, changes, cmpopts.IgnoreFields(Changes{}, "Held")); diff != "" {
				t.Errorf("changes (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.after, held(t, dir)); diff != "" {
				t.Errorf("directory (-want +got)\n%s", diff)
			}
		})
	}
}

func TestWhatIsInTheWayIsNamedAndNothingChanges(t *testing.T) {
	dir := t.TempDir()
	before := map[string]string{
		"a.yaml": "mine\n", "b.yaml/": "", "shop": "a file", "stale.yaml": Header, "fine.yaml": Header + "old\n",
	}
	lay(t, dir, before)
	outside := filepath.Join(t.TempDir(), "outside.yaml")
	lay(t, filepath.Dir(outside), map[string]string{"outside.yaml": Header + "x\n"})
	if err := os.Symlink(outside, filepath.Join(dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	state := held(t, dir)
	_, err := Sync(t.Context(), system.Disk(), dir, rendered(map[string]string{
		"a.yaml": "1", "b.yaml": "2", "shop/c.yaml": "3", "link.yaml": "4", "fine.yaml": "5",
		"../out.yaml": "6", "/abs.yaml": "7", "a/b/c.yaml": "8", "x.sh": "9", ".hidden.yaml": "10",
	}))
	if err == nil {
		t.Fatal("no error")
	}
	want := []string{
		`"../out.yaml" is not a name for a rendered file`,
		`".hidden.yaml" is not a name for a rendered file`,
		`"/abs.yaml" is not a name for a rendered file`,
		`"a/b/c.yaml" is not a name for a rendered file`,
		`"x.sh" is not a name for a rendered file`,
		`a.yaml: exists and was not written by valkey-render; move it away, or render into a directory of its own`,
		`b.yaml: exists and is not a regular file`,
		`link.yaml: exists and is not a regular file`,
		`shop: exists and is not a directory`,
	}
	if diff := cmp.Diff(want, strings.Split(err.Error(), "\n")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff(state, held(t, dir)); diff != "" {
		t.Errorf("directory changed (-before +after)\n%s", diff)
	}
}

func TestASymlinkedNamespaceDirectoryIsNotWrittenThrough(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	lay(t, outside, map[string]string{"b.yaml": Header})
	if err := os.Symlink(outside, filepath.Join(dir, "shop")); err != nil {
		t.Fatal(err)
	}
	if _, err := Sync(t.Context(), system.Disk(), dir, rendered(map[string]string{"shop/a.yaml": "a"})); err == nil {
		t.Error("no error")
	}
	if _, err := Sync(t.Context(), system.Disk(), dir, nil); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]string{"b.yaml": Header}, held(t, outside)); diff != "" {
		t.Errorf("outside changed (-before +after)\n%s", diff)
	}
}

func TestUnchangedFilesAreNotTouched(t *testing.T) {
	dir := t.TempDir()
	want := rendered(map[string]string{"a.yaml": "a\n"})
	if _, err := Sync(t.Context(), system.Disk(), dir, want); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(filepath.Join(dir, "a.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Sync(t.Context(), system.Disk(), dir, want); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(filepath.Join(dir, "a.yaml"))
	if err != nil || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("the file was written again (%v)", err)
	}
}

// TestOfSeveralAtOnceOneWins: whoever is last, what it wants is there whole.
func TestOfSeveralAtOnceOneWins(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	wants := make([]map[string]string, 8)
	var wg sync.WaitGroup
	for i := range wants {
		// Some names are everybody's, some one's own.
		wants[i] = map[string]string{"a.yaml": "", "shop/b.yaml": "", fmt.Sprintf("own%d/c.yaml", i): "", fmt.Sprintf("d%d.yaml", i): ""}
		for name := range wants[i] {
			wants[i][name] = fmt.Sprintf("of %d\n", i)
		}
		wg.Go(func() {
			if _, err := Sync(t.Context(), system.Disk(), dir, rendered(wants[i])); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got := held(t, dir)
	maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasSuffix(name, "/") })
	for _, want := range wants {
		whole := map[string]string{}
		for name, text := range want {
			whole[name] = Header + text
		}
		if maps.Equal(whole, got) {
			return
		}
	}
	t.Errorf("nobody's: %v", got)
}

func TestAWaitForAnotherRunEnds(t *testing.T) {
	dir := t.TempDir()
	root, err := system.Disk().OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	unlock, locked, err := root.Lock(t.Context())
	if err != nil || !locked {
		t.Fatal(locked, err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Sync(ctx, system.Disk(), dir, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"real.yaml": "old"})
	if err := os.Symlink("real.yaml", filepath.Join(dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link.yaml", "sub/new.yaml"} {
		if err := Replace(system.Disk(), filepath.Join(dir, name), []byte("new")); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"real.yaml": "new", "link.yaml": "new", "sub/": "", "sub/new.yaml": "new"}
	if diff := cmp.Diff(want, held(t, dir)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	left := 1
	if err := Replace(breaking{system.Disk(), &left}, filepath.Join(dir, "real.yaml"), []byte("newer")); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(want, held(t, dir)); diff != "" {
		t.Errorf("after a failure (-want +got)\n%s", diff)
	}
}

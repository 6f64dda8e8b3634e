// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package debian_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/debian"
)

// pack makes a package of files, by their names in it; a text "-> x" makes a link to x.
func pack(t *testing.T, dir, name string, files map[string]string) {
	t.Helper()
	root := t.TempDir()
	files["DEBIAN/control"] = fmt.Sprintf("Package: %s\nVersion: 1\nArchitecture: all\nMaintainer: none\nDescription: none\n", name)
	for file, text := range files {
		path := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if link, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(link, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "dpkg-deb", "--root-owner-group", "--build", root, filepath.Join(dir, name+".deb")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func packages(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	pack(t, dir, "old", map[string]string{
		"bin/dash": "shell", "bin/sh": "-> dash", "lib/x86_64-linux-gnu/libc.so.6": "library", "usr/share/doc/old/README": "text",
	})
	pack(t, dir, "new", map[string]string{"usr/bin/tool": "tool", "etc/passwd": "packaged"})
	return dir
}

func extra() []debian.Extra {
	return []debian.Extra{
		{Name: "etc/passwd", Mode: 0o644, Body: "own"},
		{Name: "usr/local/bin/tool", Link: "/usr/bin/tool"},
		{Name: "data", Mode: 0o700, Dir: true, UID: 999},
		{Name: "etc", Mode: 0o755, Dir: true},
	}
}

func TestMergesPackagesIntoOneRoot(t *testing.T) {
	var out bytes.Buffer
	if err := debian.Tar(t.Context(), packages(t), extra(), &out); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	above := map[string]bool{"": true}
	for r := tar.NewReader(&out); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(h.Name, "/")
		if _, twice := got[name]; twice {
			t.Errorf("%s is there twice", name)
		}
		if dir, _, _ := cutLast(name); !above[dir] {
			t.Errorf("%s comes before its directory", name)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		got[name] = string(body)
		switch h.Typeflag {
		case tar.TypeDir:
			above[name] = true
			got[name] = fmt.Sprintf("dir %d", h.Uid)
		case tar.TypeSymlink:
			got[name] = "-> " + h.Linkname
		}
	}
	want := map[string]string{
		"bin": "-> usr/bin", "lib": "-> usr/lib", "data": "dir 999", "etc": "dir 0", "etc/passwd": "own",
		"usr": "dir 0", "usr/bin": "dir 0", "usr/bin/dash": "shell", "usr/bin/sh": "-> dash", "usr/bin/tool": "tool",
		"usr/lib": "dir 0", "usr/lib/x86_64-linux-gnu": "dir 0", "usr/lib/x86_64-linux-gnu/libc.so.6": "library",
		"usr/local": "dir 0", "usr/local/bin": "dir 0", "usr/local/bin/tool": "-> /usr/bin/tool",
		"usr/share": "dir 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func cutLast(name string) (dir, base string, found bool) {
	i := strings.LastIndex(name, "/")
	if i < 0 {
		return "", name, false
	}
	return name[:i], name[i+1:], true
}

func TestUnpacksARootOnDisk(t *testing.T) {
	root := t.TempDir()
	if err := debian.Unpack(t.Context(), packages(t), extra(), root); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"bin/sh": "shell", "etc/passwd": "own", "lib/x86_64-linux-gnu/libc.so.6": "library"} {
		got, err := os.ReadFile(filepath.Join(root, file))
		if err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v; want %q", file, got, err, want)
		}
	}
}

func TestNamesThePackageThatIsBroken(t *testing.T) {
	dir := packages(t)
	if err := os.WriteFile(filepath.Join(dir, "zz.deb"), []byte("no package"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := debian.Unpack(t.Context(), dir, nil, t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "package zz.deb: ") {
		t.Errorf("got error %v", err)
	}
	if err := debian.Unpack(t.Context(), t.TempDir(), nil, t.TempDir()); err == nil {
		t.Error("no error without packages")
	}
}

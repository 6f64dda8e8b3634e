// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/load"
)

// lay writes files and makes the test run above them.
func lay(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

// read returns "name=data" of each source, and the findings as text.
func read(t *testing.T, stdin io.Reader, req Request) (got, said []string) {
	t.Helper()
	sources, findings := Read(system.System{In: stdin, Files: system.Disk()}, req)
	for _, s := range sources {
		got = append(got, s.Name+"="+strings.TrimSpace(string(s.Data)))
	}
	for _, f := range findings.Sorted() {
		said = append(said, f.String())
	}
	return got, said
}

func TestRead(t *testing.T) {
	lay(t, map[string]string{
		"a.yaml": "a", "specs/b.yml": "b", "specs/c.json": "c", "specs/a.yaml": "a2", "specs/notes.md": "x",
		"specs/.hidden.yaml": "x", "specs/kustomization.yaml": "x", "specs/.git/d.yaml": "x", "specs/deep/e.yaml": "e",
		"empty/notes.md": "x", "elsewhere/f.yaml": "f", "bare": "bare",
	})
	link(t, filepath.Join("..", "elsewhere", "f.yaml"), "specs/link.yaml")
	link(t, filepath.Join("..", "elsewhere"), "specs/linked")
	link(t, "..", "specs/deep/loop")
	link(t, "gone.yaml", "specs/notes-gone.txt")
	for name, c := range map[string]struct {
		stdin      string
		req        Request
		want, said []string
	}{
		"files keep their order": {req: Request{Files: []string{"specs/c.json", "a.yaml"}}, want: []string{"specs/c.json=c", "a.yaml=a"}},
		"a file is read whatever its name is": {
			req: Request{Files: []string{"bare", "specs/.hidden.yaml"}}, want: []string{"bare=bare", "specs/.hidden.yaml=x"},
		},
		"a directory gives its manifests by name, through links to files": {
			req: Request{Files: []string{"./specs/"}}, want: []string{"specs/a.yaml=a2", "specs/b.yml=b", "specs/c.json=c", "specs/link.yaml=f"},
		},
		"-R descends, through links to directories, and ends in a loop": {
			req: Request{Files: []string{"specs"}, Recursive: true},
			want: []string{
				"specs/a.yaml=a2", "specs/b.yml=b", "specs/c.json=c", "specs/deep/e.yaml=e", "specs/link.yaml=f",
			},
		},
		"a file given twice, also under another name, is read once": {
			req:  Request{Files: []string{"a.yaml", "./a.yaml", "specs/../a.yaml", "specs/link.yaml", "elsewhere", "specs", "specs/"}},
			want: []string{"a.yaml=a", "specs/link.yaml=f", "specs/a.yaml=a2", "specs/b.yml=b", "specs/c.json=c"},
		},
		"standard input given twice is read once": {
			stdin: "in", req: Request{Files: []string{"-", "a.yaml", "-"}}, want: []string{"<stdin>=in", "a.yaml=a"},
		},
		"all that cannot be read is reported": {
			req:  Request{Files: []string{"nope.yaml", "a.yaml", "empty", "nope/"}, Kustomizations: []string{"gone", "specs/deep"}},
			want: []string{"a.yaml=a"},
			said: []string{
				"empty: error VR0015: no .yaml, .yml or .json file in it (-R descends into directories)",
				"gone: error VR0015: no such file or directory",
				"nope: error VR0015: no such file or directory",
				"nope.yaml: error VR0015: no such file or directory",
				"specs/deep: error VR0013: has no kustomization.yaml",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, said := read(t, strings.NewReader(c.stdin), c.req)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("sources (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.said, said); diff != "" {
				t.Errorf("findings (-want +got)\n%s", diff)
			}
		})
	}
}

func TestWhatADirectoryListsAndCannotBeReadIsReported(t *testing.T) {
	lay(t, map[string]string{"specs/a.yaml": "a", "specs/locked.yaml": "x"})
	link(t, "gone.yaml", "specs/dangling.yaml")
	if err := syscall.Mkfifo("specs/pipe.yaml", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("specs/closed", 0o777); err != nil {
		t.Fatal(err)
	}
	files := denying{system.Disk(), []string{"locked.yaml", "closed"}}
	sources, findings := Read(system.System{Files: files}, Request{Files: []string{"specs"}, Recursive: true})
	if len(sources) != 1 {
		t.Errorf("got %d sources", len(sources))
	}
	want := "specs/closed: error VR0015: permission denied\n" +
		"specs/dangling.yaml: error VR0015: no such file or directory\n" +
		"specs/locked.yaml: error VR0015: permission denied\n" +
		"specs/pipe.yaml: error VR0015: is not a regular file; name it with -f to read it all the same\n"
	if diff := cmp.Diff(want, string(findings.Text())); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// denying refuses files of some names, also to root.
type denying struct {
	system.Files
	names []string
}

func (d denying) Open(name string) (system.File, error) {
	if d.denies(name) {
		return nil, &os.PathError{Op: "open", Path: name, Err: syscall.EACCES}
	}
	return d.Files.Open(name)
}

func (d denying) ReadDir(name string) ([]os.DirEntry, error) {
	if d.denies(name) {
		return nil, &os.PathError{Op: "open", Path: name, Err: syscall.EACCES}
	}
	return d.Files.ReadDir(name)
}

func (d denying) denies(name string) bool {
	for _, n := range d.names {
		if filepath.Base(name) == n {
			return true
		}
	}
	return false
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("device gone") }

func TestAFailingStandardInputIsReported(t *testing.T) {
	_, said := read(t, failing{}, Request{Files: []string{"-"}})
	if diff := cmp.Diff([]string{"<stdin>: error VR0015: device gone"}, said); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestAnEndlessInputIsCutWhereTheLoaderSeesIt(t *testing.T) {
	sources, _ := Read(system.System{In: endless{}, Files: system.Disk()}, Request{Files: []string{"-"}})
	if len(sources) != 1 || len(sources[0].Data) != load.MaxBytes+1 {
		t.Errorf("got %d sources", len(sources))
	}
}

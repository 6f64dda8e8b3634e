// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/outdir"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/write"
)

// goldenFiles is what is committed at a path, and what would be.
type goldenFiles struct {
	files   system.Files
	path    string
	objects []*unstructured.Unstructured
	// absent says that nothing is there yet, file that it is one file.
	absent, file bool
	// tree and layout are those of a directory.
	tree   outdir.Tree
	layout []write.File
	// text is that of a file.
	text []byte
	crlf bool
}

// openGolden looks at what is at a path. What is not there is an error, unless it
// is about to be created.
func openGolden(files system.Files, at string, objects []*unstructured.Unstructured, create bool) (*goldenFiles, error) {
	g := &goldenFiles{files: files, path: at, objects: objects}
	info, err := files.Stat(at)
	g.absent = errors.Is(err, fs.ErrNotExist)
	switch {
	case g.absent && !create:
		return nil, errors.New("does not exist; --update creates it")
	case err != nil && !g.absent:
		return nil, err
	case g.absent && isYAML(at), !g.absent && !info.IsDir():
		g.file = true
		return g, g.readFile()
	}
	if g.layout, err = write.Layout(objects); err != nil {
		return nil, err
	}
	return g, g.readDirectory()
}

func isYAML(name string) bool {
	return filepath.Ext(name) == ".yaml" || filepath.Ext(name) == ".yml"
}

func (g *goldenFiles) readFile() error {
	if g.absent {
		return nil
	}
	f, err := g.files.Open(g.path)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	g.text = outdir.WithoutCR(data)
	g.crlf = len(g.text) != len(data)
	return err
}

// readDirectory looks at the files that we wrote, and of the others at those that
// stand where we would write or that hold an object of ours: someone who applies
// the directory applies them too.
func (g *goldenFiles) readDirectory() error {
	if g.absent {
		return nil
	}
	root, err := g.files.OpenRoot(g.path)
	if err != nil {
		return err
	}
	defer root.Close()
	g.tree, err = outdir.Read(root)
	g.crlf = g.tree.CRLF
	return err
}

// show is the path of a file of the golden for people and for diffs.
func (g *goldenFiles) show(name string) string { return path.Join(filepath.ToSlash(g.path), name) }

// names are those of the files that are rendered into a directory.
func (g *goldenFiles) names() map[string]bool {
	names := make(map[string]bool, len(g.layout))
	for _, f := range g.layout {
		names[f.Path] = true
	}
	return names
}

// unwritable says what keeps --update from writing; "" if nothing does.
func (g *goldenFiles) unwritable() string {
	if g.file {
		if len(bytes.TrimSpace(g.text)) > 0 && !outdir.HasOurLabel(g.text) {
			return "it was not written by valkey-render; move it away first"
		}
		return ""
	}
	if err := g.tree.InTheWay(g.names()); err != nil {
		first, more, _ := strings.Cut(err.Error(), "\n")
		if more != "" {
			first += fmt.Sprintf(" (and %d more)", strings.Count(more, "\n")+1)
		}
		return first
	}
	return ""
}

// update makes what is committed what is rendered.
func (g *goldenFiles) update(ctx context.Context, sys system.System) error {
	if !g.file {
		return keep(ctx, sys, g.path, g.layout)
	}
	rendered, err := write.YAML(g.objects)
	if err != nil {
		return err
	}
	if !g.absent && bytes.Equal(g.text, rendered) {
		fmt.Fprintf(sys.Err, "%s: unchanged\n", g.path)
		return nil
	}
	if why := g.unwritable(); why != "" {
		return fmt.Errorf("%s: %s", g.path, why)
	}
	if err := outdir.Replace(sys.Files, g.path, rendered); err != nil {
		return subject(g.path, err)
	}
	fmt.Fprintf(sys.Err, "%s: written\n", g.path)
	return nil
}

// keep makes a directory hold the files, and says what it changed.
func keep(ctx context.Context, sys system.System, dir string, layout []write.File) error {
	files := make([]outdir.File, len(layout))
	for i, f := range layout {
		files[i] = outdir.File{Name: f.Path, Data: f.Data}
	}
	changes, err := outdir.Sync(ctx, sys.Files, dir, files)
	if err != nil {
		return subject(dir, err)
	}
	for _, name := range changes.Remove {
		fmt.Fprintf(sys.Err, "%s: removed %s, which is no longer rendered\n", dir, name)
	}
	fmt.Fprintf(sys.Err, "%s: %d written, %d unchanged, %d removed\n", dir, len(changes.Write), changes.Unchanged, len(changes.Remove))
	if outdir.Astray(len(changes.Remove), changes.Held) {
		fmt.Fprintf(sys.Err, "%s: warning: %d of %d files that were there are no longer rendered; was it the directory of another build?\n",
			dir, len(changes.Remove), changes.Held)
	}
	return nil
}

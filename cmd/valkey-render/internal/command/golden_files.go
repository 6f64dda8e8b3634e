// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/outdir"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/write"
)

// goldenFiles is what is committed at a path and what would be.
type goldenFiles struct {
	path string
	// single is the name of the one file, if the golden is no directory.
	single              string
	committed, rendered map[string][]byte
}

// openGolden reads what is at path. What is not there is an error, unless it is
// about to be created.
func openGolden(files system.Files, at string, objects []*unstructured.Unstructured, create bool) (*goldenFiles, error) {
	info, err := files.Stat(at)
	absent := errors.Is(err, fs.ErrNotExist)
	switch {
	case absent && !create:
		return nil, errors.New("does not exist; --update creates it")
	case err != nil && !absent:
		return nil, err
	case absent && isYAML(at), !absent && !info.IsDir():
		return openGoldenFile(files, at, objects, absent)
	}
	rendered, err := write.Files(objects)
	if err != nil {
		return nil, err
	}
	g := &goldenFiles{path: at, rendered: outdir.WithHeader(rendered), committed: map[string][]byte{}}
	if absent {
		return g, nil
	}
	return g, g.readDirectory(files)
}

func isYAML(name string) bool {
	return filepath.Ext(name) == ".yaml" || filepath.Ext(name) == ".yml"
}

func openGoldenFile(files system.Files, at string, objects []*unstructured.Unstructured, absent bool) (*goldenFiles, error) {
	rendered, err := write.YAML(objects)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(at)
	g := &goldenFiles{path: at, single: name, rendered: map[string][]byte{name: rendered}, committed: map[string][]byte{}}
	if absent {
		return g, nil
	}
	f, err := files.Open(at)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	g.committed[name] = data
	return g, err
}

// readDirectory takes the files that we wrote, and of the others those that
// stand where we would write or that hold an object of ours: someone who applies
// the directory applies them too.
func (g *goldenFiles) readDirectory(files system.Files) error {
	root, err := files.OpenRoot(g.path)
	if err != nil {
		return err
	}
	defer root.Close()
	tree, err := outdir.Read(root)
	if err != nil {
		return err
	}
	g.committed = tree.Files
	for name, data := range tree.Foreign {
		if _, ok := g.rendered[name]; ok || hasOurLabel(data) {
			g.committed[name] = data
		}
	}
	return nil
}

// hasOurLabel reports whether a manifest looks rendered by us. Only rendered
// objects carry the label.
func hasOurLabel(manifest []byte) bool {
	return bytes.Contains(manifest, []byte("app.kubernetes.io/managed-by: valkey-render\n"))
}

// file is the path of a golden file for findings.
func (g *goldenFiles) file(name string) string {
	if g.single != "" {
		return filepath.ToSlash(g.path)
	}
	return path.Join(filepath.ToSlash(g.path), name)
}

// update makes what is committed what is rendered.
func (g *goldenFiles) update(sys system.System) error {
	if g.single == "" {
		changes, err := outdir.Sync(sys.Files, g.path, g.rendered)
		if err != nil {
			return subject(g.path, err)
		}
		tell(sys, g.path, changes)
		return nil
	}
	committed, exists := g.committed[g.single]
	switch {
	case exists && bytes.Equal(committed, g.rendered[g.single]):
		fmt.Fprintf(sys.Err, "%s: unchanged\n", g.path)
		return nil
	case len(bytes.TrimSpace(committed)) > 0 && !hasOurLabel(committed):
		return fmt.Errorf("%s: was not written by valkey-render; move it away first", g.path)
	}
	if err := outdir.Replace(sys.Files, g.path, g.rendered[g.single]); err != nil {
		return subject(g.path, err)
	}
	fmt.Fprintf(sys.Err, "%s: written\n", g.path)
	return nil
}

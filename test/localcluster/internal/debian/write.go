// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package debian

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Tar writes the root file system of the packages *.deb in dir as a tar archive.
func Tar(ctx context.Context, dir string, extra []Extra, w io.Writer) error {
	t := tar.NewWriter(w)
	if err := merge(ctx, dir, extra, archive{t}); err != nil {
		return err
	}
	return t.Close()
}

type archive struct{ w *tar.Writer }

func (a archive) entry(h *tar.Header, body io.Reader) error {
	if h.Typeflag == tar.TypeDir {
		h.Name += "/"
	}
	if err := a.w.WriteHeader(h); err != nil {
		return err
	}
	if h.Typeflag != tar.TypeReg {
		return nil
	}
	_, err := io.Copy(a.w, body)
	return err
}

// Unpack writes the root file system of the packages *.deb in dir below root. All of it
// belongs to the caller: who it belonged to matters to no program of a node.
func Unpack(ctx context.Context, dir string, extra []Extra, root string) error {
	return merge(ctx, dir, extra, directory(root))
}

type directory string

func (d directory) entry(h *tar.Header, body io.Reader) error {
	if !filepath.IsLocal(h.Name) {
		return fmt.Errorf("%s leads out of the root", h.Name)
	}
	file := filepath.Join(string(d), h.Name)
	switch h.Typeflag {
	case tar.TypeDir:
		return os.MkdirAll(file, 0o755)
	case tar.TypeSymlink:
		return os.Symlink(h.Linkname, file)
	case tar.TypeLink:
		return os.Link(filepath.Join(string(d), h.Linkname), file)
	case tar.TypeReg:
		f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, os.FileMode(h.Mode)&0o777|0o600)
		if err != nil {
			return err
		}
		if _, err := io.Copy(f, body); err != nil {
			f.Close()
			return err
		}
		return f.Close()
	}
	return nil // devices: the machine's are there
}

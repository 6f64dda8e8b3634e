// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package debian

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Extra is an entry that no package brings: a directory where Mode says so, a link where
// Link is set, else a file.
type Extra struct {
	Name string // without a leading slash
	Body string
	Link string
	Mode int64 // permissions; 0755 for directories, with Dir
	Dir  bool
	UID  int
}

// sink takes the entries of a root file system, each once, directories before what they hold.
type sink interface {
	entry(header *tar.Header, body io.Reader) error
}

// merged are the directories of / that are links into /usr.
func merged() []string { return []string{"bin", "sbin", "lib", "lib64"} }

// unneeded tells what a test system can do without.
func unneeded(name string) bool {
	for _, prefix := range []string{
		"usr/share/doc/", "usr/share/man/", "usr/share/locale/", "usr/share/info/", "usr/share/lintian/",
		"usr/share/bash-completion/", "usr/share/zsh/", "usr/share/bug/", "usr/share/perl5/",
		"usr/lib/systemd/", "usr/lib/x86_64-linux-gnu/gconv/", "usr/lib/x86_64-linux-gnu/systemd/",
		"usr/lib/x86_64-linux-gnu/perl/", "usr/share/perl/",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// clean is the name of an entry as it is after the merge of / and /usr: "./bin/sh" is
// "usr/bin/sh".
func clean(name string) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	first, rest, deeper := strings.Cut(name, "/")
	for _, dir := range merged() {
		if first == dir && deeper {
			return path.Join("usr", dir, rest)
		}
	}
	return name
}

// merge sends the contents of the packages *.deb of a directory, and the extra entries.
func merge(ctx context.Context, dir string, extra []Extra, to sink) error {
	debs, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(debs) == 0 {
		return fmt.Errorf("packages: none in %s", dir)
	}
	m := merger{to: to, seen: map[string]bool{}}
	for _, e := range extra {
		m.seen[e.Name] = !e.Dir
	}
	for _, deb := range debs {
		if err := m.deb(ctx, deb); err != nil {
			return fmt.Errorf("package %s: %w", filepath.Base(deb), err)
		}
	}
	return m.extra(extra)
}

type merger struct {
	to   sink
	seen map[string]bool
}

func (m *merger) deb(ctx context.Context, deb string) error {
	var failure bytes.Buffer
	c := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", deb)
	c.Stderr = &failure
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	err = m.entries(tar.NewReader(out))
	if err == nil {
		_, err = io.Copy(io.Discard, out)
	}
	if waited := c.Wait(); err == nil && waited != nil {
		err = fmt.Errorf("%w: %s", waited, strings.TrimSpace(failure.String()))
	}
	return err
}

func (m *merger) entries(r *tar.Reader) error {
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		h.Name = clean(h.Name)
		if h.Typeflag == tar.TypeLink {
			h.Linkname = clean(h.Linkname)
		}
		top := false
		for _, dir := range merged() {
			top = top || h.Name == dir
		}
		if top || h.Name == "" || m.seen[h.Name] || unneeded(h.Name+"/") {
			continue
		}
		if err := m.send(h, r); err != nil {
			return err
		}
	}
}

// send sends one entry, after those directories above it that no package has named.
func (m *merger) send(h *tar.Header, body io.Reader) error {
	if above := path.Dir(h.Name); above != "." && !m.seen[above] {
		if err := m.send(header(above, tar.TypeDir, 0o755), nil); err != nil {
			return err
		}
	}
	m.seen[h.Name] = true
	h.Uname, h.Gname, h.PAXRecords, h.Format = "", "", nil, tar.FormatUnknown
	h.AccessTime, h.ChangeTime = time.Time{}, time.Time{}
	return m.to.entry(h, body)
}

func (m *merger) extra(extra []Extra) error {
	for _, dir := range merged() {
		if m.seen["usr/"+dir] {
			h := header(dir, tar.TypeSymlink, 0o777)
			h.Linkname = "usr/" + dir
			if err := m.send(h, nil); err != nil {
				return err
			}
		}
	}
	for _, e := range extra {
		h := header(e.Name, tar.TypeReg, e.Mode)
		h.Uid, h.Gid = e.UID, e.UID
		switch {
		case e.Dir && m.seen[e.Name]:
			continue
		case e.Dir:
			h.Typeflag = tar.TypeDir
		case e.Link != "":
			h.Typeflag, h.Linkname = tar.TypeSymlink, e.Link
		default:
			h.Size = int64(len(e.Body))
		}
		if err := m.send(h, strings.NewReader(e.Body)); err != nil {
			return err
		}
	}
	return nil
}

func header(name string, kind byte, mode int64) *tar.Header {
	return &tar.Header{Name: name, Typeflag: kind, Mode: mode, ModTime: time.Unix(0, 0)}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/load"
)

// Stdin is the name that findings give to standard input.
const Stdin = "<stdin>"

// Request says what to read.
type Request struct {
	// Files are files, directories, or "-" for standard input.
	Files []string
	// Kustomizations are directories with a kustomization file.
	Kustomizations []string
	// Recursive descends into the directories of Files.
	Recursive bool
}

// Read reads everything that req names, each file once however often and under
// whatever names it is given. Directories give their *.yaml, *.yml and *.json
// files in order of name; hidden ones and kustomization files are left out.
// There is one finding for each file that cannot be read.
func Read(sys system.System, req Request) ([]load.Source, finding.List) {
	r := &reader{sys: sys, req: req, seen: map[string]bool{}}
	for _, name := range req.Files {
		if name == "-" {
			r.stdin()
			continue
		}
		r.operand(filepath.Clean(name))
	}
	for _, dir := range req.Kustomizations {
		r.kustomization(filepath.Clean(dir))
	}
	return r.sources, r.findings
}

type reader struct {
	sys     system.System
	req     Request
	seen    map[string]bool // real paths, and Stdin
	met     int             // files, also those read before
	sources []load.Source

	findings finding.List
}

func (r *reader) fail(name string, err error) {
	// The finding names the file already: "open x: " would repeat it.
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	r.find(finding.Unreadable, name, err.Error())
}

func (r *reader) find(code finding.Code, name, message string) {
	f := finding.New(code, message)
	f.File = filepath.ToSlash(name)
	r.findings = append(r.findings, f)
}

// first reports whether the file was not read before, by its real path.
func (r *reader) first(name string) bool {
	path, err := r.sys.Files.RealPath(name)
	if err != nil {
		r.fail(name, err)
		return false
	}
	if r.seen[path] {
		return false
	}
	r.seen[path] = true
	return true
}

func (r *reader) stdin() {
	if r.seen[Stdin] {
		return
	}
	r.seen[Stdin] = true
	data, err := io.ReadAll(limit(r.sys.In))
	if err != nil {
		r.fail(Stdin, err)
		return
	}
	r.sources = append(r.sources, load.Source{Name: Stdin, Data: data})
}

// operand reads a file or directory that was named by the user.
func (r *reader) operand(name string) {
	info, err := r.sys.Files.Stat(name)
	switch {
	case err != nil:
		r.fail(name, err)
	case info.IsDir():
		met, failed := r.met, len(r.findings)
		if r.directory(name) && r.met == met && len(r.findings) == failed {
			r.fail(name, r.empty())
		}
	default:
		// Also pipes and devices, such as /dev/fd/63 of a shell's <(…).
		r.file(name)
	}
}

func (r *reader) empty() error {
	if r.req.Recursive {
		return errors.New("no .yaml, .yml or .json file in it or below")
	}
	return errors.New("no .yaml, .yml or .json file in it (-R descends into directories)")
}

// directory reads what a directory lists; false if it was read before.
func (r *reader) directory(name string) bool {
	// A symbolic link that leads back to a parent ends here.
	if !r.first(name) {
		return false
	}
	entries, err := r.sys.Files.ReadDir(name)
	if err != nil {
		r.fail(name, err)
	}
	for _, entry := range entries {
		// Hidden: .git, editors' copies, and the ..data of a mounted ConfigMap.
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		r.entry(filepath.Join(name, entry.Name()), entry)
	}
	return true
}

// entry reads what a directory lists; symbolic links are followed.
func (r *reader) entry(path string, entry fs.DirEntry) {
	mode := entry.Type()
	manifest := isManifest(entry.Name())
	if mode&fs.ModeSymlink != 0 {
		info, err := r.sys.Files.Stat(path)
		if err != nil {
			// A dangling link only matters if it would have been read.
			if manifest {
				r.fail(path, err)
			}
			return
		}
		mode = info.Mode().Type()
	}
	switch {
	case mode.IsDir():
		if r.req.Recursive {
			r.directory(path)
		}
	case !manifest:
	case mode.IsRegular():
		r.file(path)
	default:
		r.fail(path, errors.New("is not a regular file; name it with -f to read it all the same"))
	}
}

func (r *reader) file(name string) {
	r.met++
	if !r.first(name) {
		return
	}
	f, err := r.sys.Files.Open(name)
	if err != nil {
		r.fail(name, err)
		return
	}
	defer f.Close()
	data, err := io.ReadAll(limit(f))
	if err != nil {
		r.fail(name, err)
		return
	}
	r.sources = append(r.sources, load.Source{Name: filepath.ToSlash(name), Data: data})
}

// limit cuts what is too long one byte later, so that the loader sees that it
// is, and an endless device ends.
func limit(from io.Reader) io.Reader {
	return io.LimitReader(from, load.MaxBytes+1)
}

// isManifest reports whether a file of a directory is read. A kustomization
// file is not a manifest: -k reads it.
func isManifest(name string) bool {
	if slices.Contains(kustomizationFiles(), name) {
		return false
	}
	switch filepath.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// kustomizationFiles are the names that kustomize recognizes.
func kustomizationFiles() []string {
	return []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}
}

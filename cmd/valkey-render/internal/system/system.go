// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package system

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// System is what a command may use of the machine.
type System struct {
	// In is where `-f -` and the KRM function read from.
	In io.Reader
	// Out takes data and nothing else; Err takes everything said about it.
	Out, Err io.Writer
	// Terminal says that Err is one, so that progress may rewrite its line.
	Terminal bool
	// Files is the file system.
	Files Files
	// JobImage is the image of this release, with the programs that Jobs run.
	JobImage string
	// Getenv is os.Getenv or a test's.
	Getenv func(string) string
	// Columns is the width of the terminal that Out is; nil or 0 when it is none.
	Columns func() int
}

// pageWidth is how wide tables are where no terminal says.
const pageWidth = 120

// Width is how many columns a table may have.
func (s System) Width() int {
	if s.Columns != nil {
		if columns := s.Columns(); columns > 0 {
			return columns
		}
	}
	return pageWidth
}

// Files is the part of a file system that the commands use. Names are paths of
// the operating system.
type Files interface {
	// Open opens a file for reading, following symbolic links.
	Open(name string) (File, error)
	// Stat describes a file, following symbolic links.
	Stat(name string) (fs.FileInfo, error)
	// ReadDir lists a directory, sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)
	// RealPath is the absolute path without symbolic links.
	RealPath(name string) (string, error)
	// MkdirAll makes a directory and its parents.
	MkdirAll(name string) error
	// OpenRoot opens a directory that nothing done through it can leave.
	OpenRoot(name string) (Root, error)
	// Getwd is the working directory.
	Getwd() (string, error)
}

// File is an open file.
type File = fs.File

// Root is a directory to write in. Names are relative and slash-separated; a
// name that leads out of it, by `..` or by a symbolic link, is an error.
type Root interface {
	Lstat(name string) (fs.FileInfo, error)
	// ReadFile reads into the memory of buf, which may be nil.
	ReadFile(name string, buf []byte) ([]byte, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	WriteFile(name string, data []byte) error
	MkdirAll(name string) error
	// Fresh makes a directory that no other process has, and returns its name,
	// which begins with prefix.
	Fresh(prefix string) (string, error)
	// Lock keeps other processes from holding the lock of the directory, and waits
	// until none does. The lock ends with the process. Where there are no such
	// locks it is not locked, and nothing is wrong.
	Lock(ctx context.Context) (unlock func(), locked bool, err error)
	Rename(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
	Close() error
}

// Disk is the real file system.
func Disk() Files { return disk{} }

// Permissions of what is written, before the umask.
const (
	dirMode  = 0o777
	fileMode = 0o666
)

type disk struct{}

func (disk) Open(name string) (File, error)             { return os.Open(name) }
func (disk) Stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }
func (disk) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (disk) MkdirAll(name string) error                 { return os.MkdirAll(name, dirMode) }
func (disk) Getwd() (string, error)                     { return os.Getwd() }

func (disk) RealPath(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

func (disk) OpenRoot(name string) (Root, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return diskRoot{root, name}, nil
}

type diskRoot struct {
	root *os.Root
	name string
}

func (d diskRoot) Lstat(name string) (fs.FileInfo, error)         { return d.root.Lstat(name) }
func (d diskRoot) MkdirAll(name string) error                     { return d.root.MkdirAll(name, dirMode) }
func (d diskRoot) Rename(from, to string) error                   { return d.root.Rename(from, to) }
func (d diskRoot) Remove(name string) error                       { return d.root.Remove(name) }
func (d diskRoot) RemoveAll(name string) error                    { return d.root.RemoveAll(name) }
func (d diskRoot) Lock(ctx context.Context) (func(), bool, error) { return lock(ctx, d.name) }
func (d diskRoot) Close() error                                   { return d.root.Close() }

func (d diskRoot) ReadDir(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(d.root.FS(), name)
}

func (d diskRoot) ReadFile(name string, buf []byte) ([]byte, error) {
	f, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	into := bytes.NewBuffer(buf[:0])
	_, err = into.ReadFrom(f)
	return into.Bytes(), err
}

func (d diskRoot) Fresh(prefix string) (string, error) {
	for i := 0; ; i++ {
		name := fmt.Sprintf("%s%d-%d", prefix, os.Getpid(), i)
		if err := d.root.Mkdir(name, dirMode); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
}

func (d diskRoot) WriteFile(name string, data []byte) error {
	return d.root.WriteFile(name, data, fileMode)
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"k8s.io/utils/clock"
)

// System is what a command may use of the machine.
type System struct {
	// Out takes data and nothing else; Err takes everything said about it.
	Out, Err io.Writer
	// Terminal says that Err is one.
	Terminal bool
	// Getenv is os.Getenv or a test's.
	Getenv func(string) string
	// Files is the file system.
	Files Files
	// Random is where passwords come from.
	Random io.Reader
	// Clock is the real one or a test's.
	Clock clock.Clock
}

// Files is the part of a file system that the commands use.
type Files interface {
	// ReadFile reads a whole file.
	ReadFile(name string) ([]byte, error)
	// Exists reports whether there is a file of that name.
	Exists(name string) bool
	// Replace empties a file and writes data in one call, so that whoever reads it
	// meanwhile finds the old, nothing, or the new.
	Replace(name string, data []byte) error
}

// Disk is the real file system.
func Disk() Files { return disk{} }

type disk struct{}

func (disk) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

func (disk) Exists(name string) bool {
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// Replace cannot rename: the kubelet mounts the termination log as one file.
func (disk) Replace(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

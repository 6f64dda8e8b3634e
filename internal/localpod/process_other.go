// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package localpod

import (
	"errors"
	"io"
	"syscall"
)

var errLinux = errors.New("pods can be run on Linux only: use a virtual machine or a container")

// spawner needs Linux: the scripts of the pods do, and so does ending every process
// with this one.
type spawner struct{}

func lockDir(string) (io.Closer, error) { return nil, errLinux }

func newSpawner([]string) (*spawner, error) {
	return nil, errLinux
}

func (*spawner) close() {}

func (*spawner) start(_, _ []string, _, _ string) (*process, error) {
	return nil, errors.ErrUnsupported
}

type process struct {
	exited chan struct{}
	code   int
}

func (*process) ended() bool                 { return true }
func (*process) how() string                 { return "" }
func (*process) signal(syscall.Signal) error { return errors.ErrUnsupported }
func (*process) kill()                       {}

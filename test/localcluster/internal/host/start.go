// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// Started is a host that waits for its network.
type Started struct {
	PID  int
	pipe *os.File
}

// Start starts a host as a process of its own that outlives this one: program with the
// arguments, which must lead to Run. With namespaces it is the first process in new ones.
func Start(program string, args, environment []string, log string, listener *os.File, namespaces bool) (*Started, error) {
	reading, writing, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	defer reading.Close()
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		writing.Close()
		return nil, fmt.Errorf("host: %w", err)
	}
	defer out.Close()
	c := exec.Command(program, args...)
	c.Dir, c.Env = "/", environment
	c.Stdout, c.Stderr = out, out
	c.ExtraFiles = []*os.File{reading}
	if listener != nil {
		c.ExtraFiles = append(c.ExtraFiles, listener)
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if namespaces {
		c.SysProcAttr.Cloneflags = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
			syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC
	}
	if err := c.Start(); err != nil {
		writing.Close()
		return nil, fmt.Errorf("host: %w", err)
	}
	s := &Started{PID: c.Process.Pid, pipe: writing}
	if err := c.Process.Release(); err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	return s, nil
}

// Go tells the host that its network is there.
func (s *Started) Go() error {
	defer s.pipe.Close()
	if _, err := s.pipe.Write([]byte{1}); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	return nil
}

// GiveUp ends the host before it has begun.
func (s *Started) GiveUp() { s.pipe.Close() }

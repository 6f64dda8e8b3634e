// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// File descriptors that a host is started with.
const (
	// goFD is the end of a pipe: a byte says that the network is there, and its end without
	// one that whoever started the host has given up.
	goFD = 3
	// listenerFD is a listening socket of the machine's own network, where Forward is set.
	listenerFD = 4
)

// Run is the life of a host. It returns only what went wrong before the first program.
func Run(s Spec) error {
	// Programs die with the thread that started them, which must not end before the host.
	runtime.LockOSThread()
	if err := wait(); err != nil {
		return fmt.Errorf("host %s: %w", s.Name, err)
	}
	if s.Root != nil {
		if err := s.Root.enter(s.Name); err != nil {
			return fmt.Errorf("host %s: %w", s.Name, err)
		}
	}
	if s.Forward != "" {
		listener, err := net.FileListener(os.NewFile(listenerFD, "listener"))
		if err != nil {
			return fmt.Errorf("host %s: %w", s.Name, err)
		}
		go forward(listener, s.Forward)
	}
	children := make(chan os.Signal, 16)
	signal.Notify(children, syscall.SIGCHLD)
	k := keeper{spec: s, running: map[int]Program{}, ready: make(chan Program)}
	for _, p := range s.Programs {
		go k.await(p, 0)
	}
	for {
		select {
		case p := <-k.ready:
			k.start(p)
		case <-children:
			k.reap()
		}
	}
}

func wait() error {
	pipe := os.NewFile(goFD, "go")
	defer pipe.Close()
	if _, err := io.ReadFull(pipe, make([]byte, 1)); err != nil {
		return errors.New("given up by what started it")
	}
	return nil
}

// keeper keeps the programs of a host running. Only its loop in Run touches running.
type keeper struct {
	spec    Spec
	running map[int]Program
	ready   chan Program
}

// await sends a program to be started after a pause and once it can be.
func (k *keeper) await(p Program, pause time.Duration) {
	time.Sleep(pause)
	if p.After != nil {
		// Without end: what it waits for is started again until it answers.
		_ = p.After.Wait(context.Background())
	}
	k.ready <- p
}

func (k *keeper) start(p Program) {
	log, err := os.OpenFile(k.spec.Logs+"/"+p.Name+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		go k.await(p, time.Second)
		return
	}
	defer log.Close()
	process, err := os.StartProcess(p.Command[0], p.Command, &os.ProcAttr{
		Env:   os.Environ(),
		Files: []*os.File{nil, log, log},
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		fmt.Fprintf(log, "%s %s: not started: %v\n", time.Now().Format(time.RFC3339), p.Name, err)
		go k.await(p, time.Second)
		return
	}
	k.running[process.Pid] = p
}

// reap takes every ended child, own or left to the host, and has its programs started again.
func (k *keeper) reap() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if pid <= 0 || err != nil {
			return
		}
		p, ok := k.running[pid]
		if !ok {
			continue
		}
		delete(k.running, pid)
		fmt.Fprintf(os.Stderr, "%s %s ended: exit status %d, signal %d; starting it again\n",
			time.Now().Format(time.RFC3339), p.Name, status.ExitStatus(), status.Signal())
		go k.await(p, 500*time.Millisecond)
	}
}

// forward joins every connection to the listener with one to the address.
func forward(listener net.Listener, address string) {
	for {
		outer, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer outer.Close()
			inner, err := net.Dial("tcp", address)
			if err != nil {
				return
			}
			defer inner.Close()
			done := make(chan struct{}, 2)
			join := func(to, from net.Conn) {
				_, _ = io.Copy(to, from)
				if half, ok := to.(*net.TCPConn); ok {
					_ = half.CloseWrite()
				}
				done <- struct{}{}
			}
			go join(inner, outer)
			go join(outer, inner)
			<-done
			<-done
		}()
	}
}

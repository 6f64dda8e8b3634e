// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds the start of a server: much more than one takes, so that a busy machine
// fails no test.
const patience = time.Minute

// Options say what a server runs with.
type Options struct {
	// Conf is the text of the config file.
	Conf string
	// Files are more files of the server's directory, by their names relative to it.
	// The directory is the working directory, so Conf may say "include live.conf".
	Files map[string]string
	// Args follow the config file on the command line and win over it.
	Args []string
	// TCP listens on a free port of 127.0.0.1 whose bus port is free too. Without
	// it the server listens on a unix socket alone.
	TCP bool
	// Sentinel starts valkey-sentinel.
	Sentinel bool
	// Env is added to the environment, as "NAME=value".
	Env []string
	// Recorder, with TCP, notes what is sent to the server's port.
	Recorder *Recorder
}

// Server is a running server.
type Server struct {
	// Dir is its working directory, with valkey.conf and the data in it.
	Dir string
	// Port is its TCP port, 0 without Options.TCP.
	Port int

	socket string
	// unrelay ends what listens at Port in the server's place.
	unrelay func()
	cmd     *exec.Cmd
	output  *output
	exited  chan struct{}
	client  *Client
	mu      sync.Mutex
}

// RefusedError says that a server ended by itself instead of serving.
type RefusedError struct {
	// Output is everything it wrote; a config error holds "FATAL CONFIG FILE ERROR".
	Output string
	// Code is the exit code.
	Code int
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("valkey-server ended with code %d:\n%s", e.Code, e.Output)
}

// output collects what a server writes.
type output struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.String()
}

// Launch starts a server of the directory that Find returned. Its files are in a
// new directory that Stop removes. A server that ends by itself is a *RefusedError.
func Launch(servers, version string, opts Options) (*Server, error) {
	// A unix socket's path is limited to 107 bytes: the directory of a test is too long.
	dir, err := os.MkdirTemp("", "valkey-")
	if err != nil {
		return nil, err
	}
	s := &Server{Dir: dir, socket: filepath.Join(dir, "s"), output: &output{}, exited: make(chan struct{})}
	if err := s.start(servers, version, opts); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) start(servers, version string, opts Options) error {
	if opts.TCP {
		port, err := FreePort()
		if err != nil {
			return err
		}
		s.Port = port
	}
	listens, err := s.record(&opts)
	if err != nil {
		return err
	}
	conf := filepath.Join(s.Dir, "valkey.conf")
	if err := os.WriteFile(conf, []byte(opts.Conf), 0o600); err != nil {
		return err
	}
	for name, text := range opts.Files {
		path := filepath.Join(s.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	name := "valkey-server"
	if opts.Sentinel {
		name = "valkey-sentinel"
	}
	// A server in the background would outlive the test.
	args := []string{conf, "--daemonize", "no", "--dir", s.Dir, "--bind", "127.0.0.1", "--port", strconv.Itoa(listens), "--unixsocket", s.socket}
	s.cmd = exec.Command(filepath.Join(servers, version, "bin", name), append(args, opts.Args...)...)
	s.cmd.Dir = s.Dir
	s.cmd.Env = append(os.Environ(), opts.Env...)
	s.cmd.Stdout, s.cmd.Stderr = s.output, s.output
	dieWithParent(s.cmd)
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("start %s %s: %w", name, version, err)
	}
	go func() {
		// The exit code is read from ProcessState; how it was told is no matter.
		_ = s.cmd.Wait()
		s.unrelay()
		close(s.exited)
	}()
	return s.awaitReady(patience)
}

// awaitReady returns once the server answers a PING, with PONG or a refusal (no
// password given), and no longer says that it is loading.
func (s *Server) awaitReady(timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		select {
		case <-s.exited:
			return &RefusedError{Output: s.output.String(), Code: s.cmd.ProcessState.ExitCode()}
		case <-time.After(pause):
		}
		if s.answers() {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("valkey-server does not answer within %s:\n%s", timeout, s.output.String())
		}
	}
}

func (s *Server) answers() bool {
	client, err := s.Dial()
	if err != nil {
		return false
	}
	defer client.Close()
	_, err = client.Do("PING")
	var refused ReplyError
	if errors.As(err, &refused) {
		return !bytes.HasPrefix([]byte(refused), []byte("LOADING"))
	}
	return err == nil
}

// Dial opens a new connection, through the unix socket.
func (s *Server) Dial() (*Client, error) { return Dial("unix", s.socket) }

// Socket is the path of the unix socket, for valkey-cli -s.
func (s *Server) Socket() string { return s.socket }

// Addr is host:port of the TCP port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)) }

// Do sends a command on one connection that is kept for all Do calls.
func (s *Server) Do(args ...string) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		client, err := s.Dial()
		if err != nil {
			return nil, err
		}
		s.client = client
	}
	reply, err := s.client.Do(args...)
	var refused ReplyError
	if err != nil && !errors.As(err, &refused) {
		s.client.Close()
		s.client = nil
	}
	return reply, err
}

// Config returns the answer of CONFIG GET for a pattern.
func (s *Server) Config(pattern string) (map[string]string, error) {
	client, err := s.Dial()
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return client.Config(pattern)
}

// Log is what the server wrote to its standard output and error so far.
func (s *Server) Log() string { return s.output.String() }

// Process is the server's process: to send signals.
func (s *Server) Process() *os.Process { return s.cmd.Process }

// Exited is closed once the process has ended.
func (s *Server) Exited() <-chan struct{} { return s.exited }

// Stop kills the process and removes its directory. It may be called twice.
func (s *Server) Stop() {
	if s.client != nil {
		s.client.Close()
	}
	if s.cmd != nil && s.cmd.Process != nil {
		// It may have ended by itself.
		_ = s.cmd.Process.Signal(syscall.SIGKILL)
		<-s.exited
	}
	if s.unrelay != nil {
		s.unrelay()
	}
	_ = os.RemoveAll(s.Dir)
}

// Start starts a server that ends with the test; one that does not start fails it.
func Start(tb testing.TB, version string, opts Options) *Server {
	tb.Helper()
	server, err := Launch(Dir(tb), version, opts)
	if err != nil {
		tb.Fatalf("valkey %s: %v", version, err)
	}
	tb.Cleanup(server.Stop)
	return server
}

// Try reports whether a server starts with the options: nil, or a *RefusedError
// with its words, or another error when that cannot be told.
func Try(servers, version string, opts Options) error {
	server, err := Launch(servers, version, opts)
	if err != nil {
		return err
	}
	server.Stop()
	return nil
}

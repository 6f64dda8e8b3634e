// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package localpod

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// watcher is a shell that reads "+PID" and "-PID" for processes that lead a group of
// their own and that began and ended. When nobody can write any more, because this
// process ended in whatever way, it kills the groups that are left. (The shells do not
// agree on "kill --".)
const watcher = `
trap '' INT TERM HUP
all=' '
while read -r line; do
	case $line in
	+*) all="$all${line#+} " ;;
	-*) all="${all%% ${line#-} *} ${all#* ${line#-} }" ;;
	esac
done
for pid in $all; do
	kill -9 "-$pid" 2>/dev/null
done
exit 0`

// spawner starts processes that do not outlive this one.
type spawner struct {
	work    chan func()
	watcher *exec.Cmd

	mu     sync.Mutex
	watch  io.WriteCloser
	closed bool
}

var errClosed = errors.New("the pods of this directory were closed")

// newSpawner starts the watcher, and the thread that starts all others: Linux sends
// the signal of Pdeathsig when the thread ends that started the child.
func newSpawner(shell []string) (*spawner, error) {
	s := &spawner{work: make(chan func())}
	s.watcher = exec.Command(shell[0], append(append([]string{}, shell[1:]...), "-c", watcher)...)
	s.watcher.Env = []string{}
	// Ctrl-C at a terminal reaches everything in the session's foreground.
	s.watcher.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	pipe, err := s.watcher.StdinPipe()
	if err != nil {
		return nil, err
	}
	s.watch = pipe
	if err := s.watcher.Start(); err != nil {
		return nil, fmt.Errorf("shell %s: %w", shell[0], err)
	}
	go func() {
		// The thread ends with the goroutine, as it is never unlocked.
		runtime.LockOSThread()
		for do := range s.work {
			do()
		}
	}()
	return s, nil
}

// close ends the watcher. Every process must have ended.
func (s *spawner) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	close(s.work)
	_ = s.watch.Close()
	_ = s.watcher.Wait()
}

// began starts a command and tells the watcher.
func (s *spawner) began(cmd *exec.Cmd) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	result := make(chan error)
	s.work <- func() { result <- cmd.Start() }
	if err := <-result; err != nil {
		return err
	}
	if _, err := fmt.Fprintf(s.watch, "+%d\n", cmd.Process.Pid); err != nil {
		return errors.Join(fmt.Errorf("watcher of processes: %w", err), cmd.Process.Kill(), cmd.Wait())
	}
	return nil
}

// ended tells the watcher that a process has ended, before its number is free again.
func (s *spawner) ended(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		// A watcher that is gone has nothing to remember.
		_, _ = fmt.Fprintf(s.watch, "-%d\n", pid)
	}
}

// lockDir keeps other Hosts from a directory. The lock ends with the process.
func lockDir(dir string) (io.Closer, error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("directory %s: in use by another process", dir)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return dirLock{file}, nil
}

// dirLock is a lock on an open file.
type dirLock struct{ *os.File }

// Close gives the lock up. Closing the file alone does not at once: a child that is being
// started has it open too until it runs its own program.
func (l dirLock) Close() error {
	return errors.Join(syscall.Flock(int(l.Fd()), syscall.LOCK_UN), l.File.Close())
}

// process is a process that leads a session of its own.
type process struct {
	cmd *exec.Cmd
	// exited is closed once it has ended and every other process of its group was
	// killed; code is then how, as a shell has it.
	exited chan struct{}
	code   int

	mu     sync.Mutex
	reaped bool
}

// start starts a command with an environment in a directory; what it writes is
// appended to a file.
func (s *spawner) start(line, env []string, dir, output string) (*process, error) {
	out, err := os.OpenFile(output, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	// The child has its own.
	defer out.Close()
	p := &process{cmd: exec.Command(line[0], line[1:]...), exited: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir = env, dir
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if err := s.began(p.cmd); err != nil {
		return nil, err
	}
	go p.reap(s)
	return p, nil
}

// reap waits for the end. The group is killed while the number of its leader cannot
// have been given to another process yet.
func (p *process) reap(s *spawner) {
	pid := p.cmd.Process.Pid
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.mu.Lock()
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	s.ended(pid)
	// How it ended is in ProcessState.
	_ = p.cmd.Wait()
	p.reaped = true
	p.mu.Unlock()
	p.code = p.cmd.ProcessState.ExitCode()
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		p.code = 128 + int(status.Signal())
	}
	close(p.exited)
}

func (p *process) ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// how says how a process ended.
func (p *process) how() string { return p.cmd.ProcessState.String() }

// signal sends a signal to the first process.
func (p *process) signal(signal syscall.Signal) error { return p.cmd.Process.Signal(signal) }

// kill ends the process and its group.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	}
}

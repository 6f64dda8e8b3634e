// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package localpod

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// holdEnv makes this test binary a program that holds processes and waits.
const holdEnv = "LOCALPOD_TEST_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdEnv); dir != "" {
		hold(dir)
		return
	}
	os.Exit(m.Run())
}

// hold starts a process with a child, and a child that ignores what can be ignored.
func hold(dir string) {
	s, err := newSpawner([]string{"/bin/sh"})
	if err != nil {
		panic(err)
	}
	const script = `trap '' TERM INT HUP; sleep 1000 & (sleep 1000 & wait) & exec sleep 1000`
	if _, err := s.start([]string{"/bin/sh", "-c", script}, []string{"PATH=" + os.Getenv("PATH")}, dir, filepath.Join(dir, "out")); err != nil {
		panic(err)
	}
	fmt.Println("ready")
	if os.Getenv(holdEnv+"_PANIC") != "" {
		panic("as asked for")
	}
	select {}
}

// inside are the processes whose working directory is dir.
func inside(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, entry := range entries {
		if cwd, err := os.Readlink(filepath.Join("/proc", entry.Name(), "cwd")); err == nil && cwd == dir {
			found = append(found, entry.Name())
		}
	}
	return found
}

func TestProcessNothingOutlivesTheHost(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]struct {
		signal syscall.Signal
		env    string
	}{
		"killed":      {signal: syscall.SIGKILL},
		"terminated":  {signal: syscall.SIGTERM},
		"interrupted": {signal: syscall.SIGINT},
		"panicked":    {env: holdEnv + "_PANIC=yes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), holdEnv+"="+dir, end.env)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
				t.Fatalf("%q, %v", line, err)
			}
			if end.signal != 0 {
				await(t, dir, func(n int) bool { return n >= 4 })
				if err := cmd.Process.Signal(end.signal); err != nil {
					t.Fatal(err)
				}
			}
			if err := cmd.Wait(); err == nil {
				t.Error("the holder ended in peace")
			}
			await(t, dir, func(n int) bool { return n == 0 })
		})
	}
}

func await(t *testing.T, dir string, right func(int) bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		found := inside(t, dir)
		if right(len(found)) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("processes in %s: %s", dir, strings.Join(found, " "))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestProcessEndOfTheLeaderIsTheEndOfItsGroup(t *testing.T) {
	t.Parallel()
	s, err := newSpawner([]string{"/bin/sh"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	dir := t.TempDir()
	p, err := s.start([]string{"/bin/sh", "-c", "sleep 1000 & exit 3"}, []string{"PATH=" + os.Getenv("PATH")}, dir, filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	<-p.exited
	if p.code != 3 {
		t.Errorf("exit code %d", p.code)
	}
	await(t, dir, func(n int) bool { return n == 0 })
}

// TestClosingGivesTheDirectoryUp also while a child that is being started has the lock's
// file open still.
func TestClosingGivesTheDirectoryUp(t *testing.T) {
	dir := t.TempDir()
	lock, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	inherited, err := syscall.Dup(int(lock.(dirLock).Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(inherited) }()
	if _, err := lockDir(dir); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("locked twice: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/servertest"
)

// tried starts `try` with more arguments, and returns its events.
func tried(t *testing.T, args ...string) (cmd *exec.Cmd, events *bufio.Scanner, temp string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "spec.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(spec, "Standalone", "Replication", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	// Sockets need a short path.
	temp, err := os.MkdirTemp("", "t")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	cmd, said := program(t, append([]string{"try", "-f", file, "--server", servertest.Dir(t)}, args...)...)
	cmd.Env = append(cmd.Env, "TMPDIR="+temp)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(said)
		}
	})
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, bufio.NewScanner(out), temp
}

// until reads events up to one of a kind.
func until(t *testing.T, events *bufio.Scanner, kind string) string {
	t.Helper()
	for events.Scan() {
		var e struct{ Event string }
		if err := json.Unmarshal(events.Bytes(), &e); err != nil {
			t.Fatalf("%s: %v", events.Text(), err)
		}
		if e.Event == kind {
			return events.Text()
		}
	}
	t.Fatalf("no event %s: %v", kind, events.Err())
	return ""
}

// below are the processes that work below a directory.
func below(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, entry := range entries {
		if cwd, err := os.Readlink(filepath.Join("/proc", entry.Name(), "cwd")); err == nil && strings.HasPrefix(cwd, dir+"/") {
			found = append(found, entry.Name()+" in "+cwd)
		}
	}
	return found
}

// TestProcessTryLeavesNothing: however it ends, its processes do too.
func TestProcessTryLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signal syscall.Signal
		code   int
		files  bool
	}{{syscall.SIGINT, 0, false}, {syscall.SIGTERM, 0, false}, {syscall.SIGKILL, -1, true}} {
		t.Run(c.signal.String(), func(t *testing.T) {
			t.Parallel()
			cmd, events, temp := tried(t, "--output", "json")
			until(t, events, "ready")
			if found := below(t, temp); len(found) < 3 {
				t.Fatalf("%d servers: %s", len(found), found)
			}
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			if c.signal != syscall.SIGKILL {
				until(t, events, "stopped")
			}
			// How it ended is looked at below.
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != c.code {
				t.Errorf("exit code %d, not %d", got, c.code)
			}
			deadline := time.Now().Add(10 * time.Second)
			for len(below(t, temp)) > 0 {
				if time.Now().After(deadline) {
					t.Fatalf("processes that are left: %s", below(t, temp))
				}
				time.Sleep(10 * time.Millisecond)
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 != c.files {
				t.Errorf("files that are left: %v, %v", left, err)
			}
		})
	}
}

func TestProcessTryRunsACommand(t *testing.T) {
	t.Parallel()
	const check = `valkey-cli -u "$VALKEY_URL" --no-auth-warning set k v && test "$(cat "$VALKEY_PASSWORD_FILE")" = "$VALKEY_PASSWORD" && exit 7`
	cmd, events, _ := tried(t, "--", "sh", "-c", check)
	var out []string
	for events.Scan() {
		out = append(out, events.Text())
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 7 || strings.Join(out, "\n") != "OK" {
		t.Errorf("exit code %d, output %q", got, out)
	}
}

func TestProcessTrySaysWhoseThePortIs(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	if port > 55535 {
		port = 55535
		other, err := net.Listen("tcp4", "0.0.0.0:55535")
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
	}
	cmd, _, _ := tried(t, "--once", "--port", strconv.Itoa(port))
	_ = cmd.Wait()
	said := cmd.Stderr.(io.Reader)
	text, err := io.ReadAll(said)
	if err != nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(text), "taken by another program") || !strings.Contains(string(text), "--port") {
		t.Errorf("exit code %d, %v\n%s", cmd.ProcessState.ExitCode(), err, text)
	}
}

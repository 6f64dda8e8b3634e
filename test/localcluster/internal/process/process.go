// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Variables of the mark: the state directory of the cluster, and which host it is.
const (
	clusterVariable = "VALKEY_RENDER_LOCALCLUSTER"
	hostVariable    = "VALKEY_RENDER_LOCALCLUSTER_HOST"
)

// Mark is the environment of a process of a cluster.
func Mark(state, host string) []string {
	return []string{clusterVariable + "=" + state, hostVariable + "=" + host}
}

// Process is a running process with a mark.
type Process struct {
	PID     int
	Host    string // the host it is a part of
	Program string // first word of its command line
	// First tells that it was started by none of the cluster's own: it is a host.
	First bool
}

// Find lists the processes with the mark of a state directory.
func Find(state string) ([]Process, error) {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("processes: %w", err)
	}
	parents, marked := map[int]int{}, map[int]bool{}
	var found []Process
	for _, dir := range dirs {
		pid, err := strconv.Atoi(dir.Name())
		if err != nil {
			continue
		}
		environment, err := os.ReadFile(filepath.Join("/proc", dir.Name(), "environ"))
		if err != nil || !bytes.Contains(environment, []byte(clusterVariable+"="+state+"\x00")) {
			continue // another's, ended since, or not ours to read
		}
		marked[pid], parents[pid] = true, parent(pid)
		found = append(found, Process{PID: pid, Host: variable(environment, hostVariable), Program: program(pid)})
	}
	for i, p := range found {
		found[i].First = !marked[parents[p.PID]]
	}
	return found, nil
}

func variable(environment []byte, name string) string {
	for entry := range bytes.SplitSeq(environment, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(name+"=")); ok {
			return string(value)
		}
	}
	return ""
}

func program(pid int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	words := strings.Split(string(line), "\x00")
	// A program run by a loader that is not the machine's own.
	if len(words) > 2 && words[1] == "--argv0" {
		return words[2]
	}
	return filepath.Base(words[0])
}

func parent(pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "\nPPid:")
	line, _, _ := strings.Cut(after, "\n")
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return 0
	}
	return n
}

// Kill ends every process with the mark whose host is one of hosts, or all without any, and
// waits until none is left. A host is the first process of its namespace: with it the
// kernel ends all that runs there, pods too.
func Kill(ctx context.Context, state string, hosts ...string) error {
	wanted := map[string]bool{}
	for _, h := range hosts {
		wanted[h] = true
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		found, err := Find(state)
		if err != nil {
			return err
		}
		left := 0
		for _, p := range found {
			if len(hosts) > 0 && !wanted[p.Host] {
				continue
			}
			left++
			if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("process %d (%s): %w", p.PID, p.Program, err)
			}
		}
		if left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("processes: %d of %s do not end", left, state)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

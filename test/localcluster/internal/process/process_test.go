// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package process_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/process"
)

// sleeper starts a process with a mark, which is reaped as soon as it ends.
func sleeper(t *testing.T, state, host string) int {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sleep", "60")
	c.Env = append(os.Environ(), process.Mark(state, host)...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = c.Wait() }()
	return c.Process.Pid
}

func TestFindsAndEndsTheProcessesOfOneCluster(t *testing.T) {
	state := t.TempDir()
	control := sleeper(t, state, "control")
	node := sleeper(t, state, "node1")
	other := t.TempDir()
	sleeper(t, other, "control")
	hosts := func(state string) map[string]int {
		t.Helper()
		found, err := process.Find(state)
		if err != nil {
			t.Fatal(err)
		}
		pids := map[string]int{}
		for _, p := range found {
			if !p.First {
				t.Errorf("process %d is not seen to be first", p.PID)
			}
			pids[p.Host] = p.PID
		}
		return pids
	}
	if got := hosts(state); got["control"] != control || got["node1"] != node || len(got) != 2 {
		t.Errorf("found %v, want control %d and node1 %d", got, control, node)
	}
	if err := process.Kill(t.Context(), state, "node1"); err != nil {
		t.Fatal(err)
	}
	if got := hosts(state); got["control"] != control || len(got) != 1 {
		t.Errorf("after the end of node1: %v", got)
	}
	if err := process.Kill(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	if got := hosts(state); len(got) != 0 {
		t.Errorf("after the end: %v", got)
	}
	if got := hosts(other); len(got) != 1 {
		t.Errorf("of the other cluster: %v", got)
	}
}

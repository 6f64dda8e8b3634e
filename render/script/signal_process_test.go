// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"errors"
	"net"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/render/script"
)

// TestProcessTermDuringTheStartStepEndsIt: a pod that is deleted while its start
// step asks peers that hang must not take its whole grace period.
func TestProcessTermDuringTheStartStepEndsIt(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"dash", "busybox"} {
		t.Run(shell, func(t *testing.T) {
			// A peer that takes connections and never answers.
			silent, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer silent.Close()
			p := newPod(t, shell, "9.1", "Replication")
			p.env[script.EnvReplicas] = "1"
			p.env[script.EnvPeers] = silent.Addr().String()
			cmd := p.command("start.sh", p.args...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			// Once the script asks the other pod, it waits for an answer that never comes.
			conn, err := silent.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			begin := time.Now()
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 143 {
				t.Errorf("ended with %v, want exit status 143", err)
			}
			if took := time.Since(begin); took > 5*time.Second {
				t.Errorf("took %s to end", took)
			}
		})
	}
}

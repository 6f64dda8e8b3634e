// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/script"
)

// wantProbes runs the three probes and checks their exit codes and their time.
func (p *pod) wantProbes(startup, liveness, readiness int, texts ...string) {
	p.t.Helper()
	codes := []int{startup, liveness, readiness}
	for i, mode := range []string{script.ProbeStartup, script.ProbeLiveness, script.ProbeReadiness} {
		r := p.run(script.Probe, mode)
		if r.code != codes[i] {
			p.t.Errorf("%s ended with %d instead of %d:\n%s", mode, r.code, codes[i], r.out)
		}
		if r.took > script.ProbeTimeoutSeconds*time.Second-500*time.Millisecond {
			p.t.Errorf("%s took %s", mode, r.took)
		}
		if r.code != 0 || mode == script.ProbeLiveness {
			r.expect(p.t, r.code, texts...)
		}
	}
}

// A node runs the probes of all its pods, some every second: once nothing is new they start
// the client and what ends it in time, and nothing else.
func TestProcessAProbeStartsTheClientOnly(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		for _, topology := range []string{"Cluster", "Replication"} {
			p := newShard(t, shell, "9.1", topology, 1)[0]
			p.persist()
			p.start()
			p.await("PING", func(reply string) bool { return reply == "PONG" })
			if shell == "busybox" {
				// It compares times by whole seconds.
				time.Sleep(1100 * time.Millisecond)
			}
			p.ready()
			started := filepath.Join(p.data, "started")
			for _, program := range programs() {
				if program != "timeout" {
					p.fake(program, "echo "+program+" >>"+started+"\n")
				}
			}
			p.wantProbes(0, 0, 0)
			if p.exists(started) {
				t.Errorf("topology %s: started: %s", topology, strings.Fields(p.read(started)))
			}
		}
	})
}

// A server that loads is alive and not ready (T8).
func TestProcessProbesWhileLoading(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		for _, version := range servertest.Sample(t) {
			p := newPod(t, shell, version, "Standalone")
			p.env[script.EnvPersisted] = "yes"
			p.start()
			p.do("DEBUG", "POPULATE", "20000", "k", "100")
			p.do("SAVE")
			p.stop(syscall.SIGKILL)
			p.conf("key-load-delay 500\nloading-process-events-interval-bytes 1024\n")
			p.launch(p.args...)
			p.await("PING", func(string) bool { return true })
			p.wantProbes(1, 0, 1, "LOADING")
			if p.accepted() == "" {
				t.Error("a server that loads has accepted its configuration")
			}
		}
	})
}

// TestProcessProbesOfABusyServer runs beside no other test: its servers take all the
// processors there are.
func TestProcessProbesOfABusyServer(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		for _, version := range servertest.Sample(t) {
			p := newPod(t, shell, version, "Standalone")
			p.conf("busy-reply-threshold 10\n")
			p.start()
			go func() { p.do("EVAL", "while true do end", "0") }()
			p.await("PING", func(reply string) bool { return strings.Contains(reply, "BUSY") })
			p.wantProbes(0, 0, 1, "BUSY")
			p.do("SCRIPT", "KILL")
			p.await("PING", func(reply string) bool { return reply == "PONG" })
			p.wantProbes(0, 0, 0)
		}
	})
}

func TestProcessProbesOfAServerThatHangsOrIsGone(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		p := newPod(t, shell, "9.1", "Standalone")
		p.start()
		p.wantProbes(0, 0, 0)
		must(t, p.cmd.Process.Signal(syscall.SIGSTOP))
		p.wantProbes(1, 1, 1, "no answer from 127.0.0.1")
		must(t, p.cmd.Process.Signal(syscall.SIGCONT))
		p.wantProbes(0, 0, 0)
		p.stop(syscall.SIGKILL)
		p.wantProbes(1, 1, 1, "Could not connect")
	})
}

// A replica is no use to a client before its first sync, and every use after it,
// whatever happens to its primary.
func TestProcessReadinessOfAReplica(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		primary, replica := newPod(t, shell, "8.1", "Standalone"), newPod(t, shell, "8.1", "Standalone")
		primary.conf("repl-diskless-sync-delay 0\n")
		primary.start()
		replica.conf("replica-serve-stale-data no\n")
		replica.start("--replicaof", "127.0.0.1", fmt.Sprint(primary.port+1))
		replica.wantProbes(0, 0, 1, "MASTERDOWN")
		replica.do("CONFIG", "SET", "replica-serve-stale-data", "yes")
		replica.run(script.Probe, script.ProbeReadiness).expect(t, 1, "not in sync since the container started")
		replica.do("REPLICAOF", "127.0.0.1", fmt.Sprint(primary.port))
		replica.awaitInfo("master_link_status", "up")
		replica.wantProbes(0, 0, 0)
		primary.stop(syscall.SIGKILL)
		replica.awaitInfo("master_link_status", "down")
		replica.wantProbes(0, 0, 0)
		replica.stop(syscall.SIGKILL)
		replica.start("--replicaof", "127.0.0.1", fmt.Sprint(primary.port))
		replica.wantProbes(0, 0, 1, "MASTERDOWN")
	})
}

// A cluster that is down must not make its nodes unready: who would repair it?
func TestProcessReadinessIgnoresTheStateOfTheCluster(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		p := newPod(t, shell, "9.1", "Cluster")
		p.start("--cluster-enabled", "yes", "--cluster-config-file", filepath.Join(p.data, "nodes.conf"))
		if got := p.do("CLUSTER", "INFO"); !strings.Contains(got, "cluster_state:fail") {
			t.Fatal(got)
		}
		p.wantProbes(0, 0, 0)
	})
}

// Replies that no test server gives on demand, and a client that hangs.
func TestProbesClassifyReplies(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		p := newPod(t, shell, "9.1", "Standalone")
		for _, c := range []struct {
			name, client                 string
			startup, liveness, readiness int
		}{
			{"no permission", `echo "NOPERM User _operator has no permissions to run the 'ping' command"`, 0, 0, 1},
			{"protected mode", `echo "DENIED Valkey is running in protected mode"`, 0, 0, 1},
			{"no write to disk", `echo "MISCONF Errors writing to the AOF file"`, 0, 0, 1},
			{"too many clients", `echo "ERR max number of clients reached"`, 0, 0, 1},
			{"refused, then answered", `echo "AUTH failed: WRONGPASS invalid username-password pair or user is disabled."; echo "NOAUTH Authentication required."`, 0, 0, 1},
			{"name in a sentence", `echo "Could not connect to PONG: LOADING"`, 1, 1, 1},
			{"success without an answer", `exit 0`, 1, 1, 1},
			{"client hangs", `exec sleep 60`, 1, 1, 1},
		} {
			p.fake("valkey-cli", c.client+"\n")
			t.Run(c.name, func(t *testing.T) {
				p.t = t
				p.wantProbes(c.startup, c.liveness, c.readiness)
			})
		}
		p.run(script.Probe, "other").expect(t, 1, "usage")
	})
}

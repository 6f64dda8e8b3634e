// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/script"
)

// newReplication starts a shard: the first pod is promoted, as a Job would.
func newReplication(t testing.TB, shell, version, topology string, pods int, persisted bool) []*pod {
	t.Helper()
	shard := newShard(t, shell, version, topology, pods)
	for _, p := range shard {
		if persisted {
			p.persist()
		}
		p.launch(p.args...)
	}
	for _, p := range shard {
		p.await("PING", func(r string) bool { return r == "PONG" })
		if got := p.fenced(); !got {
			t.Fatalf("a first start is not fenced: %s\n%s", p.do("ROLE"), p.log)
		}
	}
	wantOK(t, shard[0].do("REPLICAOF", "NO", "ONE"))
	for _, p := range shard[1:] {
		wantOK(t, p.do("REPLICAOF", shard[0].ip, strconv.Itoa(shard[0].port)))
		p.awaitInfo("master_link_status", "up")
	}
	for _, p := range shard {
		p.run(script.Probe, script.ProbeReadiness).expect(t, 0)
	}
	return shard
}

func (p *pod) fenced() bool {
	return p.info("role") == "slave" && p.info("master_host") == "127.0.0.1" && p.info("master_port") == "1"
}

// primaries counts the pods that would take a write.
func primaries(shard []*pod) int {
	count := 0
	for _, p := range shard {
		if p.info("role") == "master" {
			count++
		}
	}
	return count
}

func TestProcessRoleOfARestartedPrimary(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		for _, version := range servertest.Sample(t) {
			shard := newReplication(t, shell, version, "Replication", 3, true)
			p := shard[0]
			p.fill(100)

			// It stopped cleanly and nobody is ahead: it goes on.
			p.stop(syscall.SIGTERM)
			p.start()
			if p.info("role") != "master" || p.do("DBSIZE") != "100" {
				t.Fatalf("%s: %s with %s keys\n%s", version, p.do("ROLE"), p.do("DBSIZE"), p.log)
			}
			for _, q := range shard[1:] {
				q.awaitInfo("master_link_status", "up")
			}
			// The record of the former start says nothing about this one.
			p.stop(syscall.SIGTERM)
			p.start()
			if !p.fenced() {
				t.Errorf("%s: without a new record: %s\n%s", version, p.do("ROLE"), p.log)
			}
			wantOK(t, p.do("REPLICAOF", "NO", "ONE"))
			for _, q := range shard[1:] {
				q.awaitInfo("master_link_status", "up")
			}
			p.run(script.Probe, script.ProbeReadiness).expect(t, 0)

			// It was killed: its replicas may hold what its disk does not.
			p.stop(syscall.SIGKILL)
			p.start()
			if !p.fenced() || !strings.Contains(p.log.String(), "did not stop cleanly") {
				t.Errorf("%s: after a kill: %s\n%s", version, p.do("ROLE"), p.log)
			}

			// Another one was promoted: it follows, and is never a second primary.
			wantOK(t, shard[1].do("REPLICAOF", "NO", "ONE"))
			wantOK(t, shard[1].do("SET", "later", "x"))
			p.stop(syscall.SIGTERM)
			p.start()
			if p.info("master_port") != strconv.Itoa(shard[1].port) || primaries(shard) != 1 {
				t.Errorf("%s: beside a new primary: %s\n%s", version, p.do("ROLE"), p.log)
			}
			p.awaitInfo("master_link_status", "up")
			if p.do("GET", "later") != "x" {
				t.Errorf("%s: the new primary's write is not there", version)
			}
		}
	})
}

// Each of these makes it uncertain that the volume holds everything.
func TestProcessRoleIsFencedWhenUnsure(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		change func(shard []*pod)
		words  string
	}{
		{"a pod does not answer", func(s []*pod) { s[2].stop(syscall.SIGKILL) }, "1 of 2 other pods did not answer"},
		{"a pod hangs", func(s []*pod) { must(s[0].t, s[2].cmd.Process.Signal(syscall.SIGSTOP)) }, "1 of 2 other pods did not answer"},
		{"nobody answers", func(s []*pod) { s[1].stop(syscall.SIGKILL); s[2].stop(syscall.SIGKILL) }, "2 of 2 other pods did not answer"},
		{"a pod was promoted and demoted", func(s []*pod) {
			s[1].do("REPLICAOF", "NO", "ONE")
			s[1].do("SET", "k", "v")
			s[1].do("REPLICAOF", "127.0.0.1", "1")
		}, "holds another history"},
		{"two others are primaries", func(s []*pod) { s[1].do("REPLICAOF", "NO", "ONE"); s[2].do("REPLICAOF", "NO", "ONE") }, "2 other pods say"},
		{"the AOF is gone", func(s []*pod) { must(s[0].t, os.RemoveAll(filepath.Join(s[0].data, "appendonlydir"))) }, "no file holds"},
		{"the data is not kept", func(s []*pod) { s[0].env[script.EnvPersisted] = "no" }, "the data is not kept"},
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			shard := newReplication(t, shells()[i%2], "9.1", "Replication", 3, true)
			p := shard[0]
			p.stop(syscall.SIGTERM)
			c.change(shard)
			begin := time.Now()
			p.start()
			if took := time.Since(begin); took > script.RoleSeconds*time.Second {
				t.Errorf("took %s", took)
			}
			if !p.fenced() || !strings.Contains(p.log.String(), c.words) {
				t.Errorf("%s, and not for %q:\n%s", p.do("ROLE"), c.words, p.log)
			}
			p.run(script.Probe, script.ProbeReadiness).expect(t, 1, "not in sync")
		})
	}
}

// Peers that never had data are not ahead of anybody.
func TestProcessRoleBesideEmptyPods(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		shard := newReplication(t, shell, "8.1", "Replication", 2, true)
		shard[0].fill(10)
		shard[1].stop(syscall.SIGKILL)
		must(t, os.RemoveAll(shard[1].data))
		must(t, os.MkdirAll(shard[1].data, 0o700))
		shard[0].stop(syscall.SIGTERM)
		shard[1].start()
		shard[0].start()
		if shard[0].info("role") != "master" || shard[0].do("DBSIZE") != "10" {
			t.Errorf("%s\n%s", shard[0].do("ROLE"), shard[0].log)
		}
	})
}

// With RDB the file that SIGTERM saved proves the history, and replicas need no
// full sync.
func TestProcessRoleWithRDB(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		for _, version := range servertest.Sample(t) {
			shard := newShard(t, shell, version, "Replication", 2)
			for _, p := range shard {
				p.env[script.EnvPersisted] = "yes"
				p.args = append(p.args, "--save", "3600 1")
				p.start()
			}
			p := shard[0]
			wantOK(t, p.do("REPLICAOF", "NO", "ONE"))
			wantOK(t, shard[1].do("REPLICAOF", p.ip, strconv.Itoa(p.port)))
			shard[1].awaitInfo("master_link_status", "up")
			p.fill(50)
			p.run(script.Probe, script.ProbeReadiness).expect(t, 0)
			p.stop(syscall.SIGTERM)
			p.start()
			if p.info("role") != "master" || p.do("DBSIZE") != "50" {
				t.Errorf("%s: %s\n%s", version, p.do("ROLE"), p.log)
			}
			shard[1].awaitInfo("master_link_status", "up")
			p.run(script.Probe, script.ProbeReadiness).expect(t, 0)
			wantOK(t, p.do("CONFIG", "SET", "save", ""))
			wantOK(t, p.do("SET", "unsaved", "x"))
			p.stop(syscall.SIGTERM)
			p.start()
			if !p.fenced() {
				t.Errorf("%s: an old RDB passed for everything: %s\n%s", version, p.do("ROLE"), p.log)
			}
		}
	})
}

func TestProcessSinglePodIsThePrimary(t *testing.T) {
	t.Parallel()
	for _, topology := range []string{"Replication", "Sentinel"} {
		p := newShard(t, "dash", "9.1", topology, 1)[0]
		p.start()
		if p.info("role") != "master" {
			t.Errorf("%s: %s", topology, p.do("ROLE"))
		}
		p.stop(syscall.SIGKILL)
		p.start()
		if p.info("role") != "master" {
			t.Errorf("%s: after a kill: %s", topology, p.do("ROLE"))
		}
	}
}

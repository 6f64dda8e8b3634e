// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"crypto/sha1"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/script"
)

// newSentinels lays out three sentinels beside a shard and tells all of each other.
func newSentinels(t testing.TB, shell, version string, shard []*pod) []*pod {
	t.Helper()
	var sentinels []*pod
	var names []string
	for i := range 3 {
		p := newPod(t, shell, version, "Sentinel")
		must(t, os.Remove(filepath.Join(p.root, "config/valkey.conf")))
		p.env[script.EnvPodName] = "c-sentinel-" + strconv.Itoa(i)
		p.env[script.EnvFQDN] = p.env[script.EnvPodName] + ".c-sentinel.ns.svc.cluster.local"
		// The port of the data pods is every data pod's own here: all are written out.
		p.env[script.EnvPort] = "1"
		p.env["VALKEY_SENTINEL_PORT"] = strconv.Itoa(p.port)
		p.env[script.EnvPeers] = shard[0].env[script.EnvPeers]
		p.sentinelConf("")
		sentinels = append(sentinels, p)
		names = append(names, p.addr())
	}
	for _, p := range append(append([]*pod{}, sentinels...), shard...) {
		p.env[script.EnvSentinels] = strings.Join(names, " ")
	}
	return sentinels
}

// sentinelConf sets sentinel.conf to what is rendered, and more.
func (p *pod) sentinelConf(more string) {
	p.t.Helper()
	p.write("config/sentinel.conf", "bind "+p.ip+"\nprotected-mode no\nport "+strconv.Itoa(p.port)+
		"\nsentinel resolve-hostnames yes\nsentinel announce-hostnames yes\n"+
		"sentinel down-after-milliseconds mymaster 2000\nsentinel failover-timeout mymaster 20000\n"+more+
		script.QuorumPrefix+"2\n"+script.EndMarker("sentinel.conf")+"\n")
}

func startSentinels(sentinels []*pod) {
	for _, p := range sentinels {
		p.launch(script.SentinelArgument)
	}
	for _, p := range sentinels {
		p.await("PING", func(r string) bool { return r == "PONG" })
	}
}

// watched is the address of the primary that a sentinel watches, or "".
func (p *pod) watched() string {
	reply := strings.Fields(p.do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name.SentinelMaster))
	if len(reply) != 2 || reply[0] == "error:" {
		return ""
	}
	return reply[0] + ":" + reply[1]
}

// awaitKnown waits until the sentinels know each other and all replicas.
func awaitKnown(t testing.TB, sentinels []*pod, replicas int) {
	t.Helper()
	for _, p := range sentinels {
		eventually(t, "the sentinels know each other and the replicas", func() bool {
			reply := p.do("SENTINEL", "MASTER", name.SentinelMaster)
			return strings.Contains(reply, "num-other-sentinels 2 ") && strings.Contains(reply, fmt.Sprintf("num-slaves %d ", replicas))
		})
	}
}

// newWatched starts a shard of three and its three sentinels.
func newWatched(t testing.TB, shell, version string, persisted bool) (shard, sentinels []*pod) {
	t.Helper()
	shard = newReplication(t, shell, version, "Sentinel", 3, persisted)
	sentinels = newSentinels(t, shell, version, shard)
	t.Cleanup(func() {
		for i, p := range sentinels {
			if t.Failed() {
				t.Logf("sentinel %d:\n%s", i, p.log)
			}
		}
	})
	startSentinels(sentinels)
	awaitKnown(t, sentinels, 2)
	return shard, sentinels
}

// downAfter has sentinels take a silent server for down after a time: on a busy machine a
// restart may take longer than what is short elsewhere.
func downAfter(sentinels []*pod, milliseconds string) {
	for _, p := range sentinels {
		p.do("SENTINEL", "SET", name.SentinelMaster, "down-after-milliseconds", milliseconds)
	}
}

func TestProcessSentinelLearnsAndKeepsThePrimary(t *testing.T) {
	t.Parallel()
	for i, version := range servertest.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			shard, sentinels := newWatched(t, shells()[i%2], version, false)
			p := sentinels[0]
			id := fmt.Sprintf("%x", sha1.Sum([]byte("ns/c-sentinel-0")))
			if got := p.do("SENTINEL", "MYID"); got != id {
				t.Errorf("id %s instead of %s", got, id)
			}
			if p.watched() != shard[0].addr() {
				t.Errorf("watches %s instead of %s\n%s", p.watched(), shard[0].addr(), p.log)
			}
			p.run(script.Probe, script.ProbeReadiness).expect(t, 0)
			if got := p.do("SENTINEL", "CKQUORUM", name.SentinelMaster); !strings.HasPrefix(got, "OK 3 usable") {
				t.Error(got)
			}
			for _, file := range []string{"cmdline", "environ"} {
				if strings.Contains(p.read(fmt.Sprintf("/proc/%d/%s", p.cmd.Process.Pid, file)), password) {
					t.Errorf("the password is in the sentinel's %s", file)
				}
			}

			// A container restart keeps what was learnt, with nobody to ask. What the
			// sentinel itself wrote about the password could not be read back.
			for _, q := range append(sentinels[1:], shard...) {
				must(t, q.cmd.Process.Signal(syscall.SIGSTOP))
			}
			p.stop(syscall.SIGKILL)
			begin := time.Now()
			startSentinels(sentinels[:1])
			if took := time.Since(begin); took > 3*time.Second {
				t.Errorf("it asked others, for %s", took)
			}
			if got := p.do("SENTINEL", "MASTER", name.SentinelMaster); !strings.Contains(got, "num-slaves 2") || !strings.Contains(got, "num-other-sentinels 2") {
				t.Errorf("forgot: %s", got)
			}
			for _, q := range append(sentinels[1:], shard...) {
				must(t, q.cmd.Process.Signal(syscall.SIGCONT))
			}
			awaitKnown(t, sentinels, 2)

			// A replaced pod asks the other sentinels, and keeps its ID.
			p.stop(syscall.SIGKILL)
			must(t, os.Remove(filepath.Join(p.data, "sentinel.conf")))
			startSentinels(sentinels[:1])
			if p.watched() != shard[0].addr() || p.do("SENTINEL", "MYID") != id {
				t.Errorf("watches %s as %s\n%s", p.watched(), p.do("SENTINEL", "MYID"), p.log)
			}
			awaitKnown(t, sentinels, 2)
		})
	}
}

func TestProcessSentinelWithoutAnyPrimary(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		shard := newShard(t, shell, "9.1", "Sentinel", 2)
		sentinels := newSentinels(t, shell, "9.1", shard)
		startSentinels(sentinels)
		p := sentinels[0]
		if p.watched() != "" || !strings.Contains(p.log.String(), "without a primary to watch") {
			t.Errorf("watches %q:\n%s", p.watched(), p.log)
		}
		p.run(script.Probe, script.ProbeReadiness).expect(t, 0)
		// A Job sets it; a restart keeps it.
		wantOK(t, p.do("SENTINEL", "MONITOR", name.SentinelMaster, "127.0.0.1", "7", "2"))
		p.stop(syscall.SIGTERM)
		startSentinels(sentinels[:1])
		if p.watched() != "127.0.0.1:7" {
			t.Errorf("watches %q:\n%s", p.watched(), p.log)
		}
		// A file that was cut short is no source.
		p.stop(syscall.SIGKILL)
		must(t, os.WriteFile(filepath.Join(p.data, "sentinel.conf"), []byte("sentinel monitor mymaster 127.0.0.1"), 0o600))
		startSentinels(sentinels[:1])
		if p.watched() != "" {
			t.Errorf("watches %q:\n%s", p.watched(), p.log)
		}
		p.stop(syscall.SIGKILL)
		p.write("config/sentinel.conf", "")
		p.run(script.Start, script.SentinelArgument).expect(t, 1, "config/sentinel.conf: does not end with")
	})
}

// The old primary comes back after a failover: a replica, never a second primary.
func TestProcessOldPrimaryComesBackAfterSentinelFailover(t *testing.T) {
	t.Parallel()
	for i, version := range servertest.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			shard, sentinels := newWatched(t, shells()[i%2], version, true)
			old := shard[0]
			old.fill(50)
			shard[1].await("DBSIZE", func(r string) bool { return r == "50" })
			shard[2].await("DBSIZE", func(r string) bool { return r == "50" })
			old.stop(syscall.SIGKILL)
			eventually(t, "the sentinels fail over", func() bool {
				got := sentinels[0].watched()
				return got != "" && got != old.addr()
			})
			two := false
			done := make(chan struct{})
			go func() {
				defer close(done)
				for range 200 {
					if old.info("role") == "master" {
						two = true
					}
					time.Sleep(10 * time.Millisecond)
				}
			}()
			old.start()
			old.awaitInfo("master_link_status", "up")
			<-done
			if two {
				t.Errorf("there were two primaries\n%s", old.log)
			}
			if primaries(shard) != 1 || old.do("DBSIZE") != "50" {
				t.Errorf("%d primaries, %s keys", primaries(shard), old.do("DBSIZE"))
			}
		})
	}
}

// The primary's container restarts faster than the sentinels notice. Stopped
// cleanly it goes on; without its data it has a replica promoted and follows it,
// where taking its place back would empty all replicas and starting fenced would
// leave nobody for half a minute.
func TestProcessCurrentPrimaryRestartsUnderSentinel(t *testing.T) {
	t.Parallel()
	for i, version := range servertest.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			shard, sentinels := newWatched(t, shells()[i%2], version, true)
			p := shard[0]
			p.fill(50)
			downAfter(sentinels, "60000")
			p.stop(syscall.SIGTERM)
			p.start()
			if p.info("role") != "master" || p.do("DBSIZE") != "50" {
				t.Fatalf("after a clean stop: %s\n%s", p.do("ROLE"), p.log)
			}
			for _, q := range shard[1:] {
				q.awaitInfo("master_link_status", "up")
				q.await("DBSIZE", func(r string) bool { return r == "50" })
			}
			awaitKnown(t, sentinels, 2)
			eventually(t, "the sentinels see the primary up", func() bool {
				return strings.Contains(sentinels[0].do("SENTINEL", "MASTER", name.SentinelMaster), "flags master ")
			})

			downAfter(sentinels, "2000")
			begin := time.Now()
			p.stop(syscall.SIGKILL)
			must(t, os.RemoveAll(p.data))
			must(t, os.MkdirAll(p.data, 0o700))
			p.start()
			p.awaitInfo("master_link_status", "up")
			t.Logf("%s: a primary again, and the old one in sync, after %s", version, time.Since(begin))
			if primaries(shard) != 1 || p.do("DBSIZE") != "50" {
				t.Errorf("%d primaries, %s of 50 keys\n%s", primaries(shard), p.do("DBSIZE"), p.log)
			}
			eventually(t, "all sentinels agree", func() bool {
				return sentinels[0].watched() != p.addr() && sentinels[1].watched() == sentinels[0].watched() && sentinels[2].watched() == sentinels[0].watched()
			})
		})
	}
}

func TestProcessDataPodsWithoutSentinels(t *testing.T) {
	t.Parallel()
	shard, sentinels := newWatched(t, "dash", "9.1", true)
	for _, s := range sentinels {
		s.stop(syscall.SIGKILL)
	}
	// No sentinel: a primary that somebody else is, is still one.
	shard[1].stop(syscall.SIGTERM)
	shard[1].start()
	if shard[1].info("master_port") != strconv.Itoa(shard[0].port) {
		t.Errorf("%s\n%s", shard[1].do("ROLE"), shard[1].log)
	}
	// But nobody takes the role without them.
	shard[1].awaitInfo("master_link_status", "up")
	shard[0].stop(syscall.SIGTERM)
	shard[0].start()
	if !shard[0].fenced() || !strings.Contains(shard[0].log.String(), "no sentinel answers") {
		t.Errorf("%s\n%s", shard[0].do("ROLE"), shard[0].log)
	}
}

// The primary's pod is replaced, at another address and with its volume, before
// the sentinels notice: they still wait for it at the address it had.
func TestProcessReplacedPrimaryAtAnotherAddress(t *testing.T) {
	t.Parallel()
	shard, sentinels := newWatched(t, "busybox", "8.1", true)
	p := shard[0]
	p.fill(20)
	downAfter(sentinels, "60000")
	p.stop(syscall.SIGKILL)
	p.ip = "127.0.0.2"
	p.conf("appendonly yes\n")
	p.env[script.EnvPodIP] = p.ip
	p.args = append(p.args, "--replica-announce-ip", p.ip)
	begin := time.Now()
	p.start()
	p.awaitInfo("master_link_status", "up")
	t.Logf("in sync after %s", time.Since(begin))
	eventually(t, "there is one primary", func() bool { return primaries(shard) == 1 })
	if p.do("DBSIZE") != "20" || !strings.Contains(p.log.String(), "asking the sentinel") {
		t.Errorf("%s keys\n%s", p.do("DBSIZE"), p.log)
	}
	eventually(t, "the sentinels know the new address", func() bool {
		return strings.Contains(sentinels[0].do("SENTINEL", "REPLICAS", name.SentinelMaster), p.addr())
	})
}

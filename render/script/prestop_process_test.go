// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/script"
)

// writer increases counters on whichever pod of a shard takes writes, and counts
// the acknowledged ones.
type writer struct {
	shard  []*pod
	key    string
	stop   chan struct{}
	done   chan struct{}
	acked  atomic.Int64
	stall  time.Duration
	second int // writes that another pod than the last acknowledged
}

// startWriter writes without a pause until close; key must be in the shard's slots.
func startWriter(shard []*pod, key string) *writer {
	w := &writer{shard: shard, key: key, stop: make(chan struct{}), done: make(chan struct{})}
	go w.run()
	return w
}

func (w *writer) run() {
	defer close(w.done)
	last, at := time.Now(), 0
	var client *servertest.Client
	for {
		select {
		case <-w.stop:
			if client != nil {
				client.Close()
			}
			return
		default:
		}
		if client == nil {
			var err error
			if client, err = servertest.Dial("tcp", w.shard[at].addr()); err != nil {
				client = nil
				at = (at + 1) % len(w.shard)
				time.Sleep(5 * time.Millisecond)
				continue
			}
		}
		reply, err := client.Do("INCR", w.key)
		if err != nil {
			// READONLY, MOVED, or the connection is gone: ask the next one.
			client.Close()
			client = nil
			at = (at + 1) % len(w.shard)
			time.Sleep(5 * time.Millisecond)
			continue
		}
		if n, ok := reply.(int64); ok {
			if n < w.acked.Add(1) {
				w.second++
			}
		}
		w.stall = max(w.stall, time.Since(last))
		last = time.Now()
	}
}

// writes waits until the shard has acknowledged a number of writes more.
func (w *writer) writes(t testing.TB, more int64) {
	t.Helper()
	want := w.acked.Load() + more
	eventually(t, "writes are acknowledged", func() bool { return w.acked.Load() >= want })
}

// end stops the writer and fails the test when the shard lost one of its writes.
func (w *writer) end(t testing.TB, primary *pod) {
	t.Helper()
	close(w.stop)
	<-w.done
	got, err := strconv.ParseInt(primary.do("GET", w.key), 10, 64)
	acked := w.acked.Load()
	if err != nil || got < acked || w.second > 0 {
		t.Errorf("%d of %d acknowledged writes are there (%v), %d went to a second primary", got, acked, err, w.second)
	}
	t.Logf("%d writes, longest stall %s", acked, w.stall)
}

// ownKey finds a key in a slot of the pod.
func (p *pod) ownKey() string {
	for i := range 1000 {
		key := "counter:" + strconv.Itoa(i)
		if p.do("INCRBY", key, "0") == "0" {
			return key
		}
	}
	p.t.Fatal("no key of a thousand is in the shard's slots")
	return ""
}

func TestProcessPreStopCluster(t *testing.T) {
	t.Parallel()
	for i, version := range []string{"8.0", "8.1"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t, shells()[i], version, 3, 3)
			old, next := cluster[0][0], cluster[0][1]
			w := startWriter(cluster[0], old.ownKey())
			w.writes(t, 100)
			r := old.run(script.PreStop)
			r.expect(t, 0, "127.0.0.1:"+strconv.Itoa(next.port)+" took over")
			if next.info("role") != "master" || old.info("role") != "slave" {
				t.Errorf("roles %s, %s", next.info("role"), old.info("role"))
			}
			old.stop(syscall.SIGTERM)
			w.writes(t, 100)
			w.end(t, next)

			// The role has moved: nothing to do.
			cluster[0][2].run(script.PreStop).expect(t, 0, "this server is no primary")

			// One sibling is gone, the other hangs: it gives up soon.
			must(t, cluster[0][2].cmd.Process.Signal(syscall.SIGSTOP))
			r = next.run(script.PreStop)
			r.expect(t, 0, "no replica is linked")
			if r.took > 6*time.Second {
				t.Errorf("took %s", r.took)
			}
			must(t, cluster[0][2].cmd.Process.Signal(syscall.SIGCONT))
		})
	}
}

// A roll by the StatefulSet controller stops a pod of every shard at once.
func TestProcessPreStopOfAllPrimariesAtOnce(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, "busybox", "8.1", 3, 2)
	var writers []*writer
	for _, shard := range cluster {
		writers = append(writers, startWriter(shard, shard[0].ownKey()))
	}
	for _, w := range writers {
		w.writes(t, 100)
	}
	done := make(chan result)
	for _, shard := range cluster {
		go func() { done <- shard[0].run(script.PreStop) }()
	}
	for range cluster {
		r := <-done
		r.expect(t, 0, "took over")
		t.Logf("took %s", r.took)
	}
	for i, shard := range cluster {
		shard[0].stop(syscall.SIGTERM)
		writers[i].writes(t, 100)
		writers[i].end(t, shard[1])
	}
}

func TestProcessPreStopLeavesItToTheServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		topology, version, replicas, grace, words string
	}{
		{"Cluster", "9.1", "1", "30", "hands over by itself"},
		{"Cluster", "8.1", "0", "30", "no replica"},
		{"Replication", "9.1", "1", "6", "leaves no time"},
		{"Standalone", "9.1", "1", "30", "has no roles"},
		{"Replication", "9.1", "1", "30", "does not tell its role: Could not connect"},
	} {
		eachShell(t, func(t *testing.T, shell string) {
			p := newPod(t, shell, "9.1", c.topology)
			p.set(map[string]string{script.EnvVersion: c.version, script.EnvReplicas: c.replicas, script.EnvGrace: c.grace})
			p.run(script.PreStop).expect(t, 0, c.words)
		})
	}
}

func TestProcessPreStopReplication(t *testing.T) {
	t.Parallel()
	for i, version := range servertest.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			shard := newReplication(t, shells()[i%2], version, "Replication", 3, false)
			old, next, third := shard[0], shard[1], shard[2]
			w := startWriter(shard, "counter")
			w.writes(t, 100)
			old.run(script.PreStop).expect(t, 0, "127.0.0.1:"+strconv.Itoa(next.port)+" took over", "follows")
			old.stop(syscall.SIGTERM)
			third.awaitInfo("master_port", strconv.Itoa(next.port))
			third.awaitInfo("master_link_status", "up")
			w.writes(t, 100)
			w.end(t, next)
			if third.do("GET", "counter") != next.do("GET", "counter") {
				t.Error("the third pod did not follow")
			}

			// No other pod is better than none: a hanging one is left out, and so is one
			// that is the replica of somebody else.
			wantOK(t, third.do("REPLICAOF", "127.0.0.1", "1"))
			next.run(script.PreStop).expect(t, 0, "no replica is linked")
			if got := next.do("SET", "k", "v"); got != "OK" {
				t.Errorf("writes do not go on: %s", got)
			}
		})
	}
}

// The replica hangs after it was chosen: the time runs out, the role stays, and
// writes go on.
func TestProcessPreStopAbortsWhenTheReplicaHangs(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		shard := newReplication(t, shell, "9.1", "Replication", 2, false)
		old, next := shard[0], shard[1]
		old.env[script.EnvGrace] = "13"
		// The real client, but the replica is stopped, and behind, at the last moment.
		client := servertest.Program(t, "9.1", "valkey-cli")
		old.fake("valkey-cli", `case "$*" in
*' FAILOVER TO '*) kill -STOP `+strconv.Itoa(next.cmd.Process.Pid)+`; (unset VALKEYCLI_AUTH REDISCLI_AUTH; `+client+` -p `+strconv.Itoa(old.port)+` SET late x >/dev/null) ;;
esac
exec `+client+` "$@"
`)
		r := old.run(script.PreStop)
		r.expect(t, 0, "writes go on")
		if r.took > 9*time.Second {
			t.Errorf("took %s of 8 s", r.took)
		}
		if got := old.do("SET", "k", "v"); got != "OK" || old.info("role") != "master" {
			t.Errorf("%s as %s:\n%s", got, old.info("role"), r.out)
		}
		must(t, next.cmd.Process.Signal(syscall.SIGCONT))
	})
}

func TestProcessPreStopSentinel(t *testing.T) {
	t.Parallel()
	for i, version := range servertest.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			shard, sentinels := newWatched(t, shells()[i%2], version, false)
			old := shard[0]
			shard[1].run(script.PreStop).expect(t, 0, "this server is no primary")
			w := startWriter(shard, "counter")
			w.writes(t, 100)
			old.run(script.PreStop).expect(t, 0, "took over")
			old.stop(syscall.SIGTERM)
			var next *pod
			eventually(t, "one other pod is the primary", func() bool {
				for _, p := range shard[1:] {
					if p.info("role") == "master" {
						next = p
					}
				}
				return next != nil
			})
			w.writes(t, 100)
			w.end(t, next)
			eventually(t, "the sentinels agree", func() bool {
				return sentinels[0].watched() == next.addr() && sentinels[1].watched() == next.addr() && sentinels[2].watched() == next.addr()
			})

			for _, s := range sentinels {
				s.stop(syscall.SIGKILL)
			}
			next.run(script.PreStop).expect(t, 0, "the sentinels name no primary (silent)")
			if got := next.do("SET", "k", "v"); got != "OK" {
				t.Errorf("writes do not go on: %s", got)
			}
		})
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"fmt"
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

// mode sets what the pod's server writes, as spec.storage.mode does.
func (p *pod) mode(mode string) {
	p.t.Helper()
	text, live := "dbfilename dump.rdb\n", "save 3600 1 300 100\n"
	if mode == "aof" || mode == "none" {
		text, live = "save \"\"\n", ""
	}
	if mode == "aof" || mode == "both" {
		text += "appendonly yes\nappenddirname appendonlydir\nappendfilename appendonly.aof\nappendfsync always\n"
	} else {
		text += "appendonly no\n"
	}
	p.env[script.EnvPersisted] = map[bool]string{true: "no", false: "yes"}[mode == "none"]
	p.conf(text)
	p.live(live + "maxmemory 100mb\n")
}

// store writes a key, one in another database, one that expires and a function.
func (p *pod) store(name string) {
	p.t.Helper()
	wantOK(p.t, p.do("SET", name, "x"))
	wantOK(p.t, p.do("SET", name+":expires", "x", "EX", "1000"))
	wantOK(p.t, p.do("EVAL", "redis.call('SELECT', 5); return redis.call('SET', KEYS[1], 'x')", "1", name+":5"))
	library := "l" + name
	if got := p.do("FUNCTION", "LOAD", "#!lua name="+library+"\nredis.register_function('f"+name+"', function() return 7 end)"); got != library {
		p.t.Fatal(got)
	}
}

// stored says what is missing of what store wrote.
func (p *pod) stored(names ...string) string {
	var missing []string
	for _, name := range names {
		got := p.do("GET", name) + " " + p.do("FCALL", "f"+name, "0") + " " +
			p.do("EVAL", "redis.call('SELECT', 5); return redis.call('GET', KEYS[1])", "1", name+":5")
		ttl, err := strconv.Atoi(p.do("TTL", name+":expires"))
		if got != "x 7 x" || err != nil || ttl < 900 || ttl > 1000 {
			missing = append(missing, fmt.Sprintf("%s: %s, expires in %d s", name, got, ttl))
		}
	}
	return strings.Join(missing, "; ")
}

// Nothing that was acknowledged is lost by a change of the mode, after a clean stop
// or a kill, and again at later starts.
func TestProcessPersistEveryChangeOfMode(t *testing.T) {
	t.Parallel()
	for i, version := range servertest.Versions() {
		changes := []string{"rdb aof", "rdb both", "aof rdb", "both rdb"}
		if i == 0 {
			// Nothing to do for the scripts, so one server tells.
			changes = append(changes, "both aof")
		}
		for _, change := range changes {
			for j, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
				t.Run(version+" "+change+" "+signal.String(), func(t *testing.T) {
					t.Parallel()
					from, to, _ := strings.Cut(change, " ")
					p := newPod(t, shells()[(i+j)%2], version, "Standalone")
					p.mode(from)
					p.start()
					p.store("early")
					if from != "aof" {
						wantOK(t, p.do("SAVE"))
					}
					names := []string{"early"}
					if from != "rdb" || signal == syscall.SIGTERM {
						p.store("late")
						names = append(names, "late")
					}
					p.ready()
					p.stop(signal)
					p.mode(to)
					for start := range 2 {
						p.start()
						if missing := p.stored(names...); missing != "" {
							t.Fatalf("start %d lost %s\n%s", start, missing, p.log)
						}
						if got := p.do("CONFIG", "GET", "appendonly"); got != "appendonly "+yesNo(to != "rdb") {
							t.Errorf("the server runs with %s", got)
						}
						if strings.Contains(p.log.String(), "storage mode:") != (start == 0 && (from == "rdb") != (to == "rdb")) {
							t.Errorf("start %d:\n%s", start, p.log)
						}
						if start > 0 {
							p.ready()
							p.nothingLeft()
						}
						if to != "rdb" || signal == syscall.SIGTERM {
							p.store("start" + strconv.Itoa(start))
							names = append(names, "start"+strconv.Itoa(start))
						}
						p.stop(signal)
					}
				})
			}
		}
	}
}

// ready runs the readiness probe, which keeps the records.
func (p *pod) ready() {
	p.t.Helper()
	p.run(script.Probe, script.ProbeReadiness).expect(p.t, 0)
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// nothingLeft fails the test when a conversion left something behind.
func (p *pod) nothingLeft() {
	p.t.Helper()
	for _, path := range []string{
		filepath.Join(p.data, "appendonlydir.converted"), filepath.Join(p.data, "appendonlydir.new"),
		filepath.Join(p.data, "appendonlydir.dropped"), filepath.Join(p.data, ".valkey-render/convert"),
		filepath.Join(p.root, "run/convert"),
	} {
		if p.exists(path) {
			p.t.Errorf("%s is left", path)
		}
	}
}

func (p *pod) exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Somebody turned the AOF off on the running server, before the spec said so: the
// RDB is the newer one, whatever the mode is now.
func TestProcessPersistAfterConfigSet(t *testing.T) {
	t.Parallel()
	for i, to := range []string{"rdb", "aof", "both"} {
		p := newPod(t, shells()[i%2], servertest.Versions()[i], "Standalone")
		p.mode("both")
		p.start()
		p.store("early")
		wantOK(t, p.do("CONFIG", "SET", "appendonly", "no"))
		p.ready()
		// A file time has a part of a second, the one in the RDB has none.
		time.Sleep(1100 * time.Millisecond)
		p.store("late")
		wantOK(t, p.do("SAVE"))
		p.stop(syscall.SIGKILL)
		p.mode(to)
		p.start()
		if missing := p.stored("early", "late"); missing != "" {
			t.Errorf("to %s: lost %s\n%s", to, missing, p.log)
		}

		// On again: what it wrote last is in the AOF.
		if to == "rdb" {
			wantOK(t, p.do("CONFIG", "SET", "appendonly", "yes"))
			p.awaitInfo("aof_rewrite_in_progress", "0")
			p.awaitInfo("aof_rewrite_scheduled", "0")
			p.store("again")
			p.stop(syscall.SIGKILL)
			p.start()
			if missing := p.stored("early", "late", "again"); missing != "" {
				t.Errorf("after appendonly yes: lost %s\n%s", missing, p.log)
			}
		}
	}
}

// Nodes of a cluster stay who they are, with their slots and keys.
func TestProcessPersistInACluster(t *testing.T) {
	t.Parallel()
	for i, version := range servertest.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			var cluster [][]*pod
			for range 3 {
				shard := newShard(t, shells()[i%2], version, "Cluster", 1)
				shard[0].mode("both")
				cluster = append(cluster, shard)
			}
			formCluster(t, cluster)
			p := cluster[0][0]
			id := p.do("CLUSTER", "MYID")
			p.fill(100)
			for _, mode := range []string{"rdb", "aof", "rdb"} {
				p.ready()
				p.stop(syscall.SIGKILL)
				p.mode(mode)
				p.start()
				p.await("CLUSTER INFO", func(r string) bool { return strings.Contains(r, "cluster_state:ok") })
				if got := p.do("CLUSTER", "MYID"); got != id || p.do("DBSIZE") != "100" {
					t.Fatalf("to %s: node %s with %s keys\n%s", mode, got, p.do("DBSIZE"), p.log)
				}
			}
		})
	}
}

// A primary that stopped cleanly holds all after the change too, and goes on.
func TestProcessPersistOfAPrimary(t *testing.T) {
	t.Parallel()
	for i, version := range servertest.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			shard := newShard(t, shells()[i%2], version, "Replication", 2)
			for _, p := range shard {
				p.args = p.args[:len(p.args)-4] // the rig's --save ""
				p.mode("both")
				p.start()
			}
			p := shard[0]
			wantOK(t, p.do("REPLICAOF", "NO", "ONE"))
			wantOK(t, shard[1].do("REPLICAOF", p.ip, strconv.Itoa(p.port)))
			shard[1].awaitInfo("master_link_status", "up")
			p.fill(50)
			for _, mode := range []string{"rdb", "aof", "rdb", "both"} {
				p.ready()
				p.stop(syscall.SIGTERM)
				p.mode(mode)
				p.start()
				if p.info("role") != "master" || p.do("DBSIZE") != "50" {
					t.Fatalf("to %s: %s with %s keys\n%s", mode, p.do("ROLE"), p.do("DBSIZE"), p.log)
				}
				shard[1].awaitInfo("master_link_status", "up")
			}
			// An AOF that was lost is not made up for by an RDB that is there.
			p.ready()
			p.fill(60)
			p.stop(syscall.SIGTERM)
			must(t, os.RemoveAll(filepath.Join(p.data, "appendonlydir")))
			p.start()
			if !p.fenced() {
				t.Errorf("without its AOF: %s\n%s", p.do("ROLE"), p.log)
			}
		})
	}
}

func TestProcessPersistNothing(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, shell string) {
		for _, from := range []string{"rdb", "aof", "both"} {
			p := newPod(t, shell, "9.1", "Standalone")
			p.mode(from)
			p.start()
			p.store("k")
			p.stop(syscall.SIGTERM)

			// What an RDB holds is there once more, a fresh cache after that.
			p.mode("none")
			p.start()
			if missing := p.stored("k"); (missing == "") != (from != "aof") {
				t.Errorf("from %s: %q\n%s", from, missing, p.log)
			}
			p.ready()
			p.stop(syscall.SIGTERM)
			p.start()
			if p.do("DBSIZE") != "0" {
				t.Errorf("from %s: old data came back\n%s", from, p.log)
			}
			if file := map[string]string{"rdb": "dump.rdb", "aof": "appendonlydir", "both": "dump.rdb"}[from]; !p.exists(filepath.Join(p.data, file+".unkept")) {
				t.Errorf("from %s: %s was not kept for people", from, file)
			}
			// An RDB that a person had written is all there is for a lone pod, and is
			// older than what another pod has.
			p.ready()
			p.store("saved")
			wantOK(t, p.do("SAVE"))
			p.stop(syscall.SIGTERM)
			p.mode("aof")
			p.start()
			if missing := p.stored("saved"); missing != "" {
				t.Errorf("to aof: lost %s\n%s", missing, p.log)
			}
			p.stop(syscall.SIGTERM)
		}
	})
}

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

const (
	me      = "1111111111111111111111111111111111111111"
	other   = "2222222222222222222222222222222222222222"
	primary = me + " 127.0.0.1:6379@16379,,tls-port=0,shard-id=a myself,master - 0 0 1 connected 0-5460 [5000->-" + other + "]\n"
	replica = me + " 127.0.0.1:6379@16379 myself,slave " + other + " 0 0 1 connected\n"
	myCopy  = other + " 127.0.0.2:6379@16379 slave " + me + " 0 0 1 connected\n"
	vars    = "vars currentEpoch 6 lastVoteEpoch 0\n"
)

// What start.sh does with nodes.conf, for every kind of file, without a server.
func TestIdentityRule(t *testing.T) {
	cases := []struct {
		name, nodes       string
		persisted, data   bool
		copied            string // a copy kept by the probe
		kept, dropped     bool   // nodes.conf as it was; or set aside
		refused, restored bool
		words             string
	}{
		{name: "no file", kept: true},
		{name: "persisted primary", nodes: primary + myCopy + vars, persisted: true, data: true, kept: true},
		{name: "persisted primary whose data is gone", nodes: primary + myCopy + vars, persisted: true, kept: true, words: "lost its data"},
		{name: "last role replica", nodes: replica + vars, kept: true},
		{name: "primary with a replica", nodes: primary + myCopy + vars, kept: true, words: "lost its data"},
		{name: "primary without a replica", nodes: primary + vars, kept: true},
		{name: "primary whose replica may be back since it failed", nodes: primary + strings.Replace(myCopy, "slave", "slave,fail", 1) + vars, kept: true, words: "lost its data"},
		{name: "primary whose replica is gone", nodes: primary + strings.Replace(myCopy, "slave", "slave,noaddr", 1) + vars, kept: true},
		{name: "primary with a replica of another", nodes: primary + strings.ReplaceAll(myCopy, me, strings.Repeat("3", 40)) + vars, kept: true},
		{name: "primary without slots", nodes: strings.Split(primary, " 0-5460")[0] + "\n" + myCopy + vars, kept: true},
		{name: "zero bytes, unpersisted", nodes: "", dropped: true, words: "damaged"},
		{name: "zero bytes, persisted, no data", nodes: "", persisted: true, dropped: true, words: "damaged"},
		{name: "zero bytes, persisted, data", nodes: "", persisted: true, data: true, refused: true, words: "restore"},
		{name: "zero bytes, persisted, data, copy", nodes: "", persisted: true, data: true, copied: primary + vars, restored: true, words: "going on as node " + me},
		{name: "zero bytes, persisted, data, copy damaged too", nodes: "", persisted: true, data: true, copied: primary, refused: true},
		{name: "lone newline", nodes: "\n", dropped: true, words: "damaged"},
		{name: "cut in a line", nodes: primary + myCopy[:60], persisted: true, data: true, refused: true, words: "damaged"},
		{name: "cut in a line, unpersisted", nodes: primary + myCopy[:60], dropped: true, words: "damaged"},
		{name: "cut before its last line", nodes: primary + myCopy, dropped: true, words: "damaged"},
		{name: "cut in its last line", nodes: primary + myCopy + "vars currentEpoch 6 last", dropped: true, words: "damaged"},
		{name: "without a line of its own", nodes: myCopy + vars, dropped: true, words: "damaged"},
		{name: "copy for a lost file", nodes: "absent", persisted: true, data: true, copied: primary + vars, restored: true},
	}
	eachShell(t, func(t *testing.T, shell string) {
		p := newPod(t, shell, "9.1", "Cluster")
		p.fake("valkey-server", `echo ">>> 'valkey-render-end-of-check"`+"\n")
		for _, c := range cases {
			must(t, os.RemoveAll(p.data))
			must(t, os.MkdirAll(filepath.Join(p.data, ".valkey-render"), 0o700))
			nodes := filepath.Join(p.data, "nodes.conf")
			if c.nodes != "absent" && c.name != "no file" {
				must(t, os.WriteFile(nodes, []byte(c.nodes), 0o600))
			}
			if c.copied != "" {
				must(t, os.WriteFile(filepath.Join(p.data, ".valkey-render/nodes.conf"), []byte(c.copied), 0o600))
			}
			p.env[script.EnvPersisted] = map[bool]string{true: "yes", false: "no"}[c.persisted]
			if c.data {
				must(t, os.WriteFile(filepath.Join(p.data, "dump.rdb"), []byte("x"), 0o600))
			}
			r := p.run(script.Start, p.args...)
			now := p.read(nodes)
			_, err := os.Stat(nodes)
			switch {
			case c.refused && r.code == 0, !c.refused && r.code != 0, !strings.Contains(r.out, c.words),
				c.kept && c.name != "no file" && now != c.nodes, c.dropped && err == nil, c.restored && now != c.copied:
				t.Errorf("%s: code %d, nodes.conf %q:\n%s", c.name, r.code, now, r.out)
			}
			if c.dropped && p.read(nodes+".dropped") != c.nodes {
				t.Errorf("%s: the file was not set aside", c.name)
			}
		}
	})
}

func TestProcessIdentityOfUnpersistedNodes(t *testing.T) {
	t.Parallel()
	for i, c := range []struct{ version, jobs string }{{"8.0", "Rendered"}, {"8.1", "Reconciler"}, {"9.1", "Reconciler"}, {"9.1", "Rendered"}} {
		t.Run(c.version+" "+c.jobs, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t, shells()[i%2], c.version, 3, 2)
			master, slave := cluster[0][0], cluster[0][1]
			id, slaveID := master.do("CLUSTER", "MYID"), slave.do("CLUSTER", "MYID")
			master.fill(200)
			slave.await("DBSIZE", func(r string) bool { return r == "200" })

			// A replica that restarts stays who it is and syncs again by itself.
			slave.stop(syscall.SIGKILL)
			slave.start()
			slave.awaitInfo("master_link_status", "up")
			if got := slave.do("CLUSTER", "MYID"); got != slaveID || slave.do("DBSIZE") != "200" {
				t.Fatalf("the replica came back as %s with %s keys", got, slave.do("DBSIZE"))
			}
			// A replica is elected only when its primary was seen by the majority.
			time.Sleep(time.Second)

			// A primary that restarts at once, empty, lets its replica be promoted and
			// comes back as its replica, without anybody's help.
			master.env[script.EnvJobs] = c.jobs
			begin := time.Now()
			master.stop(syscall.SIGKILL)
			master.launch(master.args...)
			slave.awaitInfo("role", "master")
			t.Logf("promoted after %s", time.Since(begin))
			master.awaitInfo("master_link_status", "up")
			t.Logf("in sync again after %s", time.Since(begin))
			if got := slave.do("DBSIZE") + " " + master.do("DBSIZE"); got != "200 200" {
				t.Errorf("%s keys instead of 200 and 200\n%s", got, master.log)
			}
			if got := master.do("CLUSTER", "MYID"); got != id {
				t.Errorf("node %s instead of %s", got, id)
			}
		})
	}
}

// Two of three primaries restart at once: there is no majority for a promotion.
// Their replicas keep the only data until a Job promotes them.
func TestProcessIdentityWithoutAMajority(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, "dash", "9.1", 3, 2)
	for _, shard := range cluster[:2] {
		shard[0].fill(100)
		shard[1].await("DBSIZE", func(r string) bool { return r == "100" })
	}
	for _, shard := range cluster[:2] {
		shard[0].stop(syscall.SIGKILL)
	}
	for _, shard := range cluster[:2] {
		shard[0].launch(shard[0].args...)
	}
	time.Sleep(4 * time.Second)
	for _, shard := range cluster[:2] {
		if shard[1].info("role") != "slave" || shard[1].do("DBSIZE") != "100" {
			t.Fatalf("the replica is now %s with %s keys", shard[1].info("role"), shard[1].do("DBSIZE"))
		}
		shard[0].run(script.Probe, script.ProbeStartup).expect(t, 1)
	}
	for _, shard := range cluster[:2] {
		// After the first there is a majority again, and the second may be elected.
		if got := shard[1].do("CLUSTER", "FAILOVER", "TAKEOVER"); got != "OK" && shard[1].info("role") != "master" {
			t.Fatal(got)
		}
	}
	for _, shard := range cluster[:2] {
		shard[0].awaitInfo("master_link_status", "up")
		if got := shard[0].do("DBSIZE") + " " + shard[1].do("DBSIZE"); got != "100 100" {
			t.Errorf("%s keys instead of 100 and 100\n%s", got, shard[0].log)
		}
	}
}

// Both pods of a shard restart: nobody has its data, so its slots are served again,
// by the same node, without a Job.
func TestProcessIdentityOfAShardThatLostEverything(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, "busybox", "8.1", 3, 2)
	master, slave := cluster[0][0], cluster[0][1]
	id := master.do("CLUSTER", "MYID")
	master.fill(10)
	slave.stop(syscall.SIGKILL)
	master.stop(syscall.SIGKILL)
	slave.start()
	master.start()
	for _, p := range []*pod{master, slave} {
		p.await("CLUSTER INFO", func(r string) bool { return strings.Contains(r, "cluster_state:ok") })
	}
	if got := master.do("CLUSTER", "MYID"); got != id {
		t.Errorf("node %s instead of %s\n%s", got, id, master.log)
	}
	eventually(t, "the shard has one primary", func() bool { return primaries(cluster[0]) == 1 })
}

// While it waits, the shell is process 1: it must end when the pod is deleted.
func TestIdentityWaitEndsOnSIGTERM(t *testing.T) {
	eachShell(t, func(t *testing.T, shell string) {
		p := newPod(t, shell, "9.1", "Cluster")
		p.set(map[string]string{script.EnvNodeTimeout: "60000", script.EnvPeers: "127.0.0.1:1"})
		must(t, os.WriteFile(filepath.Join(p.data, "nodes.conf"), []byte(primary+myCopy+vars), 0o600))
		p.launch(p.args...)
		eventually(t, "it says that it waits", func() bool { return strings.Contains(p.log.String(), "starting once one of them is promoted") })
		p.stop(syscall.SIGTERM)
	})
}

// nodes.conf is empty, cut short or of before: the node stays who it was (T3).
func TestProcessIdentityOfPersistedNodes(t *testing.T) {
	t.Parallel()
	var cluster [][]*pod
	for range 3 {
		shard := newShard(t, "dash", "8.1", "Cluster", 1)
		shard[0].persist()
		cluster = append(cluster, shard)
	}
	formCluster(t, cluster)
	p := cluster[0][0]
	id := p.do("CLUSTER", "MYID")
	p.fill(200)
	p.run(script.Probe, script.ProbeReadiness).expect(t, 0)
	nodes := filepath.Join(p.data, "nodes.conf")
	for _, damage := range []string{"", p.read(nodes)[:100], p.read(nodes)} {
		p.stop(syscall.SIGKILL)
		must(t, os.WriteFile(nodes, []byte(damage), 0o600))
		p.start()
		p.await("CLUSTER INFO", func(r string) bool { return strings.Contains(r, "cluster_state:ok") })
		if got := p.do("CLUSTER", "MYID"); got != id || p.do("DBSIZE") != "200" {
			t.Errorf("after damage to %d bytes: node %s with %s keys", len(damage), got, p.do("DBSIZE"))
		}
	}
}

// The stand-in speaks TLS on the bus, as the server it stands for would.
func TestProcessIdentityWithTLS(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	var cluster [][]*pod
	for range 3 {
		shard := newShard(t, "dash", "9.1", "Cluster", 2)
		for _, p := range shard {
			ca.issue(p)
			p.env[script.EnvTLS] = "yes"
			tls := filepath.Join(p.root, "tls")
			plain, err := servertest.FreePort()
			must(t, err)
			p.conf("tls-cluster yes\ntls-replication yes\ntls-cert-file " + tls + "/tls.crt\ntls-key-file " + tls + "/tls.key\ntls-ca-cert-file " + tls + "/ca.crt\n")
			// The test itself speaks no TLS: it has a second port.
			p.args = append(p.args, "--tls-port", strconv.Itoa(p.port), "--port", strconv.Itoa(plain))
			p.plain = plain
		}
		cluster = append(cluster, shard)
	}
	formCluster(t, cluster)
	master, slave := cluster[0][0], cluster[0][1]
	master.fill(50)
	slave.await("DBSIZE", func(r string) bool { return r == "50" })
	time.Sleep(time.Second)
	begin := time.Now()
	master.stop(syscall.SIGKILL)
	master.launch(master.args...)
	slave.awaitInfo("role", "master")
	t.Logf("promoted after %s", time.Since(begin))
	master.awaitInfo("master_link_status", "up")
	if got := slave.do("DBSIZE") + " " + master.do("DBSIZE"); got != "50 50" {
		t.Errorf("%s keys instead of 50 and 50\n%s", got, master.log)
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/render/script"
)

// newShard lays out the pods of one shard that know each other as peers.
func newShard(t testing.TB, shell, version, topology string, pods int) []*pod {
	t.Helper()
	var shard []*pod
	var peers []string
	for i := range pods {
		p := newPod(t, shell, version, topology)
		p.env[script.EnvPodName] = "c-0-" + strconv.Itoa(i)
		p.env[script.EnvFQDN] = p.env[script.EnvPodName] + ".c-nodes.ns.svc.cluster.local"
		p.env[script.EnvReplicas] = strconv.Itoa(pods - 1)
		if topology == "Cluster" {
			p.args = append(p.args, "--cluster-enabled", "yes", "--cluster-config-file", filepath.Join(p.data, "nodes.conf"),
				"--cluster-announce-ip", p.ip, "--cluster-node-timeout", p.env[script.EnvNodeTimeout], "--cluster-allow-replica-migration", "no")
		} else {
			p.args = append(p.args, "--replica-announce-ip", p.ip)
		}
		p.args = append(p.args, "--save", "", "--repl-diskless-sync-delay", "0")
		peers = append(peers, p.addr())
		shard = append(shard, p)
	}
	for _, p := range shard {
		p.env[script.EnvPeers] = strings.Join(peers, " ")
	}
	return shard
}

// persist makes a pod keep its data, by AOF.
func (p *pod) persist() {
	p.t.Helper()
	p.env[script.EnvPersisted] = "yes"
	p.conf("appendonly yes\n")
}

// formCluster starts shards of one primary (the first pod) and its replicas and
// waits until all agree. The slots are divided evenly.
func formCluster(t testing.TB, shards [][]*pod) {
	t.Helper()
	first := shards[0][0]
	for i, shard := range shards {
		for _, p := range shard {
			p.launch(p.args...)
		}
		for _, p := range shard {
			p.await("PING", func(r string) bool { return r == "PONG" })
		}
		from, to := i*16384/len(shards), (i+1)*16384/len(shards)-1
		wantOK(t, shard[0].do("CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(from), strconv.Itoa(to)))
		wantOK(t, shard[0].do("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1)))
	}
	eachPod(shards, func(p *pod) {
		wantOK(t, p.do("CLUSTER", "MEET", first.ip, strconv.Itoa(first.port)))
	})
	pods := 0
	eachPod(shards, func(*pod) { pods++ })
	eachPod(shards, func(p *pod) {
		p.await("CLUSTER INFO", func(r string) bool { return strings.Contains(r, fmt.Sprintf("cluster_known_nodes:%d\r", pods)) })
	})
	for _, shard := range shards {
		id := shard[0].do("CLUSTER", "MYID")
		for _, p := range shard[1:] {
			p.await("CLUSTER REPLICATE "+id, func(r string) bool { return r == "OK" })
		}
	}
	eachPod(shards, func(p *pod) {
		p.await("CLUSTER INFO", func(r string) bool { return strings.Contains(r, "cluster_state:ok") })
	})
	for _, shard := range shards {
		for _, p := range shard[1:] {
			p.awaitInfo("master_link_status", "up")
			// The others learn of it by gossip; a primary's nodes.conf needs it.
			p.awaitInfo("role", "slave")
			id := p.do("CLUSTER", "MYID")
			eachPod(shards, func(q *pod) {
				q.await("CLUSTER NODES", func(r string) bool {
					for line := range strings.SplitSeq(r, "\n") {
						if strings.HasPrefix(line, id) && strings.Contains(line, "slave ") {
							return true
						}
					}
					return false
				})
			})
		}
	}
}

func eachPod(shards [][]*pod, do func(p *pod)) {
	for _, shard := range shards {
		for _, p := range shard {
			do(p)
		}
	}
}

func wantOK(t testing.TB, reply string) {
	t.Helper()
	// REPLICAOF says more when it was so already: "OK Already connected to specified
	// master".
	if reply != "OK" && !strings.HasPrefix(reply, "OK ") {
		t.Fatal(reply)
	}
}

// newCluster forms shards of pods each.
func newCluster(t testing.TB, shell, version string, shards, pods int) [][]*pod {
	t.Helper()
	var all [][]*pod
	for range shards {
		all = append(all, newShard(t, shell, version, "Cluster", pods))
	}
	formCluster(t, all)
	return all
}

// fill writes keys into a primary's own slots, until it holds this many.
func (p *pod) fill(keys int) {
	p.t.Helper()
	for i := 0; p.do("DBSIZE") != strconv.Itoa(keys); i++ {
		if i > 50*keys {
			p.t.Fatal("the keys hit no slot of this primary")
		}
		p.do("SET", "key:"+strconv.Itoa(i), "x")
	}
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

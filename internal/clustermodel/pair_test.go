// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustermodel_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/internal/clustermodel"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// nodes is how many servers each side has: two primaries and a replica of the first.
const nodes = 3

// pair are the same servers twice: real ones, and those of the model.
type pair struct {
	t     *testing.T
	real  [nodes]*servertest.Server
	model [nodes]*clustermodel.Session
	world *clustermodel.World
	now   time.Time
	names *strings.Replacer

	version string
}

// copied has the first import a slot that the second owns, and copies a key of it there.
func (p *pair) copied(key string) string {
	n := strconv.Itoa(slot.OfKey(key))
	host, port, _ := strings.Cut(p.real[0].Addr(), ":")
	p.send(1, "SET", key, "1")
	p.sendTo(0, []string{"CLUSTER", "SETSLOT", n, "IMPORTING"}, 1)
	p.send(1, "MIGRATE", host, port, "", "0", "2000", "COPY", "KEYS", key)
	return n
}

func newPair(t *testing.T, version string) *pair {
	p := &pair{t: t, version: version, now: time.Unix(1_000_000, 0)}
	p.world = clustermodel.New(clustermodel.Settings{NodeTimeout: 15 * time.Second, Durable: true}, rand.New(rand.NewPCG(1, 1)), p.now)
	var ids []string
	for i := range nodes {
		p.start(i, nil)
		id, err := p.real[i].Do("CLUSTER", "MYID")
		if err != nil {
			t.Fatal(err)
		}
		s := p.world.Add(fmt.Sprintf("n%d", i), version+".1", p.real[i].Addr())
		if p.model[i], err = p.world.Connect(s.Address()); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id.(string), s.Name, s.ID, s.Name)
	}
	p.names = strings.NewReplacer(ids...)
	return p
}

// form makes a cluster of them.
func (p *pair) form() {
	for i := range nodes {
		p.send(i, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
	}
	p.send(0, "CLUSTER", "SET-CONFIG-EPOCH", "9")
	p.send(0, "CLUSTER", "ADDSLOTSRANGE", "0", "8191")
	p.send(1, "CLUSTER", "ADDSLOTSRANGE", "8192", "16383")
	p.send(0, "CLUSTER", "ADDSLOTSRANGE", "8191", "8193")
	for i := 1; i < nodes; i++ {
		p.meet(0, i)
	}
	p.agree("all have met")
}

// attach makes the last one a replica of the first.
func (p *pair) attach() {
	p.sendTo(2, []string{"CLUSTER", "REPLICATE"}, 0)
	p.agree("a replica")
}

// start starts a real server, with the files that another one left behind.
func (p *pair) start(i int, files map[string]string) {
	p.real[i] = servertest.Start(p.t, p.version, servertest.Options{TCP: true, Files: files, Args: []string{
		"--cluster-enabled", "yes", "--cluster-node-timeout", "15000", "--cluster-announce-ip", "127.0.0.1",
		"--cluster-allow-replica-migration", "no", "--save", "", "--repl-diskless-sync-delay", "0",
	}})
}

// restart ends a server and starts it with its data at another address.
func (p *pair) restart(i int) {
	p.t.Helper()
	old := p.real[i]
	if _, err := old.Do("SAVE"); err != nil {
		p.t.Fatal(err)
	}
	if err := old.Process().Kill(); err != nil {
		p.t.Fatal(err)
	}
	<-old.Exited()
	files := map[string]string{}
	for _, name := range []string{"nodes.conf", "dump.rdb"} {
		text, err := os.ReadFile(filepath.Join(old.Dir, name))
		if err != nil {
			p.t.Fatal(err)
		}
		files[name] = string(text)
	}
	p.start(i, files)
	s := p.model[i].Server()
	s.Stop()
	s.Start(p.real[i].Addr())
	var err error
	if p.model[i], err = p.world.Connect(s.Address()); err != nil {
		p.t.Fatal(err)
	}
}

// id is the ID of a node on either side.
func (p *pair) id(i int, onServer bool) string {
	if !onServer {
		return p.model[i].Server().ID
	}
	id, err := p.real[i].Do("CLUSTER", "MYID")
	if err != nil {
		p.t.Fatal(err)
	}
	return id.(string)
}

// send sends a command to the same node of both sides and compares the replies.
func (p *pair) send(i int, words ...string) { p.compare(i, words, words) }

// sendTo is send with the ID of another node at the end.
func (p *pair) sendTo(i int, words []string, other int) {
	p.compare(i, append(slices.Clone(words), p.id(other, true)), append(slices.Clone(words), p.id(other, false)))
}

func (p *pair) meet(i, other int) {
	host, port, _ := strings.Cut(p.real[other].Addr(), ":")
	p.send(i, "CLUSTER", "MEET", host, port)
}

func (p *pair) compare(i int, server, model []string) {
	p.t.Helper()
	value, err := p.real[i].Do(server...)
	reply := p.model[i].Do(model...)
	want, got := p.said(value, err), p.said(reply.Value, reply.Err)
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Fatalf("n%d: %s: the server (-), the model (+):\n%s", i, p.names.Replace(strings.Join(model, " ")), diff)
	}
}

// said is what matters of a reply: of an error the first words.
func (p *pair) said(value any, err error) string {
	if err == nil {
		if list, ok := value.([]any); ok {
			var keys []string
			for _, key := range list {
				keys = append(keys, fmt.Sprint(key))
			}
			slices.Sort(keys)
			return strings.Join(keys, " ")
		}
		return fmt.Sprint(value)
	}
	text := err.Error()
	var refused *node.RefusedError
	if errors.As(err, &refused) {
		text = refused.Words
	}
	words := strings.Fields(p.names.Replace(strings.TrimPrefix(text, "ERR ")))
	return "error: " + strings.Join(words[:min(3, len(words))], " ")
}

// agree waits until all nodes of both sides believe the same.
func (p *pair) agree(what string) {
	p.t.Helper()
	var diff string
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		p.now = p.now.Add(time.Second)
		p.world.Advance(p.now)
		var want, got []string
		for i := range nodes {
			value, err := p.real[i].Do("CLUSTER", "NODES")
			if err != nil {
				p.t.Fatal(err)
			}
			info, err := p.real[i].Do("CLUSTER", "INFO")
			if err != nil {
				p.t.Fatal(err)
			}
			want = append(want, p.beliefs(value, info)...)
			got = append(got, p.beliefs(p.model[i].Do("CLUSTER", "NODES").Value, p.model[i].Do("CLUSTER", "INFO").Value)...)
		}
		if diff = cmp.Diff(want, got); diff == "" && p.online() {
			return
		}
	}
	p.t.Fatalf("%s: the servers (-), the model (+):\n%s", what, diff)
}

// online is whether every real replica is in sync and its primary knows: before that it is
// not told of slots that are opened and closed.
func (p *pair) online() bool {
	replicas, online := 0, 0
	for i := range nodes {
		text, err := p.real[i].Do("INFO", "replication")
		if err != nil {
			p.t.Fatal(err)
		}
		if info := node.ParseInfo(fmt.Sprint(text)); info["role"] == "slave" {
			replicas++
			if info["master_link_status"] != "up" {
				return false
			}
		}
		online += strings.Count(fmt.Sprint(text), "state=online")
	}
	return replicas == online
}

// beliefs are the state of the cluster and the lines of CLUSTER NODES, with what does not
// differ by time.
func (p *pair) beliefs(text, info any) []string {
	entries, err := node.ParseNodes(fmt.Sprint(text))
	if err != nil {
		return []string{err.Error()}
	}
	lines := []string{node.ParseInfo(fmt.Sprint(info))["cluster_state"]}
	for _, e := range entries {
		name := e.ID
		if e.Handshake {
			name = "handshake"
		}
		lines = append(lines, p.names.Replace(fmt.Sprintf("%s myself=%v replica=%v of=%s failed=%v linked=%v slots=%s open=%v",
			name, e.Myself, e.Replica, e.Primary, e.Failed || e.Suspected, e.Linked, e.Slots, e.Open)))
	}
	slices.Sort(lines)
	return lines
}

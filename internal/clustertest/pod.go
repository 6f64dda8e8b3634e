// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustertest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/topologyjob/client"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// NodeTimeout is cluster-node-timeout of the pods: long enough for a busy machine.
const NodeTimeout = 3 * time.Second

// Cluster are the pods of one cluster.
type Cluster struct {
	tb      testing.TB
	version string
	args    []string
	// Pods are by name: c-<shard>-<index>.
	Pods map[string]*Pod
	// Desired is what is wanted of them.
	Desired plan.Desired
	// Sentinels are those of topology Sentinel, in the order of their names.
	Sentinels []*Sentinel

	secure  *Secure
	records Records
}

// Records are who notes what is sent to data servers and to sentinels; nil notes nothing.
type Records struct{ Data, Sentinels *servertest.Recorder }

// Pod is one server that may be stopped and started.
type Pod struct {
	tb      testing.TB
	cluster *Cluster
	// Place is how a survey knows it. Host and Port change with each start.
	Place survey.Pod
	// Server is nil while it is stopped.
	Server *servertest.Server
	// Unfenced has it start as the primary of its own, in topologies without slots, as the
	// start script never does with replicas around.
	Unfenced bool
	// data are the files that it left behind.
	data map[string]string
}

// New starts the pods of a cluster that nobody has formed. More arguments for the servers
// follow the usual ones.
func New(tb testing.TB, version string, shards, replicas int32, args ...string) *Cluster {
	tb.Helper()
	return NewSecured(tb, version, nil, shards, replicas, args...)
}

// NewSecured is New with pods that take nothing but TLS.
func NewSecured(tb testing.TB, version string, secure *Secure, shards, replicas int32, args ...string) *Cluster {
	tb.Helper()
	return (&Cluster{tb: tb, version: version, args: args, secure: secure}).start(shards, replicas)
}

// NewRecorded is New with pods of which is noted what they are sent.
func NewRecorded(tb testing.TB, version string, records Records, shards, replicas int32, args ...string) *Cluster {
	tb.Helper()
	return (&Cluster{tb: tb, version: version, args: args, records: records}).start(shards, replicas)
}

func (c *Cluster) start(shards, replicas int32) *Cluster {
	c.tb.Helper()
	c.Pods = map[string]*Pod{}
	c.Desired = plan.Desired{Shards: shards, Replicas: replicas, NodeTimeout: NodeTimeout}
	for shard := range shards {
		for index := range replicas + 1 {
			c.Add(shard, index)
		}
	}
	return c
}

// Add starts one more pod.
func (c *Cluster) Add(shard, index int32) *Pod {
	c.tb.Helper()
	name := fmt.Sprintf("c-%d-%d", shard, index)
	p := &Pod{tb: c.tb, cluster: c, Place: survey.Pod{Name: name, Shard: shard, Index: index}}
	c.Pods[name] = p
	p.Start()
	return p
}

// Pod is the pod of a place.
func (c *Cluster) Pod(shard, index int32) *Pod {
	return c.Pods[fmt.Sprintf("c-%d-%d", shard, index)]
}

// Places are what a survey asks, in the order of names.
func (c *Cluster) Places() []survey.Pod {
	var places []survey.Pod
	for _, p := range c.Sorted() {
		places = append(places, p.Place)
	}
	return places
}

// Sorted are the pods by shard and index.
func (c *Cluster) Sorted() []*Pod {
	return slices.SortedFunc(maps.Values(c.Pods), func(a, b *Pod) int {
		if a.Place.Shard != b.Place.Shard {
			return int(a.Place.Shard - b.Place.Shard)
		}
		return int(a.Place.Index - b.Place.Index)
	})
}

// Start starts a stopped pod, at a new address, with the data that it left behind.
func (p *Pod) Start() {
	p.tb.Helper()
	args := append(p.usual(), p.cluster.args...)
	p.Place.Host = "127.0.0.1"
	if secure := p.cluster.secure; secure != nil {
		secure.start(p, args)
	} else {
		p.Server = servertest.Start(p.tb, p.cluster.version, servertest.Options{
			TCP: true, Files: p.data, Args: args, Recorder: p.cluster.records.Data,
		})
	}
	p.Place.Port = p.Server.Port
	p.Place.Runs = survey.Running
}

// usual are the arguments that every server of the topology has.
func (p *Pod) usual() []string {
	if p.cluster.slots() {
		return []string{
			"--cluster-enabled", "yes", "--cluster-node-timeout", strconv.Itoa(int(NodeTimeout / time.Millisecond)),
			"--cluster-announce-ip", "127.0.0.1", "--cluster-allow-replica-migration", "no",
			"--save", "", "--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0",
		}
	}
	args := []string{"--save", "", "--repl-diskless-sync-delay", "0"}
	if !p.Unfenced && p.cluster.Desired.Replicas > 0 {
		args = append(args, "--replicaof", "127.0.0.1 1")
	}
	return args
}

// Stop kills the pod's server and keeps its data.
func (p *Pod) Stop() {
	p.tb.Helper()
	if p.cluster.slots() {
		p.awaitShardIDs()
	}
	p.data = map[string]string{}
	// Killed first: a directory that is being written to is no snapshot.
	_ = p.Server.Process().Kill()
	<-p.Server.Exited()
	err := filepath.WalkDir(p.Server.Dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || entry.Name() == "valkey.conf" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(p.Server.Dir, path)
		p.data[name] = string(data)
		return err
	})
	if err != nil {
		p.tb.Fatal(err)
	}
	p.Server.Stop()
	p.Server = nil
	p.Place.Runs = survey.Stopped
}

// awaitShardIDs waits until the pod's nodes.conf gives each replica the shard ID of its
// primary. A server hears of a role one packet before it hears of the shard ID and writes
// both down; from a file that was left in between 8.0 and 8.1.1 do not start again
// (valkey-io/valkey issues 774 and 2171:
// "corrupted cluster config file"). 9.1 does, and is not waited for.
//
// The other pods are waited for too, if not as long: one may be stopped next, and hears no
// more of this one.
func (p *Pod) awaitShardIDs() {
	p.tb.Helper()
	if !strings.HasPrefix(p.cluster.version, "8.") {
		return
	}
	for _, other := range p.cluster.Sorted() {
		if other != p && other.Server != nil {
			if err := other.settleShardIDs(10 * time.Second); err != nil {
				p.tb.Log(err)
			}
		}
	}
	if err := p.settleShardIDs(30 * time.Second); err != nil {
		p.tb.Fatal(err)
	}
}

// settleShardIDs is an error when the shard IDs in nodes.conf do not agree in time.
func (p *Pod) settleShardIDs(within time.Duration) error {
	server, saved := p.Server, false
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		data, err := os.ReadFile(filepath.Join(server.Dir, "nodes.conf"))
		switch {
		case err != nil:
			return fmt.Errorf("pod %s: %w", p.Place.Name, err)
		case shardIDsAgree(string(data)):
			return nil
		case time.Since(began) > within:
			return fmt.Errorf("pod %s: shard IDs in nodes.conf never agreed:\n%s", p.Place.Name, data)
		case !saved && time.Since(began) > within/3:
			// What it knows by now may have gone into no file yet. One that hangs does not answer.
			saved = true
			go func() { _, _ = server.Do("CLUSTER", "SAVECONFIG") }()
		}
	}
}

func shardIDsAgree(conf string) bool {
	shard, primary := map[string]string{}, map[string]string{}
	for line := range strings.Lines(conf) {
		f := strings.Fields(line)
		_, id, found := strings.Cut(line, "shard-id=")
		if len(f) < 8 || !found {
			continue
		}
		shard[f[0]] = strings.Fields(id)[0]
		if f[3] != "-" {
			primary[f[0]] = f[3]
		}
	}
	for replica, of := range primary {
		if shard[of] != "" && shard[replica] != shard[of] {
			return false
		}
	}
	return true
}

// Wipe forgets the data that a stopped pod left behind, as a new volume does.
func (p *Pod) Wipe() { p.data = nil }

// Restart stops and starts the pod: same data, another address.
func (p *Pod) Restart() {
	p.tb.Helper()
	p.Stop()
	p.Start()
}

// ID is the node ID.
func (p *Pod) ID() string {
	p.tb.Helper()
	id, err := p.Server.Do("CLUSTER", "MYID")
	if err != nil {
		p.tb.Fatal(err)
	}
	return id.(string)
}

// Asker asks the pods through a dialer.
func Asker(tb testing.TB, dialer node.Dialer) survey.Asker {
	pool := node.NewPool(dialer)
	tb.Cleanup(pool.Close)
	return survey.Asker{Pool: pool, Timeout: 10 * time.Second}
}

// Dialer connects to pods without a password.
func Dialer() node.Dialer { return client.Dialer{Timeout: 10 * time.Second} }

// Options are those of a run over the cluster.
func (c *Cluster) Options(kind converge.Kind, dialer node.Dialer) converge.Options {
	return converge.Options{
		Kind: kind, Desired: c.Desired, Pods: c.Places(), Asker: Asker(c.tb, dialer), Clock: Clock{}, Wait: true, Patience: 20 * time.Second,
		Sentinels: c.SentinelPlaces(), SentinelSettings: sentinelSettings(),
		OnPlan: func(p plan.Plan) { c.tb.Log(p) },
		OnStep: func(s plan.Step, err error) {
			if err != nil {
				c.tb.Logf("%s: %v", s.Kind(), err)
			}
		},
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustertest

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// NewReplication starts the pods of a topology without slots. They begin as replicas of
// nobody, as the start script has it, and keep nothing unless arguments say so.
func NewReplication(tb testing.TB, version string, pods int32, args ...string) *Cluster {
	tb.Helper()
	return NewSecuredReplication(tb, version, nil, pods, args...)
}

// NewSecuredReplication is NewReplication with pods that take nothing but TLS.
func NewSecuredReplication(tb testing.TB, version string, secure *Secure, pods int32, args ...string) *Cluster {
	tb.Helper()
	return (&Cluster{tb: tb, version: version, args: args, secure: secure}).startReplication(pods)
}

// NewRecordedReplication is NewReplication with pods of which is noted what they are sent,
// and sentinels that are to be.
func NewRecordedReplication(tb testing.TB, version string, records Records, pods int32, args ...string) *Cluster {
	tb.Helper()
	return (&Cluster{tb: tb, version: version, args: args, records: records}).startReplication(pods)
}

func (c *Cluster) startReplication(pods int32) *Cluster {
	c.tb.Helper()
	c.Pods = map[string]*Pod{}
	c.Desired = plan.Desired{Topology: v1alpha1.TopologyReplication, Shards: 1, Replicas: pods - 1, Detection: 2 * time.Second}
	if pods == 1 {
		c.Desired.Topology = v1alpha1.TopologyStandalone
	}
	for index := range pods {
		c.Add(0, index)
	}
	return c
}

// slots is whether the topology is Cluster.
func (c *Cluster) slots() bool {
	return c.Desired.Topology == "" || c.Desired.Topology == v1alpha1.TopologyCluster
}

// Info is what a pod's server says of itself.
func (p *Pod) Info() node.Info {
	p.tb.Helper()
	text, err := p.Server.Do("INFO")
	if err != nil {
		// Sentinels end all connections to servers whose role they change.
		text, err = p.Server.Do("INFO")
	}
	if err != nil {
		p.tb.Fatalf("pod %s: %v", p.Place.Name, err)
	}
	return node.ParseInfo(text.(string))
}

// Role is master or slave, "" for a server that does not answer.
func (p *Pod) Role() string {
	text, err := p.Server.Do("INFO", "replication")
	if err != nil {
		text, err = p.Server.Do("INFO", "replication")
	}
	if err != nil {
		return ""
	}
	return node.ParseInfo(text.(string))["role"]
}

// Primary is the one pod whose server is a primary; the test fails when there are more or
// none.
func (c *Cluster) Primary() *Pod {
	c.tb.Helper()
	var primary *Pod
	for _, p := range c.Sorted() {
		if p.Server == nil || p.Role() != "master" {
			continue
		}
		if primary != nil {
			c.tb.Fatalf("pods %s and %s are primaries", primary.Place.Name, p.Place.Name)
		}
		primary = p
	}
	if primary == nil {
		c.tb.Fatal("no pod is a primary")
	}
	return primary
}

// Freeze stops a server's process without ending it, and Thaw has it go on.
func (p *Pod) Freeze() { p.signal(syscall.SIGSTOP) }

// Thaw is the end of Freeze.
func (p *Pod) Thaw() { p.signal(syscall.SIGCONT) }

func (p *Pod) signal(s syscall.Signal) {
	p.tb.Helper()
	if err := p.Server.Process().Signal(s); err != nil {
		p.tb.Fatal(err)
	}
}

// Sentinel is a sentinel's process.
type Sentinel struct {
	Place  survey.Pod
	Server *servertest.Server
}

// What sentinels are told: short, for a busy machine.
const (
	sentinelDownAfter       = 3 * time.Second
	sentinelFailoverTimeout = 20 * time.Second
)

func sentinelSettings() map[string]string {
	return map[string]string{
		"down-after-milliseconds": fmt.Sprint(sentinelDownAfter.Milliseconds()),
		"failover-timeout":        fmt.Sprint(sentinelFailoverTimeout.Milliseconds()),
		"parallel-syncs":          "1",
	}
}

// Watch starts sentinels that watch nothing, and makes the topology Sentinel. They listen
// and connect as the pods do. More files for them may follow, by name, of which
// sentinel.conf is more text for their configuration, and how to log in at them, such as
// AUTH and its words.
func (c *Cluster) Watch(count int, files map[string]string, login ...string) {
	c.tb.Helper()
	c.Desired.Topology = v1alpha1.TopologySentinel
	c.Desired.ReplicaPriority = 100
	for range count {
		index := len(c.Sentinels)
		s := &Sentinel{Place: survey.Pod{Name: fmt.Sprintf("c-sentinel-%d", index), Index: int32(index), Host: "127.0.0.1", Runs: survey.Running}}
		options := servertest.Options{Sentinel: true, Conf: files["sentinel.conf"], Files: files, Recorder: c.records.Sentinels}
		if c.secure != nil {
			c.secure.sentinel(c.tb, s, c.version, options)
		} else {
			options.TCP = true
			s.Server = servertest.Start(c.tb, c.version, options)
		}
		s.Place.Port = s.Server.Port
		s.hurry(c.tb, login)
		c.Sentinels = append(c.Sentinels, s)
	}
	c.Desired.Sentinels = int32(len(c.Sentinels))
	c.Desired.Quorum = len(c.Sentinels)/2 + 1
}

// hurry has a sentinel look and tell more often than once in ten and two seconds, which is
// most of what a test would wait for. What it does is the same. A busy machine stops it now
// and then for longer than two seconds, after which it would do nothing for half a minute
// (tilt).
func (s *Sentinel) hurry(tb testing.TB, login []string) {
	tb.Helper()
	conn, err := s.Server.Dial()
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close()
	var commands [][]string
	for _, option := range []string{"INFO-PERIOD 1000", "ASK-PERIOD 500", "PUBLISH-PERIOD 500", "MIN-LINK-RECONNECT-PERIOD 2000", "TILT-TRIGGER 20000"} {
		commands = append(commands, append([]string{"SENTINEL", "DEBUG"}, strings.Fields(option)...))
	}
	if len(login) > 0 {
		commands = append([][]string{login}, commands...)
	}
	for _, words := range commands {
		if _, err := conn.Do(words...); err != nil {
			tb.Fatalf("%s: %s: %v", s.Place.Name, words[:2], err)
		}
	}
}

// SentinelPlaces are what a survey asks.
func (c *Cluster) SentinelPlaces() []survey.Pod {
	var places []survey.Pod
	for _, s := range c.Sentinels {
		places = append(places, s.Place)
	}
	return places
}

// View is one look at everything.
func (c *Cluster) View(dialer node.Dialer) survey.View {
	asker := Asker(c.tb, dialer)
	asker.Topology, asker.Sentinels = c.Desired.Topology, c.SentinelPlaces()
	return asker.Take(c.tb.Context(), c.Places())
}

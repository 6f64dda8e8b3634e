// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package acl_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// TestProcessSystemUsersMayNothingThatNothingSends runs, for each topology on each version,
// what Jobs, scripts and the exporter do, as the users that they are, and fails for every
// rule of these users that is about nothing that was sent, and for everything sent that is
// in no rule.
func TestProcessSystemUsersMayNothingThatNothingSends(t *testing.T) {
	t.Parallel()
	for topology, run := range map[v1alpha1.Topology]func(*stage){
		v1alpha1.TopologyCluster: runCluster, v1alpha1.TopologyReplication: runReplication,
		v1alpha1.TopologySentinel: runSentinel, v1alpha1.TopologyStandalone: runStandalone,
	} {
		t.Run(string(topology), func(t *testing.T) {
			t.Parallel()
			all := &ledger{sent: map[string][]string{}, rules: map[string][]string{}}
			t.Run("of", func(t *testing.T) {
				for _, version := range servertest.Versions() {
					t.Run(version, func(t *testing.T) {
						t.Parallel()
						s := newStage(t, version, topology)
						run(s)
						all.add(s)
					})
				}
			})
			if !t.Failed() {
				all.check(t)
			}
		})
	}
}

// runCluster forms a cluster, moves slots there and back, hands over, takes over, ends
// what others have left half done, changes settings, and does what a container does.
func runCluster(s *stage) {
	c := clustertest.NewRecorded(s.t, s.version, s.records, 2, 1, append(s.args(), s.options()...)...)
	s.Cluster = c
	s.job(converge.Bootstrap)
	c.Desired.Initialized, c.Desired.Durable = true, true
	c.Fill(keys)
	c.Add(2, 0)
	c.Add(2, 1)
	c.Desired.Shards = 3
	s.job(converge.Repair)
	slots, key := s.some(20)
	s.misplace(c.Pod(2, 0), key, s.owner(key), "0")
	c.Desired.Reshard = &plan.Reshard{From: 0, To: 2, Slots: slots}
	writer := c.Write(1)
	s.job(converge.Reshard)
	c.Desired.Reshard, c.Desired.Shards = nil, 2
	s.job(converge.Drain)
	writer.Stop()
	for _, p := range []*clustertest.Pod{c.Pod(2, 0), c.Pod(2, 1)} {
		p.Stop()
		delete(c.Pods, p.Place.Name)
	}
	c.Synced()
	c.Desired.Vacate = []string{"c-0-0"}
	s.job(converge.Handover)
	c.Desired.Vacate = nil
	s.openSlot()
	s.strayKeys()
	s.forget()
	for _, p := range c.Sorted() {
		s.probe(p)
	}
	s.scrape(c.Pod(0, 0))
	c.Synced()
	if s.version < "9.0" {
		s.handsOver(c.Pod(0, 1))
	}
	s.settings()
	s.takeover()
	if n := c.Missing(keys); n > 0 {
		s.t.Errorf("%d keys are missing", n)
	}
}

const keys = 200

// some are slots of shard 0 with keys in them, one of which is key.
func (s *stage) some(n int) (slots slot.Ranges, key string) {
	for i := 0; i < keys && slots.Count() < n; i++ {
		if one := slot.OfKey(fmt.Sprintf("key:%d", i)); one < 8192 {
			key = fmt.Sprintf("key:%d", i)
			slots = slots.Plus(slot.Ranges{{First: one, Last: one}})
		}
	}
	return slots, key
}

// options are those with which servers of a Cluster send most: a second connection for
// replication, and databases where a Cluster can have them.
func (s *stage) options() []string {
	args := []string{"--dual-channel-replication-enabled", "yes"}
	if s.version < "9.0" {
		return args
	}
	return append(args, "--cluster-databases", "2")
}

// openSlot leaves a move half done, with a key on both sides, as versions before 9.0 do.
func (s *stage) openSlot() {
	s.t.Helper()
	const key = "key:1"
	n := strconv.Itoa(slot.OfKey(key))
	from := s.owner(key)
	to := from
	for _, p := range s.Sorted() {
		if p.Place.Shard != from.Place.Shard && p.Role() == "master" {
			to = p
		}
	}
	for _, one := range []struct {
		at    *clustertest.Pod
		words []string
	}{
		{to, []string{"CLUSTER", "SETSLOT", n, "IMPORTING", from.ID()}},
		{from, []string{"CLUSTER", "SETSLOT", n, "MIGRATING", to.ID()}},
		{from, []string{"MIGRATE", "127.0.0.1", strconv.Itoa(to.Place.Port), key, "0", "5000", "COPY", "AUTH2", name.UserOperator, password}},
	} {
		s.insist(one.at, one.words...)
	}
	// The key is compared, since it is on both sides, and the move is finished.
	s.job(converge.Repair)
}

// owner is the primary that has a key.
func (s *stage) owner(key string) *clustertest.Pod {
	s.t.Helper()
	var owner *clustertest.Pod
	eventually(s.t, "somebody has "+key, func() bool {
		for _, p := range s.Sorted() {
			if _, err := p.Server.Do("GET", key); err == nil && p.Role() == "master" {
				owner = p
			}
		}
		return owner != nil
	})
	return owner
}

// strayKeys are on a pod without slots, and on their owner as well.
func (s *stage) strayKeys() {
	s.t.Helper()
	s.Desired.Replicas = 2
	p := s.Add(0, 2)
	s.Add(1, 2)
	owners := map[string]*clustertest.Pod{}
	for i := range 5 {
		key := fmt.Sprintf("key:%d", i)
		owners[key] = s.owner(key)
	}
	s.insist(p, "CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(owners["key:0"].Place.Port))
	eventually(s.t, "the new pod serves", func() bool {
		text, err := p.Server.Do("CLUSTER", "INFO")
		return err == nil && strings.Contains(text.(string), "cluster_state:ok") && strings.Contains(text.(string), "cluster_slots_assigned:16384")
	})
	databases := []string{"0"}
	if s.version >= "9.0" {
		databases = append(databases, "1")
	}
	for key, owner := range owners {
		for _, database := range databases {
			s.plant(owner, database, false, key)
		}
		s.misplace(p, key, owner, databases...)
	}
	if out := s.job(converge.Repair); out.Steps["empty"] != 1 {
		s.t.Errorf("no keys were looked for: %+v", out)
	}
}

// misplace writes a key to a pod that does not own its slot, in some databases.
func (s *stage) misplace(at *clustertest.Pod, key string, owner *clustertest.Pod, databases ...string) {
	s.t.Helper()
	n := strconv.Itoa(slot.OfKey(key))
	s.insist(at, "CLUSTER", "SETSLOT", n, "IMPORTING", owner.ID())
	for _, database := range databases {
		s.plant(at, database, true, key)
	}
	s.insist(at, "CLUSTER", "SETSLOT", n, "STABLE")
}

// plant writes a key to a pod, in a database.
func (s *stage) plant(at *clustertest.Pod, database string, asking bool, key string) {
	s.t.Helper()
	commands := [][]string{{"SELECT", database}, {"ASKING"}, {"SET", key, "value:" + strings.TrimPrefix(key, "key:")}}
	if !asking {
		commands = slices.Delete(commands, 1, 2)
	}
	s.untilTaken(func() error {
		conn, err := at.Server.Dial()
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		for _, words := range commands {
			if _, err := conn.Do(words...); err != nil {
				return err
			}
		}
		return nil
	})
}

// forget waits until the pods that are gone are forgotten.
func (s *stage) forget() {
	s.t.Helper()
	s.Desired.Patience = time.Second
	eventually(s.t, "what is gone is forgotten", func() bool { return s.job(converge.Repair).Steps["forget"] > 0 })
	s.Desired.Patience = 0
}

// takeover has a Job promote a replica, since half of the primaries are no majority.
func (s *stage) takeover() {
	s.t.Helper()
	for _, p := range s.Sorted() {
		if p.Place.Shard == 0 && p.Role() == "master" {
			s.Synced()
			p.Stop()
			s.Desired.Takeover, s.Desired.Patience = true, time.Second
			if out := s.job(converge.Repair); out.Steps["takeover"] == 0 {
				s.t.Errorf("nobody took over: %+v", out)
			}
			return
		}
	}
}

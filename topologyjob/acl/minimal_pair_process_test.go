// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package acl_test

import (
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// runReplication forms a shard, hands over by a Job and by the hook, and fails over.
func runReplication(s *stage) {
	c := clustertest.NewRecordedReplication(s.t, s.version, s.records, 3, append(s.args(), "--dual-channel-replication-enabled", "yes")...)
	s.Cluster = c
	s.job(converge.Bootstrap)
	c.Fill(50)
	c.Synced()
	c.Desired.Vacate = []string{"c-0-0"}
	s.job(converge.Handover)
	c.Desired.Vacate = nil
	for _, p := range c.Sorted() {
		s.probe(p)
	}
	s.scrape(c.Pod(0, 0))
	c.Synced()
	s.handsOver(c.Primary())
	s.job(converge.Repair)
	s.settings()
	c.Synced()
	// It comes back without its data, as a primary beside the one that is elected.
	emptied := c.Primary()
	emptied.Stop()
	s.job(converge.Failover)
	emptied.Wipe()
	emptied.Unfenced = true
	emptied.Start()
	s.job(converge.Repair)
	if n := c.Missing(50); n > 0 {
		s.t.Errorf("%d keys are missing", n)
	}
}

// runSentinel does the same with sentinels, and lets them fail over. Then all servers move at
// once, and the sentinels forget what is gone.
func runSentinel(s *stage) {
	c := clustertest.NewRecordedReplication(s.t, s.version, s.records, 3, append(s.args(), "--busy-reply-threshold", "100", "--dual-channel-replication-enabled", "yes")...)
	s.Cluster = c
	s.watch()
	s.job(converge.Bootstrap)
	c.Fill(50)
	c.Synced()
	c.Desired.Vacate = []string{"c-0-0"}
	s.job(converge.Handover)
	c.Desired.Vacate = nil
	s.job(converge.Repair)
	for _, p := range c.Sorted() {
		s.probe(p)
	}
	for _, w := range c.Sentinels {
		s.probeAt(w.Place, "config/sentinel.conf")
	}
	s.scrape(c.Pod(0, 0))
	s.settings()
	s.abandoned()
	s.busyScript()
	c.Synced()
	old := c.Primary()
	old.Stop()
	old.Wipe()
	s.job(converge.Failover)
	s.moveAll()
	if n := c.Missing(50); n > 0 {
		s.t.Errorf("%d keys are missing", n)
	}
}

// abandoned is a FAILOVER that somebody has begun and that does not end, since its replica
// does not go on: a Job ends it.
func (s *stage) abandoned() {
	s.t.Helper()
	s.Synced()
	primary := s.Primary()
	var replica *clustertest.Pod
	for _, p := range s.Sorted() {
		if p != primary {
			replica = p
		}
	}
	replica.Freeze()
	// Something that it lacks.
	s.insist(primary, "SET", "key:0", "value:0")
	s.insist(primary, "FAILOVER", "TO", "127.0.0.1", strconv.Itoa(replica.Place.Port))
	go func() {
		for !slices.Contains(s.records.Data.Sent(name.UserOperator), "failover") && s.t.Context().Err() == nil {
			time.Sleep(20 * time.Millisecond)
		}
		_ = replica.Server.Process().Signal(syscall.SIGCONT)
	}()
	s.hasty = true
	s.job(converge.Repair)
	s.hasty = false
}

// busyScript runs one without an end on a replica: sentinels end it.
func (s *stage) busyScript() {
	s.t.Helper()
	for _, p := range s.Sorted() {
		if p.Role() == "slave" {
			conn, err := p.Server.Dial()
			must(s.t, err)
			defer func() { _ = conn.Close() }()
			go func() { _, _ = conn.Do("EVAL", "while true do end", "0") }()
			eventually(s.t, "sentinels end the script", func() bool {
				return slices.Contains(s.records.Data.Sent(name.UserSentinel), "script|kill") && p.Role() == "slave"
			})
			return
		}
	}
}

// moveAll restarts all servers elsewhere, where no sentinel looks for them.
func (s *stage) moveAll() {
	s.t.Helper()
	s.Synced()
	for _, p := range s.Sorted() {
		if p.Server != nil {
			s.insist(p, "SAVE")
			p.Stop()
		}
	}
	for _, p := range s.Sorted() {
		p.Start()
	}
	s.Desired.Patience = time.Second
	s.job(converge.Repair)
	// One that is gone for good is forgotten.
	last := s.Pod(0, 2)
	if last.Role() == "master" {
		last = s.Pod(0, 1)
	}
	eventually(s.t, "the sentinels know all replicas", func() bool {
		for _, w := range s.View(s.operator).Sentinels {
			if w.Watched == nil || len(w.Watched.Replicas) != 2 {
				return false
			}
		}
		return true
	})
	last.Restart()
	eventually(s.t, "the sentinels miss one", func() bool {
		for _, w := range s.View(s.operator).Sentinels {
			if w.Watched == nil || !slices.ContainsFunc(w.Watched.Replicas, survey.Known.Down) {
				return false
			}
		}
		return true
	})
	s.job(converge.Repair)
}

// runStandalone is one server, whose settings change.
func runStandalone(s *stage) {
	s.Cluster = clustertest.NewRecordedReplication(s.t, s.version, s.records, 1, s.args()...)
	s.job(converge.Converge)
	s.probe(s.Pod(0, 0))
	s.scrape(s.Pod(0, 0))
	s.settings()
}

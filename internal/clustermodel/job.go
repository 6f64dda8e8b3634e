// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustermodel

import (
	"maps"
	"slices"

	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// job is an atomic slot migration, as both of its ends know it (≥9.0).
type job struct {
	name           string
	source, target string
	slots          slot.Ranges
	importing      bool
	state, message string
	ends           int64
}

func (j *job) ended() bool { return j.state == "success" || j.state == "failed" }

// migrations is the part of a tick in which slot migrations of a source go on, one after
// the other.
func (s *Server) migrations() {
	for _, j := range s.jobs {
		switch {
		case j.ended():
			continue
		case j.importing:
			if m := s.byID[j.source]; m == nil || s.at(m) == nil || s.at(m).job(j.name) == nil || s.me.replica {
				j.state, j.message = "failed", "Connection lost to source"
				s.world.changed = true
			}
			continue
		}
		s.world.changed = true
		if s.world.now < j.ends {
			return
		}
		s.finish(j)
		return
	}
}

// finish hands the slots of a migration over, or gives it up.
func (s *Server) finish(j *job) {
	m := s.byID[j.target]
	var target *Server
	if m != nil {
		target = s.at(m)
	}
	var its *job
	if target != nil && target.ID == j.target {
		its = target.job(j.name)
	}
	fail := func(why string) {
		j.state, j.message = "failed", why
		if its != nil {
			its.state, its.message = "failed", why
		}
		s.world.note("migration of %s from %s failed: %s", j.slots, s.Name, why)
	}
	switch {
	case s.me.replica || !s.me.slots.Covers(j.slots):
		fail("Slots are no longer owned by myself")
		return
	case its == nil:
		fail("Connection lost to target")
		return
	case target.me.replica || target.byID[s.ID] == nil:
		fail("Target is no primary")
		return
	case s.world.Late > 0 && s.world.rand.Float64() < s.world.Late/4:
		fail("Timed out")
		return
	}
	for n, keys := range s.data.keys {
		if j.slots.Contains(n) {
			for key, version := range keys {
				target.set(n, key, version)
			}
		}
	}
	target.own(target.me, j.slots)
	target.bump()
	j.state, its.state = "success", "success"
	s.world.note("%s has slots %s of %s", target.Name, j.slots, s.Name)
	s.hear(target)
	// What the source has of them goes now, however much it has left.
	s.world.because("servers: "+s.Name+" has moved slots", func() {
		for _, n := range slices.Sorted(maps.Keys(s.data.keys)) {
			if j.slots.Contains(n) && !s.me.slots.Contains(n) {
				s.dropSlot(n)
			}
		}
	})
}

func (s *Server) job(name string) *job {
	for _, j := range s.jobs {
		if j.name == name {
			return j
		}
	}
	return nil
}

// export begins to move slots to another node.
func (s *Server) export(to *member, slots slot.Ranges) {
	target := s.at(to)
	j := &job{name: s.world.id(), source: s.ID, target: to.id, slots: slots, state: "snapshotting", ends: s.world.soon(20, 900)}
	s.jobs = append(s.jobs, j)
	if target != nil && target.ID == to.id && !target.me.replica {
		if slices.ContainsFunc(slices.Collect(maps.Keys(target.data.keys)), slots.Contains) {
			s.world.note("%s crashes: it is to take slots of which it has keys", target.Name)
			target.Stop()
			return
		}
		other := *j
		other.importing, other.state = true, "receiving-snapshot"
		target.jobs = append(target.jobs, &other)
	}
}

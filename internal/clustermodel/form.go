// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustermodel

import (
	"slices"

	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// Place is what a server is in a cluster that is there from the start.
type Place struct {
	Server *Server
	// Primary is what it replicates, nil for a primary, which owns Slots as of Epoch.
	Primary *Server
	Slots   slot.Ranges
	Epoch   uint64
	// Also are slots that it alone takes for its own, beside those.
	Also slot.Ranges
}

// Form makes servers a cluster in which each knows every other.
func (w *World) Form(places []Place) {
	highest, shard := uint64(0), map[*Server]string{}
	for _, p := range places {
		highest = max(highest, p.Epoch)
		shard[p.Server] = p.Server.me.shard
		if p.Primary != nil {
			shard[p.Server] = p.Primary.me.shard
		}
	}
	for _, p := range places {
		s := p.Server
		s.epoch, s.me.shard = highest, shard[s]
		for _, other := range places {
			m := s.me
			if other.Server != s {
				m = &member{id: other.Server.ID, address: other.Server.address, linked: true, pong: w.now, met: w.now, shard: shard[other.Server]}
				s.know(m)
			}
			m.epoch, m.slots = other.Epoch, other.Slots
			if other.Primary != nil {
				m.replica, m.primary, m.epoch, m.slots = true, other.Primary.ID, 0, nil
			}
		}
		if len(p.Also) > 0 {
			s.own(s.me, p.Also)
		}
	}
}

// Sync has every replica take over what its primary has, at once.
func (w *World) Sync() {
	for _, s := range w.servers {
		m := s.byID[s.me.primary]
		if !s.up || !s.me.replica || m == nil {
			continue
		}
		if primary := s.at(m); primary != nil && primary.ID == m.id {
			s.copy(primary)
			s.replica.linked, s.replica.synced, s.replica.of, s.replica.begins = true, true, primary.replica.history, 0
		}
	}
}

// Owns are the slots that it takes for its own, none for a replica.
func (s *Server) Owns() slot.Ranges { return s.me.slots }

// Epoch is its config epoch.
func (s *Server) Epoch() uint64 { return s.epochOf(s.me) }

// Follows is the ID of the node that it replicates, "" for a primary.
func (s *Server) Follows() string { return s.me.primary }

// Open is how many open slots it has.
func (s *Server) Open() int { return len(s.migrating) + len(s.importing) }

// Imports is whether it marks a slot as importing.
func (s *Server) Imports(n int) bool { return s.importing[n] != "" }

// InSync is whether it is a replica that is up, with a link that is up.
func (s *Server) InSync() bool { return s.up && s.me.replica && s.replica.linked }

// Since is when its process started, in milliseconds since 1970.
func (s *Server) Since() int64 { return s.started }

// Knows is how many nodes it knows, itself included.
func (s *Server) Knows() int { return len(s.members) }

// Heard is whether all servers that are up and know one know what it owns.
func (w *World) Heard(of *Server) bool {
	for _, s := range w.servers {
		m := s.byID[of.ID]
		if s.up && s != of && m != nil && (m.epoch != of.me.epoch && !of.me.replica || !equal(m.slots, of.me.slots)) {
			return false
		}
	}
	return true
}

// Believed is whether any other server that is up takes one for the owner of a slot.
func (w *World) Believed(of *Server) bool {
	return slices.ContainsFunc(w.servers, func(s *Server) bool {
		m := s.byID[of.ID]
		return s.up && s != of && m != nil && len(m.slots) > 0
	})
}

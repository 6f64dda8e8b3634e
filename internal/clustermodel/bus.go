// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustermodel

import (
	"slices"

	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// reach is the part of a tick in which a server connects to those that it knows, and tells
// and hears what is new.
func (s *Server) reach() {
	for _, m := range slices.Clone(s.members) {
		if m == s.me || s.byID[m.id] != m {
			continue
		}
		other := s.at(m)
		switch {
		case m.handshake:
			s.shake(m, other)
		case other == nil:
			if m.linked {
				m.linked = false
				s.world.changed = true
			}
		case other.ID != m.id:
			// Somebody else answers there.
			m.address, m.linked, m.suspected = "", false, false
			if !m.failed {
				m.failed, m.failedAt = true, s.world.now
			}
			s.touch()
		default:
			s.exchange(m, other)
		}
	}
}

// exchange is a PING and its PONG, left out while neither side has anything new.
func (s *Server) exchange(m *member, other *Server) {
	if !m.linked {
		m.linked = true
		s.world.changed = true
	}
	m.pong = s.world.now
	if m.suspected {
		m.suspected = false
		s.touch()
	}
	if m.heard == [2]uint64{s.rev, other.rev} || !s.world.arrives() {
		return
	}
	if known := other.byID[s.ID]; known != nil && known.address != s.address {
		known.address = s.address
		other.touch()
	}
	other.hear(s)
	s.hear(other)
	if s.byID[m.id] == m {
		m.heard = [2]uint64{s.rev, other.rev}
	}
}

// shake ends a handshake, or gives it up.
func (s *Server) shake(m *member, other *Server) {
	s.world.changed = true
	if s.world.now-m.met > max(s.world.NodeTimeout.Milliseconds(), 1000) {
		s.delete(m)
		return
	}
	if other == nil || other == s || !s.world.arrives() {
		return
	}
	if m.meet && other.byID[s.ID] == nil {
		other.introduce(s.address, false)
	}
	s.delete(m)
	if known := s.byID[other.ID]; known != nil {
		known.address = other.address
	} else {
		delete(s.banned, other.ID)
		s.know(&member{id: other.ID, address: other.address, shard: other.me.shard, linked: true, pong: s.world.now, met: s.world.now})
	}
	s.exchange(s.byID[other.ID], other)
}

// introduce begins a handshake with whoever is at an address.
func (s *Server) introduce(address string, meet bool) {
	for _, m := range s.members {
		if m.handshake && m.address == address {
			m.meet = m.meet || meet
			return
		}
	}
	s.know(&member{id: s.world.id(), address: address, handshake: true, meet: meet, met: s.world.now})
}

// hear takes over what another server says of itself and of others.
func (s *Server) hear(from *Server) {
	sender := s.byID[from.ID]
	if sender == nil {
		return
	}
	if from.epoch > s.epoch {
		s.epoch = from.epoch
		s.touch()
	}
	claimed, was := from.epochOf(from.me), sender.replica
	if !from.me.replica && claimed > sender.epoch {
		sender.epoch = claimed
		s.touch()
	}
	s.hearRole(sender, from, claimed)
	if !from.me.replica && (was || !equal(sender.slots, from.me.slots)) {
		s.learn(sender, claimed, from.me.slots)
		s.correct(sender, from, claimed)
	}
	if !s.me.replica && !sender.replica && !from.me.replica && claimed == s.me.epoch && s.ID < from.ID {
		// Two with one epoch: the lower ID takes another.
		if s.world.onRaise != nil {
			s.world.onRaise(s)
		}
		s.epoch++
		s.me.epoch = s.epoch
		s.touch()
	}
	s.gossip(from)
}

// hearRole takes over whether another server is a primary.
func (s *Server) hearRole(sender *member, from *Server, claimed uint64) {
	if !from.me.replica {
		if sender.replica {
			sender.replica, sender.primary = false, ""
			s.touch()
		}
		s.shard(sender, from.me.shard)
		return
	}
	primary := s.byID[from.me.primary]
	if !sender.replica {
		switch {
		case primary == nil || primary.shard != sender.shard:
			sender.slots = nil
		case sender.epoch <= claimed:
			primary.replica, primary.primary, primary.epoch = false, "", claimed
		}
		sender.replica = true
		s.touch()
	}
	if primary == nil || sender.primary == primary.id {
		s.shard(sender, from.me.shard)
		return
	}
	sender.primary = primary.id
	s.touch()
	if my := s.byID[s.me.primary]; s.me.replica && my != nil && my.replica && my.primary != "" && my.primary != s.ID {
		if above := s.byID[my.primary]; above != nil {
			s.follow(above)
		}
	}
	s.shard(sender, from.me.shard)
}

func (s *Server) shard(m *member, shard string) {
	if m.shard != shard {
		m.shard = shard
		s.touch()
	}
}

// correct tells a server that claims what others own by a higher epoch about the first of
// them.
func (s *Server) correct(sender *member, from *Server, claimed uint64) {
	first, owner := slot.All().Count(), (*member)(nil)
	for _, m := range s.members {
		both := m.slots.And(from.me.slots)
		if m == sender || len(both) == 0 || m.epoch <= claimed {
			continue
		}
		if both = both.Minus(s.loose); len(both) > 0 && both[0].First < first {
			first, owner = both[0].First, m
		}
	}
	if owner == nil {
		return
	}
	about := from.byID[owner.id]
	if about == nil || about.epoch >= owner.epoch {
		return
	}
	about.replica, about.primary, about.epoch = false, "", owner.epoch
	from.touch()
	from.learn(about, owner.epoch, owner.slots)
}

// gossip takes over whom another server knows, where they are, and whom it has forgotten.
func (s *Server) gossip(from *Server) {
	for _, m := range from.members {
		known := s.byID[m.id]
		switch {
		case m.handshake || m.address == "" || m == from.me:
		case known == nil && s.banned[m.id] <= s.world.now:
			s.know(&member{id: m.id, address: m.address, replica: m.replica, shard: m.shard, pong: s.world.now, met: s.world.now})
		case known != nil && known != s.me && (known.failed || known.suspected) && !m.failed && !m.suspected && m.linked && known.address != m.address:
			known.address = m.address
			s.touch()
		}
	}
	for id, until := range from.banned {
		m := s.byID[id]
		if until > s.world.now && m != nil && m != s.me && s.me.primary != id {
			s.banned[id] = until
			s.delete(m)
		}
	}
}

func equal(a, b slot.Ranges) bool { return slices.Equal(a, b) }

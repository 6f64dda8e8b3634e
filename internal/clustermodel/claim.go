// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustermodel

import (
	"maps"
	"slices"

	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// learn is that a node claims slots as of an epoch, by itself or by somebody who knows.
func (s *Server) learn(sender *member, epoch uint64, claimed slot.Ranges) {
	if sender == s.me {
		return
	}
	primary, sameShard := s.primary(), sender.shard == s.me.shard
	var lost, mine slot.Ranges
	free := claimed.Minus(sender.slots)
	s.loose = s.loose.Minus(claimed.And(sender.slots))
	gained := slot.Ranges{}
	for _, m := range s.members {
		taken := m.slots.And(free)
		if m == sender || len(taken) == 0 {
			continue
		}
		free = free.Minus(taken)
		if m.epoch >= epoch {
			taken = taken.And(s.loose)
		}
		if m == primary {
			lost = taken
		}
		if m == s.me {
			mine = taken
		}
		m.slots = m.slots.Minus(taken)
		gained = gained.Plus(taken)
	}
	gained = gained.Plus(free)
	if len(gained) > 0 {
		s.loose = s.loose.Minus(gained)
		sender.slots = sender.slots.Plus(gained)
		s.reopen(sender, gained, sameShard)
		s.touch()
	}
	s.release(sender, epoch, claimed)
	s.yield(sender, epoch, claimed, lost, mine, sameShard)
}

// reopen is what becomes of open slots that have another owner.
func (s *Server) reopen(owner *member, gained slot.Ranges, sameShard bool) {
	for n := range s.migrating {
		if gained.Contains(n) && !sameShard {
			delete(s.migrating, n)
		}
	}
	for n, id := range s.importing {
		if !gained.Contains(n) || id == owner.id {
			continue
		}
		if from := s.byID[id]; from != nil && from.shard == owner.shard {
			s.importing[n] = owner.id
		} else {
			delete(s.importing, n)
		}
	}
}

// release is what follows from slots that a node does not claim.
func (s *Server) release(sender *member, epoch uint64, claimed slot.Ranges) {
	if dropped := sender.slots.Minus(claimed); len(dropped) > 0 {
		s.loose = s.loose.Plus(dropped)
	}
	for n, id := range s.migrating {
		to := s.byID[id]
		if !claimed.Contains(n) && to != nil && to != sender && (to.epoch < epoch || to.replica) && to.shard == sender.shard {
			s.migrating[n] = sender.id
			s.touch()
		}
	}
	if s.me.replica {
		return
	}
	for _, n := range slices.Sorted(maps.Keys(s.importing)) {
		if s.importing[n] != sender.id || claimed.Contains(n) {
			continue
		}
		delete(s.importing, n)
		if !s.me.slots.Contains(n) {
			s.own(s.me, slot.Ranges{{First: n, Last: n}})
			s.bump()
		}
		s.touch()
	}
}

// yield is what a server becomes that has lost slots.
func (s *Server) yield(sender *member, epoch uint64, claimed, lost, mine slot.Ranges, sameShard bool) {
	primary := s.primary()
	gone := len(lost) > 0
	if !gone && s.me.primary != sender.id && len(claimed) == 0 && len(s.me.slots) == 0 && s.epochOf(s.me) < epoch && sameShard {
		gone = true
	}
	if !gone {
		return
	}
	if primary != nil && len(primary.slots) == 0 {
		if sameShard {
			s.follow(sender)
			return
		}
		// 8.0 keeps the keys of the last slots that a primary loses to another shard.
		if s.me.replica || s.before(8, 1) {
			return
		}
	}
	s.world.because("servers: "+s.Name+" lost slots to another owner", func() {
		for _, n := range slices.Sorted(maps.Keys(s.data.keys)) {
			if mine.Contains(n) {
				s.dropSlot(n)
			}
		}
	})
}

// own is that slots belong to a member, whoever had them.
func (s *Server) own(to *member, slots slot.Ranges) {
	for _, m := range s.members {
		if m != to {
			m.slots = m.slots.Minus(slots)
		}
	}
	to.slots = to.slots.Plus(slots)
	s.loose = s.loose.Minus(slots)
	s.touch()
}

// follow makes it a replica of a member.
func (s *Server) follow(m *member) {
	s.world.note("%s becomes a replica of %s", s.Name, s.world.name(m.id))
	if m.shard != s.me.shard {
		clear(s.migrating)
		clear(s.importing)
	}
	s.me.replica, s.me.primary, s.me.shard = true, m.id, m.shard
	s.me.slots = nil
	s.replica.linked, s.replica.of = false, ""
	s.standing = standing{}
	s.touch()
}

// name is what the server with an ID is called.
func (w *World) name(id string) string {
	for _, s := range w.servers {
		if s.ID == id {
			return s.Name
		}
	}
	return id[:min(8, len(id))]
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustermodel

import "slices"

// judge is the part of a tick in which a server takes others for dead, or for alive again.
func (s *Server) judge() {
	timeout := s.world.NodeTimeout.Milliseconds()
	for id, until := range s.banned {
		if until <= s.world.now {
			delete(s.banned, id)
		}
	}
	for _, m := range s.members {
		if m == s.me || m.handshake {
			continue
		}
		silence := s.world.now - m.pong
		switch {
		case m.linked && m.failed:
			if m.replica || len(m.slots) == 0 || s.world.now-m.failedAt > 2*timeout {
				m.failed = false
				s.touch()
			} else {
				s.world.changed = true
			}
		case m.linked || m.failed:
		case !m.suspected && silence > timeout:
			m.suspected = true
			s.touch()
		case m.suspected:
			s.world.changed = true
			if s.agreed(m) {
				s.declare(m)
			}
		default:
			s.world.changed = true
		}
	}
}

// agreed is whether a majority of the primaries suspects a member.
func (s *Server) agreed(m *member) bool {
	voters, votes := s.voters(), 0
	for _, v := range voters {
		if v == s.me {
			votes++
			continue
		}
		other := s.at(v)
		if other == nil || other.ID != v.id || other.me.replica {
			continue
		}
		if its := other.byID[m.id]; its != nil && (its.suspected || its.failed) {
			votes++
		}
	}
	return votes >= len(voters)/2+1
}

// declare tells all that a member is dead.
func (s *Server) declare(m *member) {
	s.world.note("%s declares %s failed", s.Name, s.world.name(m.id))
	for _, to := range slices.Clone(s.members) {
		other := s
		if to != s.me {
			other = s.at(to)
		}
		if other == nil || other.ID != to.id {
			continue
		}
		about := other.byID[m.id]
		if about != nil && about != other.me && !about.failed {
			about.failed, about.suspected, about.failedAt = true, false, s.world.now
			other.touch()
		}
	}
}

// standing is a replica's candidacy for its primary's place.
type standing struct {
	// at is when it asks for votes, 0 for never.
	at int64
	// how is empty for an election, or handover or force by command.
	how   string
	until int64
}

// mfTimeout is how long a manual failover may take.
const mfTimeout = 5000

// elect is the part of a tick in which a replica tries to replace its primary.
func (s *Server) elect() {
	primary := s.byID[s.me.primary]
	if !s.me.replica || primary == nil {
		s.standing = standing{}
		return
	}
	now := s.world.now
	switch {
	case s.standing.how != "" && now > s.standing.until:
		s.standing = standing{}
	case s.standing.how != "":
		s.world.changed = true
	case !primary.failed:
		s.standing = standing{}
		return
	case !s.eligible():
		return
	case s.standing.at == 0:
		s.standing.at = s.world.soon(500+1000*s.rank(), 1000+1000*s.rank())
	default:
		s.world.changed = true
	}
	if s.standing.at == 0 || now < s.standing.at {
		return
	}
	if s.standing.how == "handover" && !s.caughtUp(primary) {
		return
	}
	how := s.standing.how
	s.epoch++
	s.touch()
	if !s.elected(primary, how != "") {
		s.standing.at = now + max(4*s.world.NodeTimeout.Milliseconds(), 4000)
		return
	}
	if how == "" {
		how = "election"
	}
	s.me.epoch = s.epoch
	s.promote(primary, how)
}

// eligible is whether the data of a replica is new enough for an election.
func (s *Server) eligible() bool {
	if !s.world.Durable {
		return true
	}
	r := &s.replica
	age := s.world.now - r.lost
	return r.synced && (r.linked || age < 10*s.world.NodeTimeout.Milliseconds()+10_000)
}

// rank is how many replicas of the same primary have gone further.
func (s *Server) rank() int64 {
	rank := int64(0)
	for _, m := range s.members {
		other := s.at(m)
		if m != s.me && m.replica && m.primary == s.me.primary && other != nil && other.ID == m.id && other.replica.offset > s.replica.offset {
			rank++
		}
	}
	return rank
}

// elected is whether a majority of the primaries votes for it.
func (s *Server) elected(primary *member, forced bool) bool {
	voters, votes := s.voters(), 0
	for _, v := range voters {
		other := s.at(v)
		if other == nil || other.ID != v.id || !v.linked {
			continue
		}
		its, old := other.byID[s.ID], other.byID[primary.id]
		if its == nil || !its.replica || old == nil || other.me.replica || len(other.me.slots) == 0 || other.voted >= s.epoch || other.epoch > s.epoch {
			continue
		}
		if !old.failed && !forced || its.primary != primary.id || !other.grants(s, primary) {
			continue
		}
		other.voted, other.epoch = s.epoch, s.epoch
		other.touch()
		votes++
	}
	return votes >= len(voters)/2+1
}

// grants is whether no slot that a candidate claims has a newer owner.
func (s *Server) grants(candidate *Server, primary *member) bool {
	for _, m := range s.members {
		if m.epoch > primary.epoch && len(m.slots.And(primary.slots)) > 0 {
			return false
		}
	}
	return candidate.up
}

// promote makes a replica the primary in the place of another node.
func (s *Server) promote(old *member, how string) {
	s.world.note("%s replaces %s by %s", s.Name, s.world.name(old.id), how)
	slots := old.slots
	s.me.replica, s.me.primary = false, ""
	s.own(s.me, slots)
	if !s.before(9, 1) {
		s.match(how)
	}
	s.replica.linked = false
	s.replica.history = s.world.id()
	s.standing = standing{}
	if s.world.onElect != nil {
		s.world.onElect(s, old.id, how)
	}
	for _, m := range slices.Clone(s.members) {
		if other := s.at(m); m != s.me && !m.handshake && other != nil && other.ID == m.id && s.world.arrives() {
			other.hear(s)
		}
	}
}

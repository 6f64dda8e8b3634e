// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustermodel

import (
	"net"
	"strconv"

	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// Server is a node: an identity with its data, and a process while it is up.
type Server struct {
	world *World
	// Name is what it is called in traces.
	Name string
	// ID is its node ID, Version such as 9.1.2.
	ID      string
	Version string

	up      bool
	address string // host:port
	started int64
	// life counts its processes.
	life int

	me *member
	// members are all nodes that it knows, itself included.
	members []*member
	byID    map[string]*member
	// epoch is currentEpoch; voted the one in which it voted last.
	epoch, voted uint64
	// migrating and importing are its open slots, with the ID at the other end.
	migrating, importing map[int]string
	// loose are slots whose owner claims them no more, and nobody else does.
	loose slot.Ranges
	// banned are IDs that were forgotten, with the time at which that ends.
	banned map[string]int64

	data    data
	replica replica
	// standing is its candidacy.
	standing standing
	jobs     []*job
	// rev counts changes of what it tells others.
	rev uint64
}

// member is what a server believes of a node, or of itself.
type member struct {
	id      string
	address string // host:port, "" when unknown
	replica bool
	primary string
	shard   string
	epoch   uint64
	slots   slot.Ranges

	linked, suspected, failed bool
	handshake, meet           bool
	// pong is when it was heard of, failedAt since when it is failed, met when it was added.
	pong, failedAt, met int64
	// heard are the revisions of both at the last message.
	heard [2]uint64
}

// Add makes a new, empty node that knows nobody, and starts it.
func (w *World) Add(name, version, address string) *Server {
	s := &Server{
		world: w, Name: name, ID: w.id(), Version: version,
		byID: map[string]*member{}, migrating: map[int]string{}, importing: map[int]string{}, banned: map[string]int64{},
	}
	s.me = &member{id: s.ID, shard: w.id(), linked: true}
	s.know(s.me)
	s.data.keys = map[int]map[string]int{}
	w.servers = append(w.servers, s)
	s.Start(address)
	return s
}

// Start starts its process at an address, with the data that it left behind. What another
// server has there ends.
func (s *Server) Start(address string) {
	if other := s.world.at[address]; other != nil && other != s {
		other.Stop()
	}
	s.up, s.address, s.me.address = true, address, address
	s.started = s.world.now
	s.life++
	s.world.at[address] = s
	s.replica = replica{history: s.world.id()}
	s.standing, s.jobs, s.loose = standing{}, nil, nil
	for _, m := range s.members {
		if m != s.me {
			m.linked, m.suspected, m.pong, m.heard = false, false, s.world.now, [2]uint64{}
		}
	}
	if !s.me.replica {
		s.match("start")
	}
	s.touch()
}

// Stop ends its process.
func (s *Server) Stop() {
	if !s.up {
		return
	}
	s.up = false
	delete(s.world.at, s.address)
	s.world.changed = true
}

// Up is whether its process runs.
func (s *Server) Up() bool { return s.up }

// Address is where it listens, or did.
func (s *Server) Address() string { return s.address }

// Wipe deletes its data and its identity for good.
func (s *Server) Wipe(cause string) {
	s.Stop()
	s.world.because(cause, s.flush)
	s.world.servers = without(s.world.servers, s)
}

func without[T comparable](list []T, element T) []T {
	var rest []T
	for _, e := range list {
		if e != element {
			rest = append(rest, e)
		}
	}
	return rest
}

// touch is that what it tells others has changed.
func (s *Server) touch() {
	s.rev++
	s.world.changed = true
}

func (s *Server) know(m *member) {
	s.members = append(s.members, m)
	s.byID[m.id] = m
	s.touch()
}

func (s *Server) delete(m *member) {
	s.members = without(s.members, m)
	delete(s.byID, m.id)
	for n, id := range s.migrating {
		if id == m.id {
			delete(s.migrating, n)
		}
	}
	for n, id := range s.importing {
		if id == m.id {
			delete(s.importing, n)
		}
	}
	for _, r := range s.members {
		if r.primary == m.id {
			r.primary = ""
		}
	}
	s.touch()
}

// at is the server that is up where a member is believed to be.
func (s *Server) at(m *member) *Server { return s.world.at[m.address] }

// primary is itself, or what it replicates; nil if that is not known.
func (s *Server) primary() *member {
	if !s.me.replica {
		return s.me
	}
	return s.byID[s.me.primary]
}

// owner is who owns a slot in its view.
func (s *Server) owner(n int) *member {
	for _, m := range s.members {
		if m.slots.Contains(n) {
			return m
		}
	}
	return nil
}

// epochOf is the config epoch of a member, of its primary for a replica.
func (s *Server) epochOf(m *member) uint64 {
	if m.replica {
		if primary := s.byID[m.primary]; primary != nil {
			return primary.epoch
		}
	}
	return m.epoch
}

// bump raises its config epoch without asking anybody, unless it is the highest.
func (s *Server) bump() {
	highest := s.epoch
	for _, m := range s.members {
		highest = max(highest, m.epoch)
	}
	if s.me.epoch == 0 || s.me.epoch != highest {
		s.epoch++
		s.me.epoch = s.epoch
		s.touch()
	}
}

// voters are the members that own slots.
func (s *Server) voters() []*member {
	var list []*member
	for _, m := range s.members {
		if !m.replica && !m.handshake && len(m.slots) > 0 {
			list = append(list, m)
		}
	}
	return list
}

func (s *Server) ok() bool {
	owned, reached := 0, 0
	voters := s.voters()
	for _, m := range voters {
		owned += m.slots.Count()
		if m.failed && s.world.Durable {
			return false
		}
		if !m.failed && !m.suspected {
			reached++
		}
	}
	if s.world.Durable && owned < slot.All().Count() {
		return false
	}
	return len(voters) > 0 && reached >= len(voters)/2+1
}

func split(address string) (string, int) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return "", 0
	}
	return host, n
}

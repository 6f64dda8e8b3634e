// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustermodel

import (
	"maps"
	"slices"

	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// data are the keys of a server: versions by key, by slot.
type data struct {
	keys map[int]map[string]int
	// rev counts changes, bytes is what was ever written.
	rev   uint64
	bytes int64
}

// replica is how far a server is with replicating.
type replica struct {
	// history is its replication ID, offset how far it is in it.
	history string
	offset  int64
	// linked is whether it is in sync with of, its primary's process; synced whether it ever
	// was since it started; lost since when not.
	linked, synced bool
	of             string
	lost           int64
	seen           uint64
	// begins is when a full copy is there.
	begins int64
}

// KeyVersion is the version of a key that a server has, 0 for none.
func (s *Server) KeyVersion(key string) int { return s.data.keys[slot.OfKey(key)][key] }

// KeyCount is how many keys it has.
func (s *Server) KeyCount() int {
	n := 0
	for _, keys := range s.data.keys {
		n += len(keys)
	}
	return n
}

// Put stores a key as it is, as nobody does over a connection.
func (s *Server) Put(key string, version int) { s.set(slot.OfKey(key), key, version) }

func (s *Server) set(n int, key string, version int) {
	if s.data.keys[n] == nil {
		s.data.keys[n] = map[string]int{}
	}
	s.data.keys[n][key] = version
	s.wrote()
}

func (s *Server) wrote() {
	s.data.rev++
	s.data.bytes += 100
	s.world.changed = true
}

// drop deletes a key.
func (s *Server) drop(n int, key string) {
	version, found := s.data.keys[n][key]
	if !found {
		return
	}
	delete(s.data.keys[n], key)
	if len(s.data.keys[n]) == 0 {
		delete(s.data.keys, n)
	}
	s.wrote()
	if s.world.onDrop != nil {
		s.world.onDrop(s, key, version, s.world.cause)
	}
}

func (s *Server) dropSlot(n int) {
	for _, key := range sorted(s.data.keys[n]) {
		s.drop(n, key)
	}
}

// match is what a primary does when it starts, and since 9.1 when it becomes one: it deletes keys
// of slots that others own, unless it imports them, and takes slots of its keys that nobody owns.
func (s *Server) match(how string) {
	s.world.because(how+": "+s.Name+" is a primary, and deletes keys of slots that others own", func() {
		for _, n := range slices.Sorted(maps.Keys(s.data.keys)) {
			switch owner := s.owner(n); {
			case owner == s.me || s.importing[n] != "":
			case owner == nil:
				s.own(s.me, slot.Ranges{{First: n, Last: n}})
			default:
				s.dropSlot(n)
			}
		}
	})
}

func (s *Server) flush() {
	for _, n := range slices.Sorted(maps.Keys(s.data.keys)) {
		s.dropSlot(n)
	}
}

func sorted(keys map[string]int) []string { return slices.Sorted(maps.Keys(keys)) }

// replicate is the part of a tick in which a replica takes over what its primary has.
func (s *Server) replicate() {
	r := &s.replica
	if !s.me.replica {
		r.offset = s.data.bytes
		return
	}
	m := s.byID[s.me.primary]
	var primary *Server
	if m != nil {
		primary = s.at(m)
	}
	if primary == nil || primary == s || primary.me.replica && !primary.replica.linked {
		if r.linked {
			r.linked, r.lost = false, s.world.now
			s.world.changed = true
		}
		r.begins = 0
		return
	}
	process := primary.replica.history
	if r.linked && r.of == process {
		if r.seen != primary.data.rev && s.world.arrives() {
			s.copy(primary)
		}
		return
	}
	if r.linked {
		r.linked, r.lost = false, s.world.now
	}
	if r.begins == 0 {
		r.begins = s.world.soon(50, 1500)
	}
	s.world.changed = true
	if s.world.now >= r.begins {
		s.copy(primary)
		r.linked, r.synced, r.of, r.begins = true, true, process, 0
	}
}

// copy makes its keys those of its primary.
func (s *Server) copy(primary *Server) {
	s.world.because("servers: "+s.Name+" takes a copy of "+primary.Name, func() {
		for _, n := range slices.Sorted(maps.Keys(s.data.keys)) {
			for _, key := range sorted(s.data.keys[n]) {
				if _, has := primary.data.keys[n][key]; !has {
					s.drop(n, key)
				}
			}
		}
	})
	for n, keys := range primary.data.keys {
		s.data.keys[n] = maps.Clone(keys)
	}
	s.data.rev++
	s.data.bytes = max(primary.data.bytes, 2)
	s.replica.offset, s.replica.seen, s.replica.history = s.data.bytes, primary.data.rev, primary.replica.history
	s.world.changed = true
}

// caughtUp has a replica take over the rest of what its primary, whose writes are stopped,
// has, and reports whether it could.
func (s *Server) caughtUp(m *member) bool {
	primary := s.at(m)
	if primary == nil || primary.ID != m.id || !s.replica.linked || primary.me.replica {
		return false
	}
	s.copy(primary)
	return true
}

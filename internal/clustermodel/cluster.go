// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustermodel

import (
	"net"
	"strconv"
	"strings"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// cluster answers CLUSTER.
func (s *Server) cluster(words []string) node.Reply {
	switch name := strings.ToUpper(words[0]); name {
	case "MYID":
		return text(s.ID)
	case "NODES":
		return text(s.nodes())
	case "INFO":
		return text(s.clusterInfo())
	case "COUNTKEYSINSLOT":
		return number(len(s.data.keys[atoi(words[1])]))
	case "GETKEYSINSLOT":
		return s.keysIn(atoi(words[1]), atoi(words[2]))
	case "SET-CONFIG-EPOCH":
		return s.setEpoch(uint64(atoi(words[1])))
	case "MEET":
		s.introduce(net.JoinHostPort(words[1], words[2]), true)
		return text("OK")
	case "ADDSLOTSRANGE":
		return s.addSlots(words[1:])
	case "SETSLOT":
		return s.setSlot(words[1:])
	case "REPLICATE":
		return s.replicateOf(words[1])
	case "FORGET":
		return s.forget(words[1])
	case "FAILOVER":
		return s.failover(words[1:])
	case "MIGRATESLOTS", "GETSLOTMIGRATIONS":
		if s.before(9, 0) {
			return refuse("unknown subcommand '" + words[0] + "'. Try CLUSTER HELP.")
		}
		if name == "GETSLOTMIGRATIONS" {
			return s.slotMigrations()
		}
		return s.migrateSlots(words[1:])
	}
	return refuse("unknown subcommand '" + words[0] + "'. Try CLUSTER HELP.")
}

func atoi(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		return -1
	}
	return n
}

func (s *Server) setEpoch(epoch uint64) node.Reply {
	switch {
	case len(s.members) > 1:
		return refuse("The user can assign a config epoch only when the node does not know any other node.")
	case s.me.epoch != 0:
		return refuse("Node config epoch is already non-zero")
	}
	s.me.epoch = epoch
	s.epoch = max(s.epoch, epoch)
	s.touch()
	return text("OK")
}

func (s *Server) addSlots(words []string) node.Reply {
	var ranges []slot.Range
	for i := 0; i+1 < len(words); i += 2 {
		ranges = append(ranges, slot.Range{First: atoi(words[i]), Last: atoi(words[i+1])})
	}
	slots := slot.Of(ranges...)
	for _, m := range s.members {
		if both := m.slots.And(slots); len(both) > 0 {
			return refuse("Slot " + strconv.Itoa(both[0].First) + " is already busy")
		}
	}
	for n := range s.importing {
		if slots.Contains(n) {
			delete(s.importing, n)
		}
	}
	s.own(s.me, slots)
	return text("OK")
}

func (s *Server) replicateOf(id string) node.Reply {
	m := s.byID[id]
	switch {
	case m == nil:
		return refuse("Unknown node " + id)
	case m == s.me:
		return refuse("Can't replicate myself")
	case m.replica:
		return refuse("I can only replicate a master, not a replica.")
	case !s.me.replica && (len(s.me.slots) > 0 || s.KeyCount() > 0):
		return refuse("To set a master the node must be empty and without assigned slots.")
	case s.me.primary == id:
		return text("OK")
	}
	s.follow(m)
	clear(s.migrating)
	clear(s.importing)
	return text("OK")
}

// ban is for how long a node that was forgotten is not added again, in milliseconds.
const ban = 60_000

func (s *Server) forget(id string) node.Reply {
	m := s.byID[id]
	switch {
	case m == nil:
		if _, forgotten := s.banned[id]; forgotten && !s.before(8, 1) {
			return text("OK")
		}
		return refuse("Unknown node " + id)
	case m == s.me:
		return refuse("I tried hard but I can't forget myself...")
	case s.me.replica && s.me.primary == id:
		return refuse("Can't forget my master!")
	}
	s.banned[id] = s.world.now + ban
	s.delete(m)
	return text("OK")
}

func (s *Server) failover(words []string) node.Reply {
	mode := ""
	if len(words) > 0 {
		mode = strings.ToUpper(words[0])
	}
	primary := s.byID[s.me.primary]
	switch {
	case !s.me.replica:
		return refuse("You should send CLUSTER FAILOVER to a replica")
	case primary == nil:
		return refuse("I'm a replica but my master is unknown to me")
	case mode == "" && (primary.failed || !primary.linked || s.at(primary) == nil):
		return refuse("Master is down or failed, please use CLUSTER FAILOVER FORCE")
	case mode == "TAKEOVER":
		s.bump()
		s.promote(primary, "takeover")
		return text("OK")
	}
	s.standing = standing{at: s.world.soon(10, 300), how: "handover", until: s.world.now + mfTimeout}
	if mode == "FORCE" {
		s.standing.how = "force"
	}
	return text("OK")
}

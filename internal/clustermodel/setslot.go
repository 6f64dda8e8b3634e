// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustermodel

import (
	"fmt"
	"strings"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// setSlot answers CLUSTER SETSLOT. Replicas in sync do the same before it does.
func (s *Server) setSlot(words []string) node.Reply {
	if s.me.replica {
		return refuse("Please use SETSLOT only with masters.")
	}
	n, how := atoi(words[0]), strings.ToUpper(words[1])
	if n < 0 || n >= slot.All().Count() {
		return refuse("Invalid or out of range slot")
	}
	var m *member
	if how != "STABLE" {
		m = s.byID[words[2]]
		if why := s.unfit(n, how, words[2], m); why != "" {
			return refuse(why)
		}
	}
	for _, r := range s.replicas() {
		r.copy(s) // what was written before comes before
		other := r.byID[words[len(words)-1]]
		if how == "STABLE" || other != nil {
			r.apply(n, how, other)
		}
	}
	s.apply(n, how, m)
	return text("OK")
}

// unfit is why a slot cannot be set so.
func (s *Server) unfit(n int, how, id string, m *member) string {
	mine := s.me.slots.Contains(n)
	switch {
	case how == "MIGRATING" && !mine:
		return fmt.Sprintf("I'm not the owner of hash slot %d", n)
	case how == "IMPORTING" && mine:
		return fmt.Sprintf("I'm already the owner of hash slot %d", n)
	case m == nil && how == "NODE":
		return "Unknown node " + id
	case m == nil:
		return "I don't know about node " + id
	case m == s.me && how != "NODE" && !s.before(9, 0):
		return "Target node is myself"
	case m.replica:
		return "Target node is not a master"
	case how == "NODE" && mine && m != s.me && len(s.data.keys[n]) > 0:
		return fmt.Sprintf("Can't assign hashslot %d to a different node while I still hold keys for this hash slot.", n)
	}
	return ""
}

// replicas are the servers that replicate it and are in sync.
func (s *Server) replicas() []*Server {
	var list []*Server
	for _, m := range s.members {
		if other := s.at(m); m != s.me && other != nil && other.me.replica && other.me.primary == s.ID && other.replica.linked && other.replica.of == s.replica.history {
			list = append(list, other)
		}
	}
	return list
}

func (s *Server) apply(n int, how string, m *member) {
	one := slot.Ranges{{First: n, Last: n}}
	s.touch()
	switch how {
	case "STABLE":
		delete(s.migrating, n)
		delete(s.importing, n)
	case "MIGRATING":
		s.migrating[n] = m.id
	case "IMPORTING":
		s.importing[n] = m.id
	case "NODE":
		if len(s.data.keys[n]) == 0 {
			delete(s.migrating, n)
		}
		s.own(m, one)
		if _, imports := s.importing[n]; imports && (m == s.me || m.id == s.me.primary) {
			delete(s.importing, n)
			if m == s.me {
				s.bump()
			}
		}
	}
}

// slotMigrations is the reply to CLUSTER GETSLOTMIGRATIONS, the latest first.
func (s *Server) slotMigrations() node.Reply {
	list := []any{}
	for i := len(s.jobs) - 1; i >= 0; i-- {
		j := s.jobs[i]
		operation := "EXPORT"
		if j.importing {
			operation = "IMPORT"
		}
		list = append(list, []any{
			"name", j.name, "operation", operation, "slot_ranges", strings.ReplaceAll(j.slots.String(), ",", " "),
			"target_node", j.target, "source_node", j.source, "state", j.state, "message", j.message,
		})
	}
	return node.Reply{Value: list}
}

// migrateSlots answers CLUSTER MIGRATESLOTS: SLOTSRANGE first last … NODE id, any number
// of times.
func (s *Server) migrateSlots(words []string) node.Reply {
	if s.me.replica {
		return refuse("Slot migration can only be used on primary nodes.")
	}
	if len(s.migrating)+len(s.importing) > 0 {
		return refuse("Slots are being migrated or imported already")
	}
	type request struct {
		to    *member
		slots slot.Ranges
	}
	var requests []request
	taken := slot.Ranges{}
	for i := 0; i < len(words); {
		if strings.ToUpper(words[i]) != "SLOTSRANGE" {
			return refuse("syntax error")
		}
		var ranges []slot.Range
		for i++; i+1 < len(words) && strings.ToUpper(words[i]) != "NODE"; i += 2 {
			ranges = append(ranges, slot.Range{First: atoi(words[i]), Last: atoi(words[i+1])})
		}
		if i+1 >= len(words) {
			return refuse("No target node specified")
		}
		r := request{s.byID[words[i+1]], slot.Of(ranges...)}
		i += 2
		switch {
		case r.to == nil:
			return refuse("Unknown node name")
		case r.to == s.me:
			return refuse("Target node can not be the same as the source")
		case !s.me.slots.Covers(r.slots):
			return refuse("Slots are not served by this node.")
		case len(taken.And(r.slots)) > 0 || s.exports(r.slots):
			return refuse("Slot ranges in migrations overlap")
		}
		taken = taken.Plus(r.slots)
		requests = append(requests, r)
	}
	for _, r := range requests {
		s.export(r.to, r.slots)
	}
	return text("OK")
}

func (s *Server) exports(slots slot.Ranges) bool {
	for _, j := range s.jobs {
		if !j.importing && !j.ended() && len(j.slots.And(slots)) > 0 {
			return true
		}
	}
	return false
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustermodel

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// nodes is the reply to CLUSTER NODES.
func (s *Server) nodes() string {
	var b strings.Builder
	for _, m := range s.members {
		host, port := split(m.address)
		bus := port
		if port != 0 {
			bus += 10000
		}
		primary := "-"
		if m.primary != "" {
			primary = m.primary
		}
		link := "disconnected"
		if m.linked {
			link = "connected"
		}
		pong := m.pong
		if m == s.me {
			pong = 0
		}
		words := []string{
			m.id, " ", host, ":", strconv.Itoa(port), "@", strconv.Itoa(bus), " ", strings.Join(s.flags(m), ","), " ", primary,
			" 0 ", strconv.FormatInt(pong, 10), " ", strconv.FormatUint(s.epochOf(m), 10), " ", link,
		}
		for _, word := range words {
			b.WriteString(word)
		}
		for _, r := range m.slots {
			b.WriteByte(' ')
			b.WriteString(r.String())
		}
		if m == s.me {
			for _, open := range s.open() {
				b.WriteByte(' ')
				b.WriteString(open)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (s *Server) flags(m *member) []string {
	var flags []string
	if m == s.me {
		flags = append(flags, "myself")
	}
	switch {
	case m.handshake:
	case m.replica:
		flags = append(flags, "slave")
	default:
		flags = append(flags, "master")
	}
	if m.suspected {
		flags = append(flags, "fail?")
	}
	if m.failed {
		flags = append(flags, "fail")
	}
	if m.handshake {
		flags = append(flags, "handshake")
	}
	if m.address == "" {
		flags = append(flags, "noaddr")
	}
	return flags
}

// open are its open slots, as CLUSTER NODES writes them.
func (s *Server) open() []string {
	var list []string
	for _, n := range slices.Sorted(maps.Keys(s.migrating)) {
		list = append(list, "["+strconv.Itoa(n)+"->-"+s.migrating[n]+"]")
	}
	for _, n := range slices.Sorted(maps.Keys(s.importing)) {
		list = append(list, "["+strconv.Itoa(n)+"-<-"+s.importing[n]+"]")
	}
	return list
}

// clusterInfo is the reply to CLUSTER INFO, as far as it is asked for.
func (s *Server) clusterInfo() string {
	state, assigned := "fail", 0
	if s.ok() {
		state = "ok"
	}
	for _, m := range s.members {
		assigned += m.slots.Count()
	}
	return fmt.Sprintf("cluster_state:%s\r\ncluster_slots_assigned:%d\r\ncluster_known_nodes:%d\r\ncluster_size:%d\r\ncluster_current_epoch:%d\r\ncluster_my_epoch:%d\r\n",
		state, assigned, len(s.members), len(s.voters()), s.epoch, s.epochOf(s.me))
}

// info is the reply to INFO, whatever sections are asked for.
func (s *Server) info() string {
	var b strings.Builder
	fmt.Fprintf(&b, "valkey_version:%s\r\nrun_id:%s-%d\r\nserver_time_usec:%d\r\nuptime_in_seconds:%d\r\naof_enabled:1\r\nused_memory_dataset:%d\r\n",
		s.Version, s.ID, s.started, s.world.now*1000, (s.world.now-s.started)/1000, 100*s.KeyCount())
	if s.me.replica {
		link := "down"
		if s.replica.linked {
			link = "up"
		}
		syncing := 0
		if s.replica.begins != 0 {
			syncing = 1
		}
		fmt.Fprintf(&b, "role:slave\r\nmaster_link_status:%s\r\nmaster_sync_in_progress:%d\r\nslave_repl_offset:%d\r\n", link, syncing, s.replica.offset)
	} else {
		b.WriteString("role:master\r\n")
	}
	fmt.Fprintf(&b, "master_replid:%s\r\nmaster_repl_offset:%d\r\n", s.replica.history, s.data.bytes)
	if n := s.KeyCount(); n > 0 {
		fmt.Fprintf(&b, "db0:keys=%d,expires=0,avg_ttl=0\r\n", n)
	}
	return b.String()
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustermodel

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

func (s *Server) keysIn(n, most int) node.Reply {
	list := []any{}
	for _, key := range sorted(s.data.keys[n]) {
		if len(list) < most {
			list = append(list, key)
		}
	}
	return node.Reply{Value: list}
}

// scan returns all keys at once.
func (s *Server) scan() node.Reply {
	list := []any{}
	for _, n := range slices.Sorted(maps.Keys(s.data.keys)) {
		for _, key := range sorted(s.data.keys[n]) {
			list = append(list, key)
		}
	}
	return node.Reply{Value: []any{"0", list}}
}

// redirected is why a command about a slot is not answered here, nil if it is. A key that
// is not there may be at the other end of an open slot.
func (s *Server) redirected(n int, has, asking bool) *node.Reply {
	owner := s.owner(n)
	elsewhere := func(code string, m *member) *node.Reply {
		r := refuse(fmt.Sprintf("%s %d %s", code, n, m.address))
		return &r
	}
	_, imports := s.importing[n]
	switch {
	case owner == nil:
		r := refuse("CLUSTERDOWN Hash slot not served")
		return &r
	case owner != s.me && !(imports && asking && !s.me.replica):
		return elsewhere("MOVED", owner)
	case !s.ok():
		r := refuse("CLUSTERDOWN The cluster is down")
		return &r
	}
	if to := s.byID[s.migrating[n]]; owner == s.me && to != nil && to != s.me && !has {
		return elsewhere("ASK", to)
	}
	return nil
}

func (s *Server) read(name, key string, asking bool) node.Reply {
	n := slot.OfKey(key)
	version := s.data.keys[n][key]
	if r := s.redirected(n, version > 0, asking); r != nil {
		return *r
	}
	switch {
	case name == "EXISTS":
		return number(min(version, 1))
	case name == "PTTL" && version > 0:
		return number(-1)
	case name == "PTTL":
		return number(-2)
	case version == 0:
		return node.Reply{}
	}
	return text(strconv.Itoa(version))
}

func (s *Server) write(name string, words []string, asking bool) node.Reply {
	key := words[0]
	n := slot.OfKey(key)
	_, has := s.data.keys[n][key]
	if r := s.redirected(n, has, asking); r != nil {
		return *r
	}
	if s.paused() {
		return node.Reply{Err: ErrClosed}
	}
	if name == "DEL" {
		s.drop(n, key)
		return number(1)
	}
	s.set(n, key, atoi(words[1]))
	return text("OK")
}

// paused is whether a replica is about to take its place.
func (s *Server) paused() bool {
	return slices.ContainsFunc(s.replicas(), func(r *Server) bool { return r.standing.how == "handover" })
}

// migrate answers MIGRATE host port "" 0 timeout [REPLACE] [COPY] KEYS key …
func (s *Server) migrate(words []string) node.Reply {
	address := words[0] + ":" + words[1]
	if strings.Contains(words[0], ":") {
		address = "[" + words[0] + "]:" + words[1]
	}
	replace, kept := false, false
	var keys []string
	for i := 5; i < len(words); i++ {
		switch strings.ToUpper(words[i]) {
		case "REPLACE":
			replace = true
		case "COPY":
			kept = true
		case "AUTH2":
			i += 2
		case "KEYS":
			keys, i = words[i+1:], len(words)
		}
	}
	if r := s.unmoved(keys); r != nil {
		return *r
	}
	target := s.world.at[address]
	if target == nil {
		return refuse("IOERR error or timeout connecting to the client")
	}
	return s.give(target, keys, replace, kept)
}

// unmoved is the reply to a MIGRATE of nothing, or of what is not here.
func (s *Server) unmoved(keys []string) *node.Reply {
	found := false
	for _, key := range keys {
		n := slot.OfKey(key)
		_, gives := s.migrating[n]
		_, takes := s.importing[n]
		if owner := s.owner(n); owner != s.me && (s.me.replica || !gives && !takes) {
			if owner == nil {
				r := refuse("CLUSTERDOWN Hash slot not served")
				return &r
			}
			r := refuse(fmt.Sprintf("MOVED %d %s", n, owner.address))
			return &r
		}
		found = found || s.data.keys[n][key] > 0
	}
	if !found {
		r := text("NOKEY")
		return &r
	}
	return nil
}

// give sends keys one by one. Those that were taken are deleted here, whatever became of the
// others.
func (s *Server) give(target *Server, keys []string, replace, kept bool) node.Reply {
	reply := text("OK")
	for _, key := range keys {
		n := slot.OfKey(key)
		version := s.data.keys[n][key]
		if version == 0 {
			continue
		}
		var failed *node.Reply
		if r := target.redirected(n, true, true); r != nil {
			failed = r
		} else if target.data.keys[n][key] > 0 && !replace {
			r := refuse("BUSYKEY Target key name already exists.")
			failed = &r
		}
		if failed != nil {
			if reply.Err == nil {
				reply = refuse("Target instance replied with error: " + strings.TrimPrefix(failed.Err.Error(), "server refused: "))
			}
			continue
		}
		target.set(n, key, version)
		if !kept {
			s.drop(n, key)
		}
	}
	return reply
}

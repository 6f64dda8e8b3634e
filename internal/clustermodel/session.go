// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustermodel

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/valkey-render/valkey-render/topologyjob/node"
)

// ErrRefused is that nobody listens at an address, ErrClosed that the process at the other
// end of a connection has ended.
var (
	ErrRefused = errors.New("connection refused")
	ErrClosed  = errors.New("connection closed by the server")
)

// Session is a connection to a server.
type Session struct {
	server *Server
	life   int
	asking bool
}

// Connect opens a connection.
func (w *World) Connect(address string) (*Session, error) {
	s := w.at[address]
	if s == nil {
		return nil, fmt.Errorf("dial %s: %w", address, ErrRefused)
	}
	return &Session{server: s, life: s.life}, nil
}

// Server is the one at the other end.
func (c *Session) Server() *Server { return c.server }

// Do has the server answer a command.
func (c *Session) Do(words ...string) node.Reply {
	s := c.server
	if !s.up || s.life != c.life {
		return node.Reply{Err: ErrClosed}
	}
	asking := c.asking
	c.asking = false
	switch name := strings.ToUpper(words[0]); name {
	case "PING":
		return text("PONG")
	case "ASKING":
		c.asking = true
		return text("OK")
	case "SELECT":
		if words[1] != "0" {
			return refuse("DB index is out of range")
		}
		return text("OK")
	case "INFO":
		return text(s.info())
	case "CONFIG":
		return node.Reply{Value: []any{"save", ""}}
	case "CLUSTER":
		return s.cluster(words[1:])
	case "DBSIZE":
		return number(s.KeyCount())
	case "FLUSHALL":
		if s.me.replica {
			return refuse("READONLY You can't write against a read only replica.")
		}
		s.flush()
		return text("OK")
	case "SCAN":
		return s.scan()
	case "EXISTS", "DUMP", "PTTL", "GET":
		return s.read(name, words[1], asking)
	case "SET", "DEL":
		return s.write(name, words[1:], asking)
	case "MIGRATE":
		return s.migrate(words[1:])
	}
	return refuse(fmt.Sprintf("unknown command '%s'", words[0]))
}

func text(value string) node.Reply { return node.Reply{Value: value} }

func number(n int) node.Reply { return node.Reply{Value: int64(n)} }

// refuse is an error reply. A code other than ERR is its first word.
func refuse(words string) node.Reply { return node.Reply{Err: &node.RefusedError{Words: words}} }

// before is whether its version is older.
func (s *Server) before(major, minor int) bool {
	first, rest, _ := strings.Cut(s.Version, ".")
	second, _, _ := strings.Cut(rest, ".")
	a, _ := strconv.Atoi(first)
	b, _ := strconv.Atoi(second)
	return a < major || a == major && b < minor
}

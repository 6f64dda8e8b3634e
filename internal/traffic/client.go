// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"errors"

	"github.com/valkey-render/valkey-render/internal/servertest"
)

// redirections that a command follows at most.
const redirections = 5

// client sends the commands of one connection's writes, which in a Cluster go to one server
// or, after a failover or a move, to another. It is not for concurrent use.
type client struct {
	*dialer
	topology *topology // nil with one address
	address  string
	links    map[string]*link
}

// send sends a command about a key of a slot, and returns the answer and which server gave
// it.
func (c *client) send(slot int, words ...string) (reply any, server string, err error) {
	address, ask := c.address, false
	if c.topology != nil {
		address = c.topology.owner(slot)
	}
	for range redirections {
		if reply, server, err = c.do(address, ask, words...); err == nil {
			return reply, server, nil
		}
		next, once, is := redirection(err)
		switch {
		case is && c.topology != nil:
			address, ask = next, once
			if !once {
				c.topology.moved(slot, next)
			}
		case c.topology != nil && c.elsewhere(slot, address):
			address, ask = c.topology.owner(slot), false
		default:
			return nil, server, err
		}
	}
	return nil, server, err
}

// elsewhere asks who owns what after an error, and tells whether it is another one.
func (c *client) elsewhere(slot int, address string) bool {
	return c.topology.refresh() == nil && c.topology.owner(slot) != address
}

// do sends a command to one server. A link that was closed since it was used last is made
// anew, once.
func (c *client) do(address string, ask bool, words ...string) (any, string, error) {
	for {
		l := c.links[address]
		if l == nil {
			var err error
			if l, err = c.dial(address); err != nil {
				return nil, "", err
			}
			c.links[address] = l
		}
		reply, err := l.do(ask, words...)
		if err == nil {
			l.used = true
			return reply, l.server, nil
		}
		_, refused := errors.AsType[servertest.ReplyError](err)
		if !refused || c.topology == nil {
			// Behind a Service there may be another server by now.
			_ = l.conn.Close()
			delete(c.links, address)
		}
		if refused || !l.used || !closed(err) {
			return nil, l.server, err
		}
	}
}

func (l *link) do(ask bool, words ...string) (any, error) {
	if ask {
		if _, err := l.conn.Do("ASKING"); err != nil {
			return nil, err
		}
	}
	return l.conn.Do(words...)
}

func (c *client) close() {
	for _, l := range c.links {
		_ = l.conn.Close()
	}
}

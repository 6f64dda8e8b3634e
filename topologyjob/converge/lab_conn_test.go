// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"cmp"
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustermodel"
	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/topologyjob/node"
)

// submit waits for the answer to a request.
func (l *lab) submit(ctx context.Context, r *request) []node.Reply {
	r.answer = make(chan []node.Reply, 1)
	l.mu.Lock()
	stopped := l.stopped
	if !stopped {
		l.pending = append(l.pending, r)
	}
	l.mu.Unlock()
	if stopped {
		return failed(len(r.commands), clustertest.ErrStopped)
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
	select {
	case replies := <-r.answer:
		return replies
	case <-ctx.Done():
	}
	l.mu.Lock()
	l.pending = slices.DeleteFunc(l.pending, func(other *request) bool { return other == r })
	l.mu.Unlock()
	select {
	case replies := <-r.answer:
		return replies
	default:
		return failed(len(r.commands), ctx.Err())
	}
}

func failed(n int, err error) []node.Reply {
	replies := make([]node.Reply, max(n, 1))
	for i := range replies {
		replies[i].Err = err
	}
	return replies
}

// Dial implements node.Dialer.
func (l *lab) Dial(ctx context.Context, address node.Address) (node.Conn, error) {
	r := &request{address: net.JoinHostPort(address.IP, strconv.Itoa(address.Port))}
	if err := l.submit(ctx, r)[0].Err; err != nil {
		return nil, err
	}
	return &labConn{lab: l, address: r.address, session: r.session}, nil
}

type labConn struct {
	lab     *lab
	address string
	session *clustermodel.Session
	// broken is why nothing comes through any more.
	broken error
}

// Do implements node.Conn.
func (c *labConn) Do(ctx context.Context, commands ...node.Command) []node.Reply {
	if len(commands) == 0 {
		return nil
	}
	return c.lab.submit(ctx, &request{address: c.address, conn: c, commands: commands})
}

// Close implements node.Conn.
func (c *labConn) Close() {}

// answer does the commands of requests that are alike, once, with the faults that befall them.
func (l *lab) answer(alike []*request) {
	r := alike[0]
	if r.conn == nil {
		for _, r := range alike {
			session, err := l.world.Connect(r.address)
			r.session = session
			r.answer <- []node.Reply{{Err: err}}
		}
		return
	}
	replies := make([]node.Reply, len(r.commands))
	for i, command := range r.commands {
		if r.conn.broken != nil {
			replies[i].Err = r.conn.broken
			continue
		}
		replies[i] = l.do(r.conn, command)
	}
	if errors.Is(r.conn.broken, errHangs) {
		// The client gives up.
		go func() {
			time.Sleep(10 * time.Second)
			deliver(alike, replies)
		}()
		return
	}
	deliver(alike, replies)
}

func deliver(alike []*request, replies []node.Reply) {
	for _, r := range alike {
		r.answer <- slices.Clone(replies)
	}
}

// do does one command.
func (l *lab) do(c *labConn, command node.Command) node.Reply {
	f := l.fault(l, c.address, command)
	if f.before != nil {
		f.before()
	}
	if f.instead != nil {
		l.log("%s: %s: FAULT %v", l.name(c), command, f.instead)
		l.breaks(c, f.instead)
		return node.Reply{Err: f.instead}
	}
	var reply node.Reply
	l.world.Because("command "+command.String()+" to "+l.name(c), func() {
		if why := l.watch(c.session.Server(), command); why != "" {
			l.violate("%s: %s: %s", l.name(c), command, why)
		}
		reply = c.session.Do(command...)
	})
	l.digest(c.address)
	l.digest(strings.Join(command, " "))
	if reply.Err != nil {
		l.digest(reply.Err.Error())
	}
	if l.tracing && (command.Changes() || reply.Err != nil) {
		l.log("%s: %s: %v", l.name(c), command, cmp.Or[any](reply.Err, reply.Value))
	}
	if errors.Is(reply.Err, clustermodel.ErrClosed) {
		c.broken = reply.Err
	}
	if f.after != nil {
		f.after()
	}
	if f.lost != nil {
		l.log("%s: %s: FAULT reply lost: %v", l.name(c), command, f.lost)
		l.breaks(c, f.lost)
		return node.Reply{Err: f.lost}
	}
	return reply
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustermodel"
	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/topologyjob/node"
)

// lab carries the commands of a run to the servers of a model, one connection at a time, in
// an order that the seed decides, and has things happen in between. It lives in a bubble of
// synctest: time passes only while everybody waits, so that hours take milliseconds and one
// seed is one run. It is a node.Dialer.
type lab struct {
	world *clustermodel.World
	rand  *rand.Rand
	// before is called before every command, after when it was answered. What they return is
	// done to it.
	fault func(l *lab, address string, command node.Command) fault
	// happenings are in order of their time.
	happenings []happening
	// stop ends the run, as the end of its process does.
	stop func()

	mu      sync.Mutex
	pending []*request
	stopped bool
	wake    chan struct{}
	over    chan struct{}

	tracing bool
	trace   []string
	// kind is what the last line is about, alike how many lines before it were, too.
	kind  string
	alike int
	// sum is a digest of everything that was said.
	sum uint64
	// violations are what no run may do.
	violations []string
	watch      func(s *clustermodel.Server, command node.Command) string
}

// happening is something that nobody asked for.
type happening struct {
	at   time.Time
	what string
	do   func()
}

// request is a pipeline on its way, or a dial when it has no connection yet.
type request struct {
	address  string
	conn     *labConn
	commands []node.Command
	answer   chan []node.Reply
	session  *clustermodel.Session
}

func newLab(world *clustermodel.World, random *rand.Rand, tracing bool) *lab {
	l := &lab{world: world, rand: random, tracing: tracing, wake: make(chan struct{}, 1), over: make(chan struct{}), sum: 14695981039346656037}
	world.OnNote(func(text string) { l.log("%s", text) })
	return l
}

// log adds a line to the trace.
func (l *lab) log(format string, args ...any) {
	if !l.tracing {
		return
	}
	text := fmt.Sprintf(format, args...)
	for _, s := range l.world.Servers() {
		text = strings.ReplaceAll(text, s.ID, "<"+s.Name+">")
	}
	// Moves of many slots are the same lines many times.
	kind := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, text)
	if l.alike++; kind != l.kind {
		l.kind, l.alike = kind, 0
	}
	if l.alike < 4 {
		l.trace = append(l.trace, fmt.Sprintf("%9.3f  %s", time.Since(epoch()).Seconds(), text))
	}
}

// epoch is when the time of a bubble begins.
func epoch() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// violate records what no run may do.
func (l *lab) violate(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	l.log("VIOLATION: %s", text)
	l.violations = append(l.violations, text)
}

func (l *lab) digest(text string) {
	for i := range len(text) {
		l.sum = (l.sum ^ uint64(text[i])) * 1099511628211
	}
}

// serve answers requests until the lab is over. It is the one goroutine that touches the
// model while a run is on.
func (l *lab) serve() {
	for {
		select {
		case <-l.over:
			return
		case <-l.wake:
		}
		for {
			synctest.Wait()
			alike := l.take()
			if len(alike) == 0 {
				break
			}
			time.Sleep(time.Duration(100+l.rand.IntN(200)) * time.Microsecond)
			l.pass()
			l.answer(alike)
		}
	}
}

// pass lets the servers do what is due.
func (l *lab) pass() {
	now := time.Now()
	for len(l.happenings) > 0 && !l.happenings[0].at.After(now) {
		h := l.happenings[0]
		l.happenings = l.happenings[1:]
		l.world.Advance(h.at)
		if h.what != "" {
			l.log("%s", h.what)
		}
		h.do()
	}
	l.world.Advance(now)
}

// happen has something happen after a while.
func (l *lab) happen(after time.Duration, what string, do func()) {
	h := happening{time.Now().Add(after), what, do}
	i, _ := slices.BinarySearchFunc(l.happenings, h, func(a, b happening) int {
		if a.at.After(b.at) {
			return 1
		}
		return -1
	})
	l.happenings = slices.Insert(l.happenings, i, h)
}

// take is one of the requests that wait, of all in an order that does not depend on who was
// first. With it come those that ask the same on the same connection: nothing but the scheduler
// would choose which of them is answered before the others.
func (l *lab) take() []*request {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch len(l.pending) {
	case 0:
		return nil
	case 1:
	default:
		slices.SortFunc(l.pending, compareRequests)
	}
	r := l.pending[l.rand.IntN(len(l.pending))]
	var alike, others []*request
	for _, other := range l.pending {
		if other.conn == r.conn && compareRequests(other, r) == 0 {
			alike = append(alike, other)
		} else {
			others = append(others, other)
		}
	}
	l.pending = others
	return alike
}

func compareRequests(a, b *request) int {
	if c := cmp.Compare(a.address, b.address); c != 0 {
		return c
	}
	return slices.CompareFunc(a.commands, b.commands, func(x, y node.Command) int { return slices.Compare(x, y) })
}

func (l *lab) name(c *labConn) string { return c.session.Server().Name }

// breaks ends a connection, unless the error is the server's own.
func (l *lab) breaks(c *labConn, err error) {
	var refused *node.RefusedError
	if !errors.As(err, &refused) {
		c.broken = err
	}
	if errors.Is(err, clustertest.ErrStopped) {
		l.die()
	}
}

// die ends the run's process: nothing more is sent.
func (l *lab) die() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return
	}
	l.log("FAULT the Job dies")
	l.stopped = true
	l.stop()
	for _, r := range l.pending {
		r.answer <- failed(len(r.commands), clustertest.ErrStopped)
	}
	l.pending = nil
}

// revive lets another run begin.
func (l *lab) revive() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = false
}

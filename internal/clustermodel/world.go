// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustermodel

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Settings are what all servers of a world have in common.
type Settings struct {
	// NodeTimeout is cluster-node-timeout.
	NodeTimeout time.Duration
	// Durable is cluster-require-full-coverage, and no election of a replica whose data is
	// old (cluster-replica-validity-factor), as profile Durable has both.
	Durable bool
	// Late is how likely it is that what a server has to tell another one does not arrive in
	// a tick, 0 to 1.
	Late float64
}

// World is servers and what is between them.
type World struct {
	Settings
	rand *rand.Rand
	// now is the time in milliseconds since 1970, ticked that of the last tick.
	now, ticked int64
	servers     []*Server
	// at are the servers that are up, by address.
	at map[string]*Server
	// changed is whether anything happened in this tick, or is about to.
	changed bool
	cause   string
	ids     int
	onDrop  func(s *Server, key string, version int, cause string)
	onElect func(winner *Server, old string, how string)
	onNote  func(text string)
	onRaise func(s *Server)
}

// tick is how often servers do what they do by themselves, in milliseconds.
const tick = 100

// New is an empty world. All that happens by chance is drawn from random.
func New(settings Settings, random *rand.Rand, now time.Time) *World {
	ms := now.UnixMilli()
	return &World{Settings: settings, rand: random, now: ms, ticked: ms, at: map[string]*Server{}}
}

// OnDrop has a function called after a server has lost a key, with the last version that it
// had and what made it lose it.
func (w *World) OnDrop(f func(s *Server, key string, version int, cause string)) { w.onDrop = f }

// OnElect has a function called when a replica has become a primary in the place of another
// node, with the ID of that one and how: election, handover, force or takeover.
func (w *World) OnElect(f func(winner *Server, old, how string)) { w.onElect = f }

// OnRaise has a function called when a server is about to raise its config epoch because
// another primary has the same.
func (w *World) OnRaise(f func(s *Server)) { w.onRaise = f }

// OnNote has a function called with what servers do by themselves.
func (w *World) OnNote(f func(text string)) { w.onNote = f }

func (w *World) note(format string, args ...any) {
	w.changed = true
	if w.onNote != nil {
		w.onNote(fmt.Sprintf(format, args...))
	}
}

// because has work done for a reason, which those are told who listen for keys.
func (w *World) because(cause string, work func()) {
	before := w.cause
	w.cause = cause
	work()
	w.cause = before
}

// Because has a test do work for a reason of its own.
func (w *World) Because(cause string, work func()) { w.because(cause, work) }

// Servers are all that ever were, in the order in which they were made.
func (w *World) Servers() []*Server { return w.servers }

// At is the server that is up at an address, nil if none is.
func (w *World) At(address string) *Server { return w.at[address] }

// Advance lets time pass up to a moment.
func (w *World) Advance(now time.Time) {
	to := now.UnixMilli()
	for w.ticked+tick <= to {
		w.ticked += tick
		w.now = w.ticked
		w.changed = false
		w.pass()
		if !w.changed {
			// Nothing happens until somebody does something.
			w.ticked = to
			w.now = to
			w.pass()
		}
	}
	w.now = to
}

// pass is one tick of all servers.
func (w *World) pass() {
	for _, s := range w.servers {
		if s.up {
			s.reach()
		}
	}
	for _, s := range w.servers {
		if s.up {
			s.judge()
		}
	}
	for _, s := range w.servers {
		if s.up {
			s.replicate()
			s.elect()
			s.migrations()
		}
	}
}

// arrives is whether a message arrives in this tick.
func (w *World) arrives() bool {
	if w.Late > 0 && w.rand.Float64() < w.Late {
		w.changed = true
		return false
	}
	return true
}

// soon is a moment in the next milliseconds.
func (w *World) soon(least, most int64) int64 {
	w.changed = true
	return w.now + least + w.rand.Int64N(most-least+1)
}

// id is a new node ID.
func (w *World) id() string {
	w.ids++
	return fmt.Sprintf("%016x%08x%016x", w.rand.Uint64(), w.ids, w.rand.Uint64())
}

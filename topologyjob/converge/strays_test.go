// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// stopping is a dialer whose user is told to stop once a command was done: of a pipeline, nothing
// that follows comes through, and nothing else while the context is over.
type stopping struct {
	node.Dialer
	at   func(node.Command) bool
	stop func()
}

func (s stopping) Dial(ctx context.Context, address node.Address) (node.Conn, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	conn, err := s.Dialer.Dial(ctx, address)
	return &stoppingConn{conn, s}, err
}

type stoppingConn struct {
	node.Conn
	stopping
}

func (c *stoppingConn) Do(ctx context.Context, commands ...node.Command) []node.Reply {
	replies := make([]node.Reply, len(commands))
	for i, command := range commands {
		if replies[i].Err = ctx.Err(); replies[i].Err != nil {
			continue
		}
		replies[i] = c.Conn.Do(ctx, command)[0]
		if c.at(command) {
			c.stop()
		}
	}
	return replies
}

func (c *stoppingConn) Close() { c.Conn.Close() }

// TestStoppedWhileItDeletesOldCopies: a Job that is told to stop where the target of a move
// imports a slot to have old copies deleted leaves no mark, with which the next one would take
// the slot for one whose move was interrupted.
func TestStoppedWhileItDeletesOldCopies(t *testing.T) {
	for _, version := range []string{"8.1.1", "9.1.2"} {
		for _, at := range []string{"SETSLOT", "DEL"} {
			t.Run(version+" after "+at, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { stoppedWhileItDeletes(t, version, at) })
			})
		}
	}
}

func stoppedWhileItDeletes(t *testing.T, version, at string) {
	w, pods := pairOf(version)
	from, to := w.Servers()[0], w.Servers()[1]
	tag := slotKey(t, from)
	n := slot.OfKey(tag)
	for i := range 100 {
		key := fmt.Sprintf("{%s}:%d", tag, i)
		from.Put(key, 2)
		to.Put(key, 1)
	}
	desired := plan.Desired{Shards: 2, Initialized: true, Reshard: &plan.Reshard{From: 0, To: 1, Slots: slot.Ranges{{First: n, Last: n}}}}
	ctx, cancel := context.WithCancel(t.Context())
	stopped := 0
	out := converges(ctx, stopping{&wire{world: w}, func(c node.Command) bool {
		stops := slices.Contains(c, at) && (at != "SETSLOT" || slices.Contains(c, "IMPORTING"))
		if stops {
			stopped++
		}
		return stops
	}, cancel}, pods, converge.Reshard, desired)
	if out.Result != converge.Interrupted || stopped != 1 || to.Owns().Contains(n) || from.Open()+to.Open() > 0 {
		t.Fatalf("stopped %d times, %d slots are open: %+v", stopped, from.Open()+to.Open(), out)
	}
	if out = converges(t.Context(), &wire{world: w}, pods, converge.Repair, desired); out.Result != converge.Converged || to.Owns().Contains(n) {
		t.Errorf("a repair moves it: %+v", out)
	}
	out = converges(t.Context(), &wire{world: w}, pods, converge.Reshard, desired)
	if out.Result != converge.Converged || !to.Owns().Contains(n) || to.KeyVersion("{"+tag+"}:99") != 2 {
		t.Errorf("%+v", out)
	}
}

// TestNoCopiesAreDeletedThatAreServed: the target of a move has become the owner of the slot after
// it was looked at and before it is told to import it, which it refuses. What it has is no old
// copy any more.
func TestNoCopiesAreDeletedThatAreServed(t *testing.T) {
	for _, version := range []string{"8.1.1", "9.1.2"} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, pods := pairOf(version)
				from, to := w.Servers()[0], w.Servers()[1]
				key := slotKey(t, from)
				n := slot.OfKey(key)
				from.Put(key, 1)
				to.Put(key, 2)
				ctx, cancel := context.WithCancel(t.Context())
				late := wary{&wire{world: w}, func(c node.Command, _ time.Duration) error {
					switch {
					case slices.Contains(c, "IMPORTING") && !to.Owns().Contains(n):
						say(t, w, to, "CLUSTER", "SETSLOT", strconv.Itoa(n), "NODE", to.ID)
					case slices.Contains(c, "DEL"), slices.Contains(c, "INFO"):
						// What comes next is for others to find out.
						if to.Owns().Contains(n) {
							cancel()
						}
					}
					return nil
				}}
				out := converges(ctx, late, pods, converge.Reshard, plan.Desired{Shards: 2, Initialized: true, Reshard: &plan.Reshard{From: 0, To: 1, Slots: slot.Ranges{{First: n, Last: n}}}})
				if !to.Owns().Contains(n) || to.KeyVersion(key) != 2 {
					t.Errorf("%+v", out)
				}
			})
		})
	}
}

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

	"github.com/valkey-render/valkey-render/internal/clustermodel"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// wary is a dialer that sees each command with how patient its connection is, and may answer in
// the server's place.
type wary struct {
	node.Dialer
	sees func(c node.Command, patience time.Duration) error
}

func (w wary) Dial(ctx context.Context, address node.Address) (node.Conn, error) {
	conn, err := w.Dialer.Dial(ctx, address)
	return &waryConn{conn, w, node.PatienceOf(ctx)}, err
}

type waryConn struct {
	node.Conn
	wary
	patience time.Duration
}

func (c *waryConn) Do(ctx context.Context, commands ...node.Command) []node.Reply {
	replies := make([]node.Reply, len(commands))
	for i, command := range commands {
		if replies[i].Err = c.sees(command, c.patience); replies[i].Err == nil {
			replies[i] = c.Conn.Do(ctx, command)[0]
		}
	}
	return replies
}

func (c *waryConn) Close() { c.Conn.Close() }

// moved has a slot with so many keys move from the first to the second of two primaries of a
// version.
func moved(t *testing.T, version string, keys int, sees func(w *clustermodel.World, c node.Command, patience time.Duration) error) (*clustermodel.World, converge.Outcome) {
	t.Helper()
	w, pods := pair()
	for _, s := range w.Servers() {
		s.Version = version
	}
	tag := slotKey(t, w.Servers()[0])
	n := slot.OfKey(tag)
	for i := range keys {
		w.Servers()[0].Put(fmt.Sprintf("{%s}:%d", tag, i), 1)
	}
	to := wary{&wire{world: w}, func(c node.Command, patience time.Duration) error { return sees(w, c, patience) }}
	out := converges(t.Context(), to, pods, converge.Reshard, plan.Desired{
		Shards: 2, Initialized: true, NodeTimeout: 15 * time.Second, Reshard: &plan.Reshard{From: 0, To: 1, Slots: slot.Ranges{{First: n, Last: n}}},
	})
	return w, out
}

// TestMoveThatGetsOnIsNotGivenUp: the target of a slot with many keys is lost again and again,
// each time after some of them have moved.
func TestMoveThatGetsOnIsNotGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const keys = 20 * 64
		lost := false
		w, out := moved(t, "8.1.1", keys, func(_ *clustermodel.World, c node.Command, _ time.Duration) error {
			switch {
			case c.String() == "CLUSTER INFO":
				lost = false // the next survey
			case c[0] == "MIGRATE" && lost:
				return &node.RefusedError{Words: "IOERR error or timeout reading from target instance"}
			case c[0] == "MIGRATE":
				lost = true
			}
			return nil
		})
		if out.Result != converge.Converged || out.Failed < 10 || w.Servers()[1].KeyCount() != keys {
			t.Errorf("%+v", out)
		}
	})
}

// TestMovesAreWaitedFor for as long as servers may take for them, which is longer than they
// may be silent otherwise.
func TestMovesAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		least := map[string]time.Duration{"MIGRATE": 15 * time.Second, "SETSLOT": 8 * time.Second}
		seen := map[string]int{}
		_, out := moved(t, "8.1.1", 10, func(_ *clustermodel.World, c node.Command, patience time.Duration) error {
			for what, most := range least {
				if !slices.Contains(c, what) {
					continue
				}
				if seen[what]++; patience < most {
					t.Errorf("%s is waited for %s", c, patience)
				}
			}
			return nil
		})
		if out.Result != converge.Converged || len(seen) != len(least) {
			t.Errorf("%v %+v", seen, out)
		}
	})
}

// TestMoveThatWasSeenToFailIsNotBegunAtOnce: one that was in flight when the run began.
func TestMoveThatWasSeenToFailIsNotBegunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, pods := pair()
		from, to := w.Servers()[0], w.Servers()[1]
		n := slot.OfKey(slotKey(t, from))
		looks := 0
		var failed, begun time.Time
		// What the first two surveys are told is not what the model knows.
		tells := func(s *clustermodel.Server, commands []node.Command, replies []node.Reply) {
			for i, c := range commands {
				switch {
				case slices.Contains(c, "MIGRATESLOTS") && begun.IsZero():
					begun = time.Now()
				case s == from && slices.Contains(c, "GETSLOTMIGRATIONS"):
					state := "snapshotting"
					if looks++; looks > 2 {
						continue
					} else if looks == 2 {
						state, failed = "failed", time.Now()
					}
					replies[i].Value = []any{[]any{
						"name", "x", "operation", "EXPORT", "slot_ranges", strconv.Itoa(n), "target_node", to.ID, "source_node", from.ID, "state", state, "message", "",
					}}
				}
			}
		}
		out := converges(t.Context(), &wire{world: w, changed: tells}, pods, converge.Reshard, plan.Desired{
			Shards: 2, Initialized: true, Reshard: &plan.Reshard{From: 0, To: 1, Slots: slot.Ranges{{First: n, Last: n}}},
		})
		if wait := begun.Sub(failed); out.Result != converge.Converged || looks < 3 || wait < 100*time.Millisecond {
			t.Errorf("begun after %s: %+v", wait, out)
		}
	})
}

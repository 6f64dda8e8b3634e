// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
)

// TestProcessOpenSlotsAreClosed: a move was interrupted before a key went over (T5). It is
// finished.
func TestProcessOpenSlotsAreClosed(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := ready(t, version, 2, 1)
		from, to := c.Pod(0, 0), c.Pod(1, 0)
		for i, marks := range [][2]bool{{true, true}, {true, false}, {false, true}} {
			slot := strconv.Itoa(100 + i)
			if marks[1] {
				command(t, to, "CLUSTER", "SETSLOT", slot, "IMPORTING", from.ID())
			}
			if marks[0] {
				command(t, from, "CLUSTER", "SETSLOT", slot, "MIGRATING", to.ID())
			}
			out := formed(t, c, converge.Repair)
			if out.Steps["move"] != 1 || c.Missing(300) > 0 {
				t.Errorf("%v: %d keys are missing; %+v", marks, c.Missing(300), out)
			}
			view := clustertest.Asker(t, clustertest.Dialer()).Take(t.Context(), c.Places())
			for i := range view.Answers {
				if open := view.Answers[i].Own().Open; len(open) > 0 {
					t.Errorf("%v: pod %s has %v", marks, view.Answers[i].Pod.Name, open)
				}
			}
		}
	})
}

// TestProcessOpenSlotWaitsForItsTarget: the target of an interrupted move, which alone has
// a key by now, dies. The source keeps the slot open, since closed it would say that there is
// no such key, and the move is finished when the target is back.
func TestProcessOpenSlotWaitsForItsTarget(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := ready(t, version, 3, 0)
		const key = "key:1"
		n := keySlot(t, c, key)
		v := view(t, c)
		owners := v.Owners()
		from, to := c.Pod(0, 0), c.Pod(1, 0)
		for shard := range int32(3) {
			if p := c.Pod(shard, 0); owners.Slots[p.ID()].Contains(n) {
				from, to = p, c.Pod((shard+1)%3, 0)
			}
		}
		command(t, to, "CLUSTER", "SETSLOT", strconv.Itoa(n), "IMPORTING", from.ID())
		command(t, from, "CLUSTER", "SETSLOT", strconv.Itoa(n), "MIGRATING", to.ID())
		command(t, from, "MIGRATE", "127.0.0.1", strconv.Itoa(to.Place.Port), key, "0", "2000")
		to.Stop()

		out := runFor(t, c, converge.Repair, 6*time.Second)
		if out.Result == converge.Converged || len(out.Steps) > 0 || !strings.Contains(out.Message, "slot "+strconv.Itoa(n)+" is open") {
			t.Errorf("%+v", out)
		}
		text, err := from.Server.Do("CLUSTER", "NODES")
		if err != nil || !strings.Contains(text.(string), "["+strconv.Itoa(n)+"->-") {
			t.Errorf("the source closed slot %d: %v %v", n, text, err)
		}

		to.Start()
		formed(t, c, converge.Repair)
		if missing := c.Missing(300); missing > 0 {
			t.Errorf("%d keys are missing", missing)
		}
	})
}

func command(t *testing.T, p *clustertest.Pod, words ...string) {
	t.Helper()
	if _, err := p.Server.Do(words...); err != nil {
		t.Fatalf("%s: %v", p.Place.Name, err)
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// unopened fails the test if a node marks a slot.
func unopened(t *testing.T, c *clustertest.Cluster) {
	t.Helper()
	v := view(t, c)
	for i := range v.Answers {
		if open := v.Answers[i].Own().Open; len(open) > 0 {
			t.Errorf("pod %s has open slots %v", v.Answers[i].Pod.Name, open)
		}
	}
}

// TestProcessStoppedWhileOldCopiesAreDeleted: see TestStoppedWhileItDeletesOldCopies. The mark
// goes from the replicas of the target as well.
func TestProcessStoppedWhileOldCopiesAreDeleted(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := scaled(t, version, 2, 1)
		n := slot.OfKey("key:1")
		from := int32(n / 8192)
		to := c.Pod(1-from, 0)
		plant(t, c, to, 0, "key:1", "an old value")
		c.Desired.Reshard = &plan.Reshard{From: from, To: 1 - from, Slots: slot.Ranges{{First: n, Last: n}}}

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		out := converge.Run(ctx, c.Options(converge.Reshard, stopping{clustertest.Dialer(), func(c node.Command) bool { return slices.Contains(c, "IMPORTING") }, cancel}))
		if out.Result != converge.Interrupted || out.MovedSlots > 0 {
			t.Fatalf("%+v", out)
		}
		if keys, err := to.Server.Do("CLUSTER", "COUNTKEYSINSLOT", strconv.Itoa(n)); keys != int64(1) || err != nil {
			t.Fatalf("%v keys, %v", keys, err)
		}
		eventually(t, "replicas have it", func() bool {
			acked, err := to.Server.Do("WAIT", "1", "100")
			return err == nil && acked == int64(1)
		})
		unopened(t, c)
		if out = formed(t, c, converge.Repair); out.Steps["move"] > 0 {
			t.Errorf("a repair moved it: %+v", out)
		}
		formed(t, c, converge.Reshard)
		whole(t, c)
		unopened(t, c)
	})
}

// TestProcessMoveKeyByKeyLeavesDatabases: since 9.0 a Cluster may have several databases, of
// which a move key by key takes one along. A slot that was left open keeps its keys in the
// others, and its owner; closed, it moves with all of them.
func TestProcessMoveKeyByKeyLeavesDatabases(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := scaled(t, version, 2, 0, databases(version)...)
		n := slot.OfKey("key:1")
		number := strconv.Itoa(n)
		from, to := c.Pod(int32(n/8192), 0), c.Pod(1-int32(n/8192), 0)
		command(t, to, "CLUSTER", "SETSLOT", number, "IMPORTING", from.ID())
		if version < "9" {
			if out := formed(t, c, converge.Repair); out.Steps["move"] != 1 {
				t.Errorf("%+v", out)
			}
			whole(t, c)
			return
		}
		other(t, from, 3, "SET", "key:1", "in another database")
		out := runFor(t, c, converge.Repair, 3*time.Second)
		if v := view(t, c); out.Result != converge.TimedOut || !strings.Contains(out.LastError, "it has 1 keys in database 3") || !v.Owners().Slots[from.ID()].Contains(n) {
			t.Fatalf("%+v", out)
		}
		if got := in(t, from, 3, "GET", "key:1"); got != "in another database" {
			t.Errorf("the owner has %v", got)
		}
		command(t, to, "CLUSTER", "SETSLOT", number, "STABLE")
		c.Desired.Reshard = &plan.Reshard{From: from.Place.Shard, To: to.Place.Shard, Slots: slot.Ranges{{First: n, Last: n}}}
		formed(t, c, converge.Reshard)
		whole(t, c)
		if got := in(t, to, 3, "GET", "key:1"); got != "in another database" {
			t.Errorf("the new owner has %v", got)
		}
	})
}

// in is the reply to a command in a database.
func in(t *testing.T, p *clustertest.Pod, database int, words ...string) any {
	t.Helper()
	conn, err := p.Server.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err = conn.Do("SELECT", strconv.Itoa(database)); err != nil {
		t.Fatal(err)
	}
	reply, err := conn.Do(words...)
	if err != nil {
		t.Fatalf("pod %s: %v: %v", p.Place.Name, words, err)
	}
	return reply
}

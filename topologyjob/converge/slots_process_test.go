// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

const fill = 2000

// scaled is a formed cluster with keys in it.
func scaled(t testing.TB, version string, shards, replicas int32, args ...string) *clustertest.Cluster {
	t.Helper()
	c := clustertest.New(t, version, shards, replicas, args...)
	formed(t, c, converge.Bootstrap)
	c.Desired.Initialized, c.Desired.Durable = true, true
	c.Fill(fill)
	return c
}

// grow starts the pods of more shards.
func grow(t testing.TB, c *clustertest.Cluster, shards int32) {
	t.Helper()
	for shard := c.Desired.Shards; shard < shards; shard++ {
		for index := range c.Desired.Replicas + 1 {
			if c.Pod(shard, index) == nil {
				c.Add(shard, index)
			}
		}
	}
	c.Desired.Shards = shards
}

// view is a survey after everything.
func view(t *testing.T, c *clustertest.Cluster) survey.View {
	t.Helper()
	return clustertest.Asker(t, clustertest.Dialer()).Take(t.Context(), c.Places())
}

// even fails unless the wanted shards have the slots, each about as many, and none is open
// anywhere, on replicas neither.
func even(t *testing.T, c *clustertest.Cluster) {
	t.Helper()
	v := view(t, c)
	owners := v.Owners()
	for i := range v.Answers {
		a := &v.Answers[i]
		own, slots := a.Own(), owners.Slots[a.ID].Count()
		wanted := a.Pod.Shard < c.Desired.Shards && !own.Replica
		if share := 16384 / int(c.Desired.Shards); wanted && (slots < share-1 || slots > share+1) || !wanted && slots > 0 {
			t.Errorf("pod %s owns %d slots", a.Pod.Name, slots)
		}
		if len(own.Open) > 0 {
			t.Errorf("pod %s has open slots %v", a.Pod.Name, own.Open)
		}
	}
	whole(t, c)
}

// whole fails unless all keys are there, once.
func whole(t *testing.T, c *clustertest.Cluster) {
	t.Helper()
	if n := c.Missing(fill); n > 0 {
		t.Errorf("%d keys are missing", n)
	}
}

// TestProcessDrainIsReversible: 4→3, wanted again midway, →4 (T4).
func TestProcessDrainIsReversible(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := scaled(t, version, 4, 1)
		w := c.Write(1)
		c.Desired.Shards, c.Desired.BatchSlots = 3, 256
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		options := c.Options(converge.Drain, clustertest.Dialer())
		moved := 0
		options.OnStep = func(plan.Step, error) {
			if moved++; moved == 2 {
				cancel()
			}
		}
		if out := converge.Run(ctx, options); out.Result != converge.Interrupted || out.MovedSlots == 0 || out.MovedSlots >= 4095 {
			t.Fatalf("not midway: %+v", out)
		}
		c.Desired.Shards = 4
		back := formed(t, c, converge.Rebalance)
		even(t, c)
		if written := w.Stop(); len(written.Lost) > 0 || written.Acknowledged == 0 {
			t.Errorf("lost: %+v", written)
		}
		if again := formed(t, c, converge.Rebalance); again.MovedSlots > 0 || len(again.Steps) > 0 {
			t.Errorf("an even cluster was changed: %+v, before %+v", again, back)
		}
	})
}

// withKeys are some slots of a shard that have keys.
func withKeys(t *testing.T, c *clustertest.Cluster, shard int32, n int) slot.Ranges {
	t.Helper()
	v := view(t, c)
	owned := v.Owners().Slots[c.Pod(shard, 0).ID()]
	var slots slot.Ranges
	for i := 0; slots.Count() < n; i++ {
		number, err := c.Pod(0, 0).Server.Do("CLUSTER", "KEYSLOT", fmt.Sprintf("key:%d", i))
		if err != nil {
			t.Fatal(err)
		}
		if s := int(number.(int64)); owned.Contains(s) {
			slots = slots.Plus(slot.Ranges{{First: s, Last: s}})
		}
	}
	return slots
}

// TestProcessMoveStoppedAfterEveryCommand: wherever a move is cut off, the next Job ends it
// in the same place, and no slot stays open (T5).
func TestProcessMoveStoppedAfterEveryCommand(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := scaled(t, version, 2, 1)
		slots := withKeys(t, c, 0, 3)
		ask := plan.Reshard{From: 0, To: 1, Slots: slots}
		for after := 0; ; after++ {
			c.Desired.Reshard = &plan.Reshard{From: ask.From, To: ask.To, Slots: slots}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			crash := &clustertest.Crash{Dialer: clustertest.Dialer(), After: after, Stop: cancel}
			out := converge.Run(ctx, c.Options(converge.Reshard, crash))
			cancel()
			if crash.Stopped() {
				out = formed(t, c, converge.Reshard)
			}
			v := view(t, c)
			if owned := v.Owners().Slots[c.Pod(ask.To, 0).ID()]; out.Result != converge.Converged || !owned.Covers(slots) {
				t.Fatalf("after %d commands: shard %d owns %s: %+v", after, ask.To, owned, out)
			}
			for i := range v.Answers {
				if open := v.Answers[i].Own().Open; len(open) > 0 {
					t.Errorf("after %d commands: pod %s has open slots %v", after, v.Answers[i].Pod.Name, open)
				}
			}
			whole(t, c)
			if !crash.Stopped() {
				t.Logf("%d commands: %v", len(crash.Sent()), crash.Sent())
				return
			}
			ask.From, ask.To = ask.To, ask.From
		}
	})
}

// TestProcessConverge: what a Job that is rendered with the manifests does, from empty
// pods to more shards, and that it leaves a shard with its slots that is wanted no more.
func TestProcessConverge(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := clustertest.New(t, version, 2, 1)
		c.Desired.RebalanceEnabled = true
		formed(t, c, converge.Converge)
		c.Fill(fill)
		grow(t, c, 3)
		if out := formed(t, c, converge.Converge); out.MovedSlots == 0 {
			t.Errorf("%+v", out)
		}
		even(t, c)
		c.Desired.Shards = 2
		if out := run(t, c, converge.Converge); out.MovedSlots > 0 || out.Drained != "" {
			t.Errorf("a shard was emptied: %+v", out)
		}
		c.Desired.Shards = 3
		even(t, c)
	})
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"testing"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
)

// How much is written while something is done: writes a second that are asked for, and
// clients that do it together.
const (
	writeRate    = 2000
	writeClients = 16
)

// TestProcessNoAcknowledgedWriteIsLost while shards are added and taken away, 3→5→3, and
// while every primary hands over, one after the other (T4). Clients write all the while, and
// what they reach depends on the machine: it is told, with the longest time that one of them
// waited.
func TestProcessNoAcknowledgedWriteIsLost(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := scaled(t, version, 3, 1)
		grow(t, c, 5)
		w := c.WriteAt(writeRate, writeClients)
		w.Lap(t)

		out := formed(t, c, converge.Rebalance)
		t.Logf("scale out: %s in %.1f s", w.Lap(t), out.Seconds)
		even(t, c)
		if least := 2 * 16384 / 5; out.MovedSlots < least-2 || out.MovedSlots > least+1 || out.MovedKeys == 0 || out.MovedBytes == 0 {
			t.Errorf("scale out: %+v", out)
		}

		w.Lap(t)
		c.Desired.Shards = 3
		in := formed(t, c, converge.Drain)
		t.Logf("scale in: %s in %.1f s", w.Lap(t), in.Seconds)
		if in.Drained != "3-4" {
			t.Errorf("scale in: %+v", in)
		}
		even(t, c)

		w.Lap(t)
		seconds := handedOver(t, c)
		t.Logf("rolling handover: %s in %.1f s", w.Lap(t), seconds)

		if written := w.Stop(); len(written.Lost) > 0 {
			t.Errorf("%d keys lost: %v", len(written.Lost), written.Lost)
		}
		whole(t, c)
	})
}

// handedOver has every primary of the wanted shards hand over, one after the other, and
// returns how long the runs took.
func handedOver(t testing.TB, c *clustertest.Cluster) (seconds float64) {
	t.Helper()
	defer func() { c.Desired.Vacate = nil }()
	for shard := range c.Desired.Shards {
		old, next := c.Pod(shard, 0), c.Pod(shard, 1)
		if old.Role() != "master" {
			old, next = next, old
		}
		c.Desired.Vacate = []string{old.Place.Name}
		seconds += formed(t, c, converge.Handover).Seconds
		if next.Role() != "master" || old.Role() != "slave" {
			t.Errorf("shard %d: %s is a %s, %s a %s", shard, old.Place.Name, old.Role(), next.Place.Name, next.Role())
		}
	}
	return seconds
}

// BenchmarkProcessAcknowledgedWrites does the same, for a machine that does nothing else: it
// reports what the clients reach while it is done, and the longest time that one waited.
func BenchmarkProcessAcknowledgedWrites(b *testing.B) {
	type operation struct {
		prepare, do func(testing.TB, *clustertest.Cluster)
	}
	more := func(tb testing.TB, c *clustertest.Cluster) { grow(tb, c, 4) }
	spread := func(tb testing.TB, c *clustertest.Cluster) { formed(tb, c, converge.Rebalance) }
	for name, o := range map[string]operation{
		"scale-out": {more, spread},
		"scale-in": {
			func(tb testing.TB, c *clustertest.Cluster) { more(tb, c); spread(tb, c) },
			func(tb testing.TB, c *clustertest.Cluster) { c.Desired.Shards = 3; formed(tb, c, converge.Drain) },
		},
		"rolling-handover": {
			func(_ testing.TB, c *clustertest.Cluster) { c.Synced() },
			func(tb testing.TB, c *clustertest.Cluster) { handedOver(tb, c) },
		},
	} {
		for _, version := range servertest.Versions() {
			b.Run(name+"/"+version, func(b *testing.B) {
				var rate, stall float64
				for b.Loop() {
					b.StopTimer()
					c := scaled(b, version, 3, 1)
					o.prepare(b, c)
					w := c.WriteAt(writeRate, writeClients)
					w.Lap(b)
					b.StartTimer()
					o.do(b, c)
					b.StopTimer()
					lap := w.Lap(b)
					rate, stall = rate+lap.Rate, max(stall, float64(lap.Stall.Milliseconds()))
					if lost := w.Stop().Lost; len(lost) > 0 {
						b.Errorf("%d keys lost: %v", len(lost), lost)
					}
					for _, p := range c.Pods {
						p.Server.Stop()
					}
					b.StartTimer()
				}
				b.ReportMetric(rate/float64(b.N), "writes/s")
				b.ReportMetric(stall, "ms-longest-stall")
			})
		}
	}
}

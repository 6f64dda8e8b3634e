// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"context"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
)

// keys are how many the interrupted clusters hold.
const keys = 60

// everyCommand stops a run after 0, 1, 2, … changing commands on a new cluster each time,
// runs again, and wants the same end: all pods in their place, no key lost, nothing left to
// do. The last run is the one that was not stopped; it must have sent at least so many.
func everyCommand(t *testing.T, kind converge.Kind, least int, prepare func() *clustertest.Cluster) {
	t.Helper()
	for after := 0; ; after++ {
		c := prepare()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		crash := &clustertest.Crash{Dialer: clustertest.Dialer(), After: after, Stop: cancel}
		out := converge.Run(ctx, c.Options(kind, crash))
		cancel()
		if !crash.Stopped() && out.Result != converge.Converged {
			t.Fatalf("after %d commands: %+v", after, out)
		}
		if crash.Stopped() {
			formed(t, c, kind)
		}
		if n := c.Missing(keys); n > 0 && c.Desired.Initialized {
			t.Errorf("stopped after %d commands %v: %d keys are missing", after, crash.Sent(), n)
		}
		if again := formed(t, c, kind); len(again.Steps) > 0 {
			t.Errorf("stopped after %d commands %v, and then done again: %+v", after, crash.Sent(), again)
		}
		for _, p := range c.Sorted() {
			if p.Server != nil {
				p.Server.Stop()
			}
		}
		if !crash.Stopped() {
			if len(crash.Sent()) < least {
				t.Errorf("%d commands only: %v", len(crash.Sent()), crash.Sent())
			}
			return
		}
	}
}

// stored is a formed cluster with keys.
func stored(t *testing.T, version string, shards, replicas int32, args ...string) *clustertest.Cluster {
	t.Helper()
	c := clustertest.New(t, version, shards, replicas, args...)
	formed(t, c, converge.Bootstrap)
	c.Desired.Initialized, c.Desired.Durable = true, true
	c.Fill(keys)
	c.Synced()
	return c
}

// TestProcessBootstrapStoppedAfterEveryCommand: wherever a bootstrap is cut off, the next
// one ends in the same place (T2).
func TestProcessBootstrapStoppedAfterEveryCommand(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		everyCommand(t, converge.Bootstrap, 8, func() *clustertest.Cluster { return clustertest.New(t, version, 2, 1) })
	})
}

// TestProcessHandoverStoppedAfterEveryCommand of two shards at once.
func TestProcessHandoverStoppedAfterEveryCommand(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		everyCommand(t, converge.Repair, 2, func() *clustertest.Cluster {
			c := stored(t, version, 2, 1)
			c.Desired.Vacate = []string{"c-0-0", "c-1-0"}
			return c
		})
	})
}

// TestProcessTakeoverStoppedAfterEveryCommand with two of three primaries dead.
func TestProcessTakeoverStoppedAfterEveryCommand(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		everyCommand(t, converge.Repair, 1, func() *clustertest.Cluster {
			c := stored(t, version, 3, 1)
			c.Desired.Takeover, c.Desired.Patience = true, 2*time.Second
			c.Pod(0, 0).Stop()
			c.Pod(1, 0).Stop()
			return c
		})
	})
}

// TestProcessReplacementStoppedAfterEveryCommand: a replica comes back without its data,
// joins and is attached.
func TestProcessReplacementStoppedAfterEveryCommand(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		everyCommand(t, converge.Repair, 2, func() *clustertest.Cluster {
			c := stored(t, version, 2, 1)
			p := c.Pod(0, 1)
			p.Stop()
			p.Wipe()
			p.Start()
			return c
		})
	})
}

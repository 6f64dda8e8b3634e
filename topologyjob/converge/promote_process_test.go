// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// ready is a formed cluster with 300 keys that are on the replicas as well.
func ready(t *testing.T, version string, shards, replicas int32, args ...string) *clustertest.Cluster {
	t.Helper()
	c := clustertest.New(t, version, shards, replicas, args...)
	formed(t, c, converge.Bootstrap)
	c.Desired.Initialized, c.Desired.Durable = true, true
	c.Fill(300)
	c.Synced()
	return c
}

// runFor converges for a while.
func runFor(t *testing.T, c *clustertest.Cluster, kind converge.Kind, d time.Duration) converge.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	return converge.Run(ctx, c.Options(kind, clustertest.Dialer()))
}

// TestProcessMajorityLost: two of three primaries die (T7).
func TestProcessMajorityLost(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := ready(t, version, 3, 1)
		c.Desired.Patience = 2 * time.Second
		c.Pod(0, 0).Stop()
		c.Pod(1, 0).Stop()

		c.Pod(0, 0).Place.Runs, c.Pod(1, 0).Place.Runs = survey.Running, survey.RunsUnknown
		c.Desired.Takeover = true
		if out := runFor(t, c, converge.Repair, 12*time.Second); out.Result != converge.TimedOut || len(out.Steps)+out.Failed+out.Unproven > 0 || !strings.Contains(out.Message, "may still run") {
			t.Fatalf("not fenced: %+v", out)
		}
		c.Pod(0, 0).Place.Runs, c.Pod(1, 0).Place.Runs = survey.Stopped, survey.Stopped
		c.Desired.Takeover = false
		if out := run(t, c, converge.Repair); out.Result != converge.Stuck || out.Reason != plan.QuorumLost || len(out.Steps) > 0 {
			t.Fatalf("not allowed: %+v", out)
		}
		c.Desired.Takeover = true
		out := formed(t, c, converge.Repair)
		if out.Steps["takeover"] == 0 || c.Missing(300) > 0 {
			t.Errorf("%d keys are missing; %+v", c.Missing(300), out)
		}
		c.Pod(0, 0).Start()
		c.Pod(1, 0).Start()
		out = formed(t, c, converge.Repair)
		view := clustertest.Asker(t, clustertest.Dialer()).Take(t.Context(), c.Places())
		for shard := range int32(2) {
			if own := view.ByID(c.Pod(shard, 0).ID()).Own(); !own.Replica || own.Primary != c.Pod(shard, 1).ID() {
				t.Errorf("the old primary of shard %d: %+v", shard, own)
			}
		}
		if n := c.Missing(300); n > 0 || out.Steps["takeover"] > 0 {
			t.Errorf("%d keys are missing; %+v", n, out)
		}
	})
}

// TestProcessMinorityLostIsTheServersBusiness: one of three primaries dies (T7).
func TestProcessMinorityLostIsTheServersBusiness(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := ready(t, version, 3, 1)
		c.Desired.Takeover = true
		c.Pod(2, 0).Stop()
		if out := formed(t, c, converge.Repair); len(out.Steps) > 0 || c.Missing(300) > 0 {
			t.Errorf("%d keys are missing; %+v", c.Missing(300), out)
		}
	})
}

// TestProcessServersThatDoNotElect: a replica that may not fail over by itself is told to.
func TestProcessServersThatDoNotElect(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := ready(t, version, 3, 1, "--cluster-replica-no-failover", "yes")
		c.Desired.Patience = 6 * time.Second
		c.Pod(2, 0).Stop()
		if out := formed(t, c, converge.Repair); out.Steps["failover"] != 1 || len(out.Steps) != 1 || c.Missing(300) > 0 {
			t.Errorf("%d keys are missing; %+v", c.Missing(300), out)
		}
	})
}

// TestProcessHandover: a primary that is about to go, and one on a pod that is not wanted.
func TestProcessHandover(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := ready(t, version, 3, 1)
		c.Desired.Vacate = []string{"c-0-0", "c-1-0"}
		out := formed(t, c, converge.Repair)
		if out.Steps["handover"] != 1 || c.Missing(300) > 0 {
			t.Errorf("%d keys are missing; %+v", c.Missing(300), out)
		}
		if again := formed(t, c, converge.Repair); len(again.Steps) > 0 {
			t.Errorf("handed over again: %+v", again)
		}
		// Shards 0 and 1 now have their primaries on index 1.
		c.Desired.Vacate, c.Desired.Replicas = nil, 0
		if out := formed(t, c, converge.Repair); out.Steps["handover"] != 1 || c.Missing(300) > 0 {
			t.Errorf("fewer replicas: %d keys are missing; %+v", c.Missing(300), out)
		}
	})
}

// TestProcessPrimaryGoesWithItsPlace: a StatefulSet takes the pod of the highest ordinal
// away, which is the primary and has handed over to nobody. What it owned is served by the
// replica that is left, for which nobody waits in vain.
func TestProcessPrimaryGoesWithItsPlace(t *testing.T) {
	t.Parallel()
	c := ready(t, "9.1", 3, 1)
	c.Desired.Vacate = []string{"c-0-0"}
	formed(t, c, converge.Repair)
	c.Synced()
	c.Pod(0, 1).Stop()
	for shard := range int32(3) {
		if p := c.Pod(shard, 1); p.Server != nil {
			p.Stop()
		}
		delete(c.Pods, c.Pod(shard, 1).Place.Name)
	}
	c.Desired.Vacate, c.Desired.Replicas = nil, 0
	formed(t, c, converge.Repair)
	v := view(t, c)
	if owned := v.Owners().Slots[c.Pod(0, 0).ID()]; owned.Count() == 0 || c.Missing(300) > 0 {
		t.Errorf("c-0-0 owns %s, %d keys are missing", owned, c.Missing(300))
	}
}

// TestProcessSpread: two primaries on one node.
func TestProcessSpread(t *testing.T) {
	t.Parallel()
	c := ready(t, "9.1", 2, 1)
	c.Desired.Spread = plan.SpreadNodes
	for _, p := range c.Sorted() {
		p.Place.Node = []string{"a", "b"}[p.Place.Index]
	}
	if out := formed(t, c, converge.Repair); out.Steps["handover"] != 1 || c.Missing(300) > 0 {
		t.Errorf("%d keys are missing; %+v", c.Missing(300), out)
	}
}

// TestProcessGoneMembersAreForgotten: only once every pod answers and for long enough, and
// only by a pass of its own.
func TestProcessGoneMembersAreForgotten(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := ready(t, version, 3, 1)
		c.Desired.Patience = 4 * time.Second
		p := c.Pod(1, 1)
		p.Stop()
		if out := formed(t, c, converge.Repair); out.Steps["forget"] > 0 {
			t.Errorf("a pod is away: %+v", out)
		}
		p.Wipe()
		p.Start()
		var known int
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
			if out := formed(t, c, converge.Repair); out.Steps["forget"] > 0 {
				break
			}
		}
		view := clustertest.Asker(t, clustertest.Dialer()).Take(t.Context(), c.Places())
		for i := range view.Answers {
			known = max(known, len(view.Answers[i].Nodes))
		}
		if n := c.Missing(300); n > 0 || known != 6 {
			t.Errorf("%d keys are missing, %d nodes are known", n, known)
		}
	})
}

// TestProcessRestartedReplicaIsPromoted: a primary loses its volume while its replica
// restarts. Servers do not elect a replica that has not been in sync since it started,
// whatever it holds.
func TestProcessRestartedReplicaIsPromoted(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := ready(t, version, 3, 1)
		c.Desired.Patience = 4 * time.Second
		primary, replica := c.Pod(1, 0), c.Pod(1, 1)
		replica.Stop()
		primary.Stop()
		primary.Wipe()
		replica.Start()
		primary.Start()
		if out := formed(t, c, converge.Repair); out.Steps["failover"] != 1 || c.Missing(300) > 0 {
			t.Errorf("%d keys are missing; %+v", c.Missing(300), out)
		}
	})
}

// TestProcessCacheReplacesALostShard: without replicas, a pod comes back empty. A Cache gets
// its slots back, empty; a Durable cluster waits for a human. What had gone over to another
// shard in the middle of a move stays there.
func TestProcessCacheReplacesALostShard(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := ready(t, version, 3, 0)
		c.Desired.Patience = 4 * time.Second
		p, other := c.Pod(1, 0), c.Pod(0, 0)
		key := ownKey(t, c, p)
		n := strconv.Itoa(keySlot(t, c, key))
		command(t, other, "CLUSTER", "SETSLOT", n, "IMPORTING", p.ID())
		command(t, p, "CLUSTER", "SETSLOT", n, "MIGRATING", other.ID())
		command(t, p, "MIGRATE", "127.0.0.1", strconv.Itoa(other.Place.Port), key, "0", "2000")
		p.Stop()
		p.Wipe()
		p.Start()
		if out := run(t, c, converge.Repair); out.Result != converge.Stuck || out.Reason != plan.SlotsLost || out.Steps["forget"]+out.Steps["assign"] > 0 {
			t.Fatalf("Durable: %+v", out)
		}
		c.Desired.Durable = false
		out := formed(t, c, converge.Repair)
		if lost := c.Missing(300); lost == 0 || lost > 150 || out.Steps["forget"] != 1 || out.Steps["assign"] != 2 {
			t.Errorf("%d keys are missing; %+v", lost, out)
		}
		if value, err := other.Server.Do("GET", key); err != nil || value == nil {
			t.Errorf("%s of slot %s: %v %v", key, n, value, err)
		}
	})
}

// ownKey is a key that a pod has.
func ownKey(t *testing.T, c *clustertest.Cluster, p *clustertest.Pod) string {
	t.Helper()
	v := view(t, c)
	owned := v.Owners().Slots[p.ID()]
	for i := range 300 {
		if key := "key:" + strconv.Itoa(i); owned.Contains(slot.OfKey(key)) {
			return key
		}
	}
	t.Fatal(p.Place.Name, "has no key")
	return ""
}

// TestProcessShardWithoutSlotsLosesItsPrimary: it was on an ordinal that is gone. The servers
// elect nobody in its place, as when its replica's data is too old.
func TestProcessShardWithoutSlotsLosesItsPrimary(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c, _ := slotless(t, version, "--cluster-replica-no-failover", "yes")
		c.Desired.Initialized, c.Desired.Durable, c.Desired.Shards, c.Desired.Patience = true, true, 2, 2*time.Second
		c.Desired.Reshard = &plan.Reshard{From: 0, To: 1, Count: 8}
		if out := formed(t, c, converge.Reshard); out.Steps["takeover"] != 1 || out.MovedSlots != 8 {
			t.Errorf("%+v", out)
		}
	})
}

// TestProcessServersElectWithoutSlots: they replace a primary that owns none by themselves. What
// package clustermodel has of elections, it has from this.
func TestProcessServersElectWithoutSlots(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		_, replica := slotless(t, version)
		eventually(t, "it is elected", func() bool { return strings.Contains(own(t, replica), "myself,master") })
	})
}

// slotless is a shard, and another one without slots of which a replica is left: its primary is
// gone.
func slotless(t *testing.T, version string, args ...string) (*clustertest.Cluster, *clustertest.Pod) {
	t.Helper()
	c := clustertest.New(t, version, 1, 0, args...)
	formed(t, c, converge.Bootstrap)
	old, replica := c.Add(1, 1), c.Add(1, 0)
	for _, p := range []*clustertest.Pod{old, replica} {
		command(t, p, "CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(c.Pod(0, 0).Place.Port))
	}
	eventually(t, "it replicates", func() bool {
		_, err := replica.Server.Do("CLUSTER", "REPLICATE", old.ID())
		return err == nil
	})
	eventually(t, "it is in sync", func() bool {
		text, err := replica.Server.Do("INFO", "replication")
		return err == nil && strings.Contains(text.(string), "master_link_status:up")
	})
	old.Stop()
	delete(c.Pods, old.Place.Name)
	return c, replica
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
)

// ids are the node IDs of all pods, by name.
func ids(c *clustertest.Cluster) map[string]string {
	all := map[string]string{}
	for name, p := range c.Pods {
		all[name] = p.ID()
	}
	return all
}

// TestProcessAllPodsMove: every pod restarts at a new address with its data (T1), and the old
// addresses refuse connections, as those of machines do, or do not even that, as those of pods.
func TestProcessAllPodsMove(t *testing.T) {
	t.Parallel()
	for _, old := range []struct {
		name string
		is   func(*clustertest.Pod)
	}{{"refused", func(*clustertest.Pod) {}}, {"silent", (*clustertest.Pod).Silence}} {
		t.Run(old.name, func(t *testing.T) {
			perVersion(t, func(t *testing.T, version string) { allPodsMove(t, version, old.is) })
		})
	}
}

func allPodsMove(t *testing.T, version string, old func(*clustertest.Pod)) {
	c := clustertest.New(t, version, 3, 1)
	formed(t, c, converge.Bootstrap)
	c.Desired.Initialized, c.Desired.Durable = true, true
	c.Fill(300)
	before := ids(c)
	for _, p := range c.Sorted() {
		p.Stop()
		old(p)
	}
	for _, p := range c.Sorted() {
		p.Start()
	}
	out := formed(t, c, converge.Repair)
	for name, id := range ids(c) {
		if id != before[name] {
			t.Errorf("pod %s has the ID %s, not %s", name, id, before[name])
		}
	}
	if n := c.Missing(300); n > 0 || out.Steps["assign"] > 0 || out.Steps["attach"] > 0 {
		t.Errorf("%d keys are missing; %+v", n, out)
	}
}

// TestProcessReplicaLosesItsVolume: a pod comes back empty, as another node.
func TestProcessReplicaLosesItsVolume(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := clustertest.New(t, version, 3, 1)
		formed(t, c, converge.Bootstrap)
		c.Desired.Initialized, c.Desired.Durable = true, true
		c.Fill(300)
		p := c.Pod(1, 1)
		old := p.ID()
		p.Stop()
		p.Wipe()
		p.Start()
		formed(t, c, converge.Repair)
		view := clustertest.Asker(t, clustertest.Dialer()).Take(t.Context(), c.Places())
		replica := view.ByID(p.ID())
		if own := replica.Own(); p.ID() == old || !own.Replica || own.Primary != c.Pod(1, 0).ID() || !replica.LinkUp {
			t.Errorf("%+v", own)
		}
		if n := c.Missing(300); n > 0 {
			t.Errorf("%d keys are missing", n)
		}
	})
}

// TestProcessForeignNodeIsNotJoined: a pod brings the data of another cluster.
func TestProcessForeignNodeIsNotJoined(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		other := clustertest.New(t, version, 1, 0)
		formed(t, other, converge.Bootstrap)
		other.Fill(100)
		c := clustertest.New(t, version, 2, 1)
		formed(t, c, converge.Bootstrap)
		c.Desired.Initialized = true
		c.Fill(100)
		c.Pods["c-1-1"].Place.Port = other.Pod(0, 0).Place.Port
		crash := &clustertest.Crash{Dialer: clustertest.Dialer(), After: 0, Stop: func() { t.Error("a command was sent") }}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		out := converge.Run(ctx, c.Options(converge.Repair, crash))
		if out.Result != converge.Stuck || out.Reason != plan.ForeignData || !strings.Contains(out.Message, "c-1-1 (slots 0-16383, 100 keys)") {
			t.Errorf("%+v", out)
		}
		if c.Missing(100)+other.Missing(100) > 0 {
			t.Errorf("%d and %d keys are missing", c.Missing(100), other.Missing(100))
		}
	})
}

// TestProcessEmptyMemberOfAnotherClusterIsNotJoined: it has no data, and who meets it would
// meet its whole cluster.
func TestProcessEmptyMemberOfAnotherClusterIsNotJoined(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		other := clustertest.New(t, version, 1, 1)
		formed(t, other, converge.Bootstrap)
		for _, initialized := range []bool{false, true} {
			c := clustertest.New(t, version, 2, 0)
			if initialized {
				formed(t, c, converge.Bootstrap)
			}
			c.Desired.Initialized, c.Desired.Replicas = initialized, 1
			c.Add(0, 1)
			stranger := c.Add(1, 1)
			stranger.Place.Port = other.Pod(0, 1).Place.Port
			crash := &clustertest.Crash{Dialer: clustertest.Dialer(), After: 0, Stop: func() { t.Error("a command was sent") }}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			out := converge.Run(ctx, c.Options(converge.Repair, crash))
			cancel()
			if out.Result != converge.Stuck || out.Reason != plan.ForeignData {
				t.Errorf("initialized %v: %+v", initialized, out)
			}
		}
	})
}

// TestProcessNeverFormedTwice: all nodes of a cluster that was formed before are empty.
func TestProcessNeverFormedTwice(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := clustertest.New(t, version, 2, 0)
		c.Desired.Initialized, c.Desired.Durable = true, true
		if out := run(t, c, converge.Bootstrap); out.Result != converge.Stuck || out.Reason != plan.SlotsLost || len(out.Steps) > 0 {
			t.Errorf("Durable: %+v", out)
		}
		c.Desired.Durable = false
		formed(t, c, converge.Bootstrap)
	})
}

// TestProcessNothingIsFormedWithoutAPod: a bootstrap waits for the last pod.
func TestProcessNothingIsFormedWithoutAPod(t *testing.T) {
	t.Parallel()
	c := clustertest.New(t, "9.1", 2, 1)
	c.Pod(1, 1).Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	out := converge.Run(ctx, c.Options(converge.Bootstrap, clustertest.Dialer()))
	if out.Result != converge.TimedOut || out.Exit() != 124 || len(out.Steps) > 0 || !strings.Contains(out.Message, "pod c-1-1 Unreachable") {
		t.Errorf("%+v", out)
	}
	c.Pod(1, 1).Start()
	formed(t, c, converge.Bootstrap)
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"context"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// settled runs and fails the test unless everything is as wanted.
func settled(t *testing.T, c *clustertest.Cluster, kind converge.Kind) converge.Outcome {
	t.Helper()
	out := run(t, c, kind)
	if out.Result != converge.Converged {
		t.Fatalf("%+v", out)
	}
	return out
}

// replicated is a primary with so many keys and two replicas that have them all.
func replicated(t *testing.T, version string, keys int) *clustertest.Cluster {
	t.Helper()
	c := clustertest.NewReplication(t, version, 3)
	settled(t, c, converge.Bootstrap)
	c.Fill(keys)
	c.Synced()
	return c
}

// stays runs for a time and fails the test unless nothing was changed and it was not done.
func stays(t *testing.T, c *clustertest.Cluster, kind converge.Kind, d time.Duration) converge.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	options := c.Options(kind, clustertest.Dialer())
	options.Asker.Timeout = time.Second // also for pods that hang
	out := converge.Run(ctx, options)
	if out.Result != converge.TimedOut && out.Result != converge.Stuck || len(out.Steps) > 0 {
		t.Fatalf("%+v", out)
	}
	return out
}

// leads fails the test unless a pod is the primary.
func leads(t *testing.T, c *clustertest.Cluster, index int32) {
	t.Helper()
	if p := c.Primary(); p.Place.Index != index {
		t.Fatalf("pod %s is the primary, not that of index %d", p.Place.Name, index)
	}
}

func TestProcessReplicationBootstrap(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := clustertest.NewReplication(t, version, 3)
		out := settled(t, c, converge.Bootstrap)
		if out.Steps["elect"] != 1 || out.Steps["attach"] != 1 || out.Steps["fence"] != 0 {
			t.Errorf("%+v", out)
		}
		leads(t, c, 0)
		c.Fill(100)
		c.Synced()
		again := settled(t, c, converge.Bootstrap)
		if len(again.Steps) > 0 || c.Missing(100) > 0 {
			t.Errorf("%+v", again)
		}
		// Scaled out, without and with what the start script does.
		c.Add(0, 3)
		c.Desired.Replicas = 3
		if out := settled(t, c, converge.Repair); out.Steps["attach"] != 1 || out.Keys != 100 {
			t.Errorf("%+v", out)
		}
	})
}

func TestProcessReplicationFailover(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := replicated(t, version, 200)
		// A replica that hangs behind is not elected.
		primary := c.Primary()
		primary.Freeze()
		out := stays(t, c, converge.Failover, 5*time.Second)
		if out.Result != converge.TimedOut {
			t.Errorf("%+v", out)
		}
		primary.Thaw()
		if out := settled(t, c, converge.Failover); len(out.Steps) > 0 {
			t.Errorf("thawed: %+v", out)
		}
		primary.Stop()
		// Kubernetes may be behind: as far as it knows the container runs.
		primary.Place.Runs = survey.Running
		stays(t, c, converge.Failover, 3*time.Second)
		primary.Place.Runs = survey.Stopped
		if out := settled(t, c, converge.Failover); out.Steps["elect"] != 1 || out.Steps["attach"] != 1 {
			t.Errorf("%+v", out)
		}
		leads(t, c, 1)
		if n := c.Missing(200); n > 0 {
			t.Errorf("%d keys missing", n)
		}
		// The old one comes back empty, fenced.
		primary.Wipe()
		primary.Start()
		settled(t, c, converge.Repair)
		leads(t, c, 1)
		if n := c.Missing(200); n > 0 || primary.Info()["master_link_status"] != "up" {
			t.Errorf("%d keys missing", n)
		}
	})
}

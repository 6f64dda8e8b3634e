// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"context"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
)

// run converges, within three minutes.
func run(t testing.TB, c *clustertest.Cluster, kind converge.Kind) converge.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	return converge.Run(ctx, c.Options(kind, clustertest.Dialer()))
}

// formed runs and fails the test unless everything is as wanted.
func formed(t testing.TB, c *clustertest.Cluster, kind converge.Kind) converge.Outcome {
	t.Helper()
	out := run(t, c, kind)
	if out.Result != converge.Converged || out.Owned != 16384 {
		t.Fatalf("%+v", out)
	}
	return out
}

// perVersion runs a test on every version, beside all others.
func perVersion(t *testing.T, test func(*testing.T, string)) {
	for _, version := range servertest.Sample(t) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			test(t, version)
		})
	}
}

func TestProcessBootstrap(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]int32{"1x0": {1, 0}, "3x1": {3, 1}, "2x2": {2, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			perVersion(t, func(t *testing.T, version string) {
				c := clustertest.New(t, version, size[0], size[1])
				formed(t, c, converge.Bootstrap)
				view := clustertest.Asker(t, clustertest.Dialer()).Take(t.Context(), c.Places())
				owners := view.Owners()
				for shard := range size[0] {
					first := view.ByID(c.Pod(shard, 0).ID())
					if got, want := owners.Slots[first.ID].String(), (plan.Desired{Shards: size[0]}).Formula(shard).String(); got != want {
						t.Errorf("shard %d owns %s, not %s", shard, got, want)
					}
				}
				c.Fill(200)
				again := formed(t, c, converge.Bootstrap)
				if len(again.Steps) > 0 {
					t.Errorf("a formed cluster was changed: %+v", again)
				}
				if n := c.Missing(200); n > 0 {
					t.Errorf("%d keys are missing", n)
				}
			})
		})
	}
}

// TestProcessBootstrapFiftyNodes: everybody hears of everybody.
func TestProcessBootstrapFiftyNodes(t *testing.T) {
	t.Parallel()
	c := clustertest.New(t, "9.1", 25, 1, "--cluster-node-timeout", "15000")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if out := converge.Run(ctx, c.Options(converge.Bootstrap, clustertest.Dialer())); out.Result != converge.Converged || out.Owned != 16384 || out.Answered != 50 {
		t.Errorf("%+v", out)
	}
}

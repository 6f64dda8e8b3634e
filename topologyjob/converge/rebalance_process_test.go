// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
)

// BenchmarkProcessRebalance evens out 3 shards and an empty one, beside valkey-cli on the
// same processes. BENCH_KEYS is how many keys there are, 20,000 without it.
func BenchmarkProcessRebalance(b *testing.B) {
	keys := 20000
	if n, err := strconv.Atoi(os.Getenv("BENCH_KEYS")); err == nil {
		keys = n
	}
	for _, version := range servertest.Versions() {
		b.Run(version, func(b *testing.B) { rebalance(b, version, keys) })
	}
}

func rebalance(b *testing.B, version string, keys int) {
	c := clustertest.New(b, version, 3, 0)
	must := func(kind converge.Kind) {
		b.Helper()
		options := c.Options(kind, clustertest.Dialer())
		options.OnPlan = nil
		if out := converge.Run(context.Background(), options); out.Result != converge.Converged {
			b.Fatalf("%+v", out)
		}
	}
	must(converge.Bootstrap)
	c.Desired.Initialized = true
	c.Fill(keys)
	c.Add(3, 0)
	c.Desired.Shards = 4
	must(converge.Repair)
	back := func() {
		b.StopTimer()
		c.Desired.Shards = 3
		must(converge.Rebalance)
		c.Desired.Shards = 4
		b.StartTimer()
	}
	b.Run("valkey-render", func(b *testing.B) {
		for b.Loop() {
			must(converge.Rebalance)
			back()
		}
	})
	args := []string{"--cluster", "rebalance", c.Pod(0, 0).Server.Addr(), "--cluster-use-empty-masters", "--cluster-threshold", "1"}
	b.Run("valkey-cli", func(b *testing.B) { cli(b, version, args, back) })
	if version >= "9" {
		b.Run("valkey-cli-atomic", func(b *testing.B) { cli(b, version, append(args, "--cluster-use-atomic-slot-migration"), back) })
	}
	b.StopTimer()
	must(converge.Rebalance)
	if n := c.Missing(keys); n > 0 {
		b.Errorf("%d keys are missing", n)
	}
}

func cli(b *testing.B, version string, args []string, back func()) {
	for b.Loop() {
		if said, err := exec.CommandContext(b.Context(), servertest.Program(b, version, "valkey-cli"), args...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, said)
		}
		back()
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"context"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/node"
)

// BenchmarkProcessBootstrap forms clusters of 3 and of 50 shards with a replica each, beside
// valkey-cli on the same processes. Both times end when the program does; what had still to
// happen then, until every node knows every other and all slots are served, is reported as
// seconds of "late". A primary serves no slots in the first cluster-node-timeout, 5 s at
// most, after it got the first of them.
func BenchmarkProcessBootstrap(b *testing.B) {
	for shards, timeout := range map[int32]string{3: "2000", 50: "15000"} {
		for _, version := range servertest.Versions() {
			b.Run(fmt.Sprintf("%dx1/%s", shards, version), func(b *testing.B) { bootstrap(b, version, shards, timeout) })
		}
	}
}

func bootstrap(b *testing.B, version string, shards int32, timeout string) {
	c := clustertest.New(b, version, shards, 1, "--cluster-node-timeout", timeout, "--appendonly", "no")
	b.Run("valkey-render", func(b *testing.B) {
		measure(b, c, func() {
			options := c.Options(converge.Bootstrap, clustertest.Dialer())
			options.OnPlan = nil
			if out := converge.Run(context.Background(), options); out.Result != converge.Converged {
				b.Fatalf("%+v", out)
			}
		})
	})
	b.Run("valkey-cli", func(b *testing.B) {
		args := []string{"--cluster-yes", "--cluster-replicas", "1", "--cluster", "create"}
		for index := range int32(2) {
			for shard := range shards {
				args = append(args, c.Pod(shard, index).Server.Addr())
			}
		}
		measure(b, c, func() {
			if said, err := exec.CommandContext(b.Context(), servertest.Program(b, version, "valkey-cli"), args...).CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, said)
			}
		})
	})
}

// measure times what forms a cluster of nodes that know nobody.
func measure(b *testing.B, c *clustertest.Cluster, form func()) {
	var late time.Duration
	for b.Loop() {
		b.StopTimer()
		alone(b, c)
		b.StartTimer()
		form()
		b.StopTimer()
		ended := time.Now()
		for !everywhere(b, c) {
			time.Sleep(20 * time.Millisecond)
		}
		late += time.Since(ended)
		b.StartTimer()
	}
	b.ReportMetric(late.Seconds()/float64(b.N), "s-late/op")
}

// alone has every node forget the others, until none is told of them any more.
func alone(b *testing.B, c *clustertest.Cluster) {
	for quiet := 0; quiet < 2; time.Sleep(200 * time.Millisecond) {
		for _, p := range c.Pods {
			if _, err := p.Server.Do("CLUSTER", "RESET", "HARD"); err != nil {
				b.Fatal(err)
			}
		}
		quiet++
		for _, p := range c.Pods {
			if info(b, p)["cluster_known_nodes"] != "1" {
				quiet = 0
			}
		}
	}
}

// everywhere is whether all nodes know each other and serve all slots.
func everywhere(b *testing.B, c *clustertest.Cluster) bool {
	known := fmt.Sprint(len(c.Pods))
	for _, p := range c.Pods {
		if said := info(b, p); said["cluster_state"] != "ok" || said["cluster_known_nodes"] != known {
			return false
		}
	}
	return true
}

// info is what CLUSTER INFO says.
func info(b *testing.B, p *clustertest.Pod) node.Info {
	said, err := p.Server.Do("CLUSTER", "INFO")
	if err != nil {
		b.Fatal(err)
	}
	return node.ParseInfo(said.(string))
}

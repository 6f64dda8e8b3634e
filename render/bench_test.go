// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/render"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/render/write"
)

// fleet is a source with n three-shard clusters, as one team's directory has it.
func fleet(n int) []load.Source {
	const spec = `apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata:
  name: cache-%da
  namespace: team-%d
spec:
  shards: 3
  replicasPerShard: 1
  resources:
    requests: {cpu: 500m, memory: 1Gi}
    limits: {memory: 1Gi}
  config:
    maxmemory-policy: allkeys-lfu
    io-threads: "2"
`
	sources := make([]load.Source, 0, n/100+1)
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "---\n"+spec, i, i%50)
		if i%100 == 99 || i == n-1 {
			sources = append(sources, load.Source{Name: fmt.Sprintf("team-%d.yaml", i), Data: []byte(text.String())})
			text.Reset()
		}
	}
	return sources
}

// BenchmarkBuild takes specs from YAML to YAML. Reported beside time and
// allocations: clusters a second and the peak of the heap.
func BenchmarkBuild(b *testing.B) {
	for _, clusters := range []int{1, 1000} {
		b.Run(fmt.Sprintf("clusters=%d", clusters), func(b *testing.B) {
			sources := fleet(clusters)
			var peak uint64
			var out count
			b.ReportAllocs()
			for b.Loop() {
				err := write.To(&out, build(b, render.Options{}, sources...).Objects)
				if err != nil || out == 0 {
					b.Fatal(err)
				}
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapSys)
			}
			b.ReportMetric(float64(peak)/(1<<20), "MiB-heap")
			b.ReportMetric(float64(clusters)*float64(b.N)/b.Elapsed().Seconds(), "clusters/s")
		})
	}
}

// count is a writer that keeps only the number of bytes.
type count int

func (c *count) Write(p []byte) (int, error) {
	*c += count(len(p))
	return len(p), nil
}

// BenchmarkExamples renders each example once.
func BenchmarkExamples(b *testing.B) {
	all := allExamples(b)
	for b.Loop() {
		for _, ex := range all {
			build(b, render.Options{}, ex.sources...)
		}
	}
}

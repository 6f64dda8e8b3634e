// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkBuildProcess runs the program as CI does: one process that reads a file
// and writes manifests. Reported beside the time: CPU time and the peak of the
// resident memory. Targets: one cluster in 25 ms, a thousand in 1.5 s and 400 MiB, on
// two cores with nothing else to do.
func BenchmarkBuildProcess(b *testing.B) {
	dir := b.TempDir()
	program := filepath.Join(dir, "valkey-render")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for _, clusters := range []int{1, 1000} {
		b.Run(fmt.Sprintf("clusters=%d", clusters), func(b *testing.B) {
			file := filepath.Join(dir, fmt.Sprintf("%d.yaml", clusters))
			if err := os.WriteFile(file, []byte(fleet(clusters)), 0o600); err != nil {
				b.Fatal(err)
			}
			var cpu time.Duration
			var peak int64
			for b.Loop() {
				cmd := exec.Command(program, "build", "-f", file)
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
				if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
					peak = max(peak, usage.Maxrss)
				}
			}
			b.ReportMetric(float64(cpu.Milliseconds())/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(peak)/1024, "MiB-peak")
		})
	}
}

// fleet is the text of n three-shard clusters.
func fleet(n int) string {
	const spec = `---
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: cache-%da, namespace: team-%d}
spec:
  shards: 3
  replicasPerShard: 1
  resources: {limits: {memory: 1Gi}}
  config: {maxmemory-policy: allkeys-lfu}
`
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, spec, i, i%50)
	}
	return text.String()
}

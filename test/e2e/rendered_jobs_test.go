// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/render/name"
)

// TestClusterRenderedJobsFormAndDrain: without a reconciler four shards form by themselves,
// apply drains the last one by a Job before it lets it go, and every key is there.
func TestClusterRenderedJobsFormAndDrain(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const rest = `replicasPerShard: 0, jobs: Rendered, resources: {requests: {cpu: 10m, memory: 32Mi}, limits: {memory: 64Mi}}}`
	apply := func(shards string) string {
		t.Helper()
		o := p.program(append([]string{"apply", "--wait", "--timeout", "5m"}, p.spec("{shards: "+shards+", "+rest)...)...)
		if o.code != 0 {
			t.Fatalf("apply: exit status %d\n%s%s", o.code, o.out, o.errOut)
		}
		return o.out + o.errOut
	}
	apply("4")
	const keys = 40
	for i := range keys {
		if out, err := p.asks("cache-0-0", "set", fmt.Sprintf("key:%d", i), "value"); err != nil || out != "OK" {
			t.Fatalf("set: %v %s", err, out)
		}
	}
	if out := apply("3"); !strings.Contains(out, "cache-drain-") {
		t.Errorf("nothing is said of a drain:\n%s", out)
	}
	p.until(patience, func() error { return p.count(name.ComponentServer, 3) })
	for i := range keys {
		if out, err := p.asks("cache-0-0", "get", fmt.Sprintf("key:%d", i)); err != nil || out != "value" {
			t.Errorf("get key:%d: %v %q", i, err, out)
		}
	}
	// The server of the shard that went is known until somebody forgets it, and owns nothing.
	out, err := p.asks("cache-0-0", "cluster", "nodes")
	owners := 0
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) > 8 {
			owners++
		}
	}
	if err != nil || owners != 3 {
		t.Errorf("%v: %d owners\n%s", err, owners, out)
	}
}

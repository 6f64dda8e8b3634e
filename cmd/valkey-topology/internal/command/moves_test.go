// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// TestMovesOfTheSpec: what no flag says is the spec's, and shards that leave are asked too.
func TestMovesOfTheSpec(t *testing.T) {
	files := memory{"cluster.yaml": "apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: shop, namespace: ns}\nspec: {shards: 3, replicasPerShard: 1, rebalance: {batchSlots: 7, maxConcurrent: 2}}\n"}
	a, err := (&target{moves: moves{presentShards: 5}}).resolve(files, &specs{files: []string{"cluster.yaml"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	if d := a.desired; d.BatchSlots != 7 || d.MaxConcurrent != 2 || !d.RebalanceEnabled || !d.Drain || len(a.pods) != 10 {
		t.Errorf("%+v, %d pods", d, len(a.pods))
	}
}

func TestWrongMoves(t *testing.T) {
	for _, test := range []struct{ args, want []string }{
		{[]string{"--kind", "reshard"}, []string{"--reshard is missing"}},
		{[]string{"--kind", "rebalance", "--batch-slots", "-1", "--max-concurrent", "-1", "--present-shards", "-1", "--reshard", "x"}, []string{"--batch-slots -1", "--max-concurrent -1", "--present-shards -1", "--reshard \"x\""}},
		{[]string{"--kind", "reshard", "--shards", "3", "--reshard", "from=4,to=3,slots=1", "--present-shards", "4"}, []string{"--reshard from=4: there are shards 0 to 3", "--reshard to=3: shards 0 to 2 are wanted"}},
		{[]string{"--kind", "drain", "--shards", "3", "--present-shards", "2"}, []string{"--present-shards 2: 3 are wanted"}},
		{[]string{"--kind", "rebalance", "--shards", "1000000"}, []string{"--shards 1000000: must be 1 to 16384"}},
	} {
		s := run(t, memory{}, nil, append([]string{"run", "--shards", "1", "--pod", "c-0-0=127.0.0.1", "--deadline", "1s"}, test.args...)...)
		for _, want := range test.want {
			if s.code != outcome.ExitBadInput || !strings.Contains(s.err.String(), want) {
				t.Errorf("%v: exit code %d, lacks %q: %s", test.args, s.code, want, s.err.String())
			}
		}
	}
}

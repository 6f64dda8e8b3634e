// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package nearest_test

import (
	"testing"

	"github.com/valkey-render/valkey-render/internal/nearest"
)

func TestMisspeltWordsFindWhatWasMeant(t *testing.T) {
	names := []string{"shards", "replicas", "replicasPerShard", "podDisruptionBudget", "tls", "9.1"}
	for word, want := range map[string]string{
		"shard": "shards", "Shards": "shards", "pod-disruption-budget": "podDisruptionBudget",
		"replicaPerShards": "replicasPerShard", "tsl": "tls", "backup": "", "shards": "", "": "", "tl": "tls", "9.1.2": "9.1", "7.2": "",
	} {
		if got := nearest.Word(word, names); got != want {
			t.Errorf("Word(%q) = %q, want %q", word, got, want)
		}
	}
}

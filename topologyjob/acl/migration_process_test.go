// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/name"
)

// TestProcessReplicationUserCarriesSlotMigrations moves all slots to another node
// atomically while clients write, in transactions and scripts too.
func TestProcessReplicationUserCarriesSlotMigrations(t *testing.T) {
	t.Parallel()
	const version = "9.1"
	// A slow snapshot, so that the writes of a second are replayed.
	a, b := startNode(t, version, v1alpha1.TopologyCluster, "--rdb-key-save-delay", "2000"), startNode(t, version, v1alpha1.TopologyCluster)
	source, target := dialAs(t, a, name.UserOperator), dialAs(t, b, name.UserOperator)
	idA, idB := do(t, source, "CLUSTER", "MYID"), do(t, target, "CLUSTER", "MYID")
	do(t, source, "CLUSTER", "ADDSLOTSRANGE", "0", "16383")
	do(t, source, "CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(b.Port))
	eventually(t, "meeting", func() string { return lacks(do(t, target, "CLUSTER", "NODES"), idA+" ", " 0-16383") })
	eventually(t, "state", func() string { return lacks(do(t, source, "CLUSTER", "INFO"), "cluster_state:ok") })

	writer := dialAs(t, a, DefaultUser)
	for i := range 500 {
		do(t, writer, "SET", fmt.Sprint("key:", i), "v")
	}
	do(t, source, "CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", "0", "16383", "NODE", idB)
	written := 0
	eventually(t, "migration", func() string {
		if moved := writeBurst(t, writer, written); moved {
			return lacks(do(t, source, "CLUSTER", "GETSLOTMIGRATIONS"), "state success")
		}
		written++
		return "still the source's"
	})
	t.Logf("%d bursts during the migration", written)
	log := do(t, source, "CLUSTER", "GETSLOTMIGRATIONS")
	if strings.Contains(log, "state failed") {
		t.Errorf("migration: %s", log)
	}
	if count := do(t, dialAs(t, b, DefaultUser), "HLEN", "{burst}"); count != strconv.Itoa(written) {
		t.Errorf("%s of %d writes came along", count, written)
	}
	wantNoDenials(t, "target", dialAs(t, b, DefaultUser))
	wantNoDenials(t, "source", dialAs(t, a, DefaultUser))
}

// writeBurst writes one field in a transaction and a string in a script; moved
// when the node no longer serves the slot.
func writeBurst(t *testing.T, client *servertest.Client, n int) (moved bool) {
	t.Helper()
	do(t, client, "MULTI")
	if _, err := client.Do("HSET", "{burst}", strconv.Itoa(n), "x"); err != nil {
		_, _ = client.Do("DISCARD")
		return strings.HasPrefix(err.Error(), "MOVED")
	}
	_, _ = client.Do("INCR", "{burst}:count")
	if _, err := client.Do("EXEC"); err != nil {
		return true
	}
	_, _ = client.Do("EVAL", "server.call('SET', KEYS[1], 'x'); server.call('DEL', KEYS[1])", "1", "{burst}:script")
	return false
}

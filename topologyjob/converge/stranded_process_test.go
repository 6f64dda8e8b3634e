// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not seen in time: %s", what)
		}
	}
}

// own is what a pod says of itself in CLUSTER NODES.
func own(t *testing.T, p *clustertest.Pod) string {
	t.Helper()
	text, err := p.Server.Do("CLUSTER", "NODES")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.(string)) {
		if strings.Contains(line, "myself") {
			return strings.TrimSpace(line)
		}
	}
	t.Fatalf("pod %s does not know itself", p.Place.Name)
	return ""
}

// moveByHand moves slots with all their keys.
func moveByHand(t *testing.T, from, to *clustertest.Pod, slots ...int) {
	t.Helper()
	for _, n := range slots {
		number := strconv.Itoa(n)
		command(t, to, "CLUSTER", "SETSLOT", number, "IMPORTING", from.ID())
		command(t, from, "CLUSTER", "SETSLOT", number, "MIGRATING", to.ID())
		keys, err := from.Server.Do("CLUSTER", "GETKEYSINSLOT", number, "1000")
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys.([]any) {
			command(t, from, "MIGRATE", "127.0.0.1", strconv.Itoa(to.Place.Port), key.(string), "0", "5000")
		}
		command(t, to, "CLUSTER", "SETSLOT", number, "NODE", to.ID())
		command(t, from, "CLUSTER", "SETSLOT", number, "NODE", to.ID())
	}
}

// TestProcessPrimaryLosesItsSlotsInTwoPieces: a primary comes back after its replica was
// promoted and some slots moved on to another shard. It hears of its replica first, and of
// the others, its last slots, then: so it does not become a replica, and in 8.0 keeps the
// keys of its last slots, which nobody asks it for any more.
func TestProcessPrimaryLosesItsSlotsInTwoPieces(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := scaled(t, version, 3, 1)
		c.Synced()
		old, now, other := c.Pod(0, 0), c.Pod(0, 1), c.Pod(1, 0)
		slots := withKeys(t, c, 0, 300)
		old.Stop()
		formed(t, c, converge.Repair)
		var moved []int
		for _, r := range slots[len(slots)-3:] {
			moved = append(moved, r.Last)
		}
		moveByHand(t, now, other, moved...)

		// A server tells one that claims slots of others about the owner of the first of them.
		if err := other.Server.Process().Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		old.Start()
		eventually(t, "it hears of its replica", func() bool { return !strings.Contains(own(t, old), " 0-") })
		if err := other.Server.Process().Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it loses its last slot", func() bool { return len(strings.Fields(own(t, old))) == 8 })
		if line := own(t, old); !strings.Contains(line, "myself,master") {
			t.Fatalf("not the situation that was to be made: %s", line)
		}
		left, err := old.Server.Do("DBSIZE")
		if err != nil || (left.(int64) > 0) != (version == "8.0") {
			t.Fatalf("%d keys are left: %v", left, err)
		}

		out := formed(t, c, converge.Repair)
		if line := own(t, old); !strings.Contains(line, "myself,slave "+now.ID()) || (out.Steps["empty"] == 1) != (version == "8.0") {
			t.Errorf("%s; %+v", line, out)
		}
		whole(t, c)
	})
}

// databases are the arguments of a server that has several, if its version can.
func databases(version string) []string {
	if version < "9" {
		return nil
	}
	return []string{"--cluster-databases", "4"}
}

// TestProcessKeysWithoutSlots: a primary that owns no slot has keys, as a move leaves them
// behind whose marks somebody took away. It becomes a replica only if the owners have all of
// them, whatever their values; one that is nowhere else is kept until somebody says that it
// may go.
func TestProcessKeysWithoutSlots(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := scaled(t, version, 2, 0, databases(version)...)
		c.Desired.Replicas = 1
		p := c.Add(0, 1)
		c.Add(1, 1)
		owner := c.Pod(0, 0)
		command(t, p, "CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(owner.Place.Port))
		eventually(t, "it knows the owners", func() bool {
			text, err := p.Server.Do("CLUSTER", "NODES")
			return err == nil && strings.Count(text.(string), " master ")-strings.Count(text.(string), "handshake") == 2 && strings.Contains(text.(string), " 8192-16383")
		})
		eventually(t, "it serves", func() bool {
			text, err := p.Server.Do("CLUSTER", "INFO")
			return err == nil && strings.Contains(text.(string), "cluster_state:ok")
		})
		for i := range 40 {
			key := fmt.Sprintf("key:%d", i)
			plant(t, c, p, 0, key, fmt.Sprintf("value:%d", i%30))
			if version >= "9" {
				holder := c.Pod(int32(slot.OfKey(key)/8192), 0)
				other(t, holder, 3, "SET", key, "in another database")
				plant(t, c, p, 3, key, "in another database")
			}
		}
		only := "only:1"
		plant(t, c, p, 0, only, "x")
		number := strconv.Itoa(slot.OfKey(only))
		held := 41
		if version >= "9" {
			held = 82
			plant(t, c, p, 3, "only:2", "x")
		}

		out := runFor(t, c, converge.Repair, 6*time.Second)
		if want := fmt.Sprintf("pod c-0-1 holds %d keys and owns no slot; ", held); out.Result != converge.TimedOut || !strings.Contains(out.Message, want) ||
			!strings.Contains(out.Message, "of slots "+number) && !strings.Contains(out.Message, number) || out.Steps["empty"] > 0 {
			t.Fatalf("%+v", out)
		}
		if keys, err := p.Server.Do("CLUSTER", "GETKEYSINSLOT", number, "10"); err != nil || !slices.Contains(keys.([]any), any(only)) {
			t.Fatalf("it has %v of slot %s: %v", keys, number, err)
		}

		// One is written where it belongs; the other is given up.
		command(t, c.Pod(int32(slot.OfKey(only)/8192), 0), "SET", only, "y")
		n := slot.OfKey("only:2")
		c.Desired.AcceptLoss = slot.Ranges{{First: n, Last: n}}
		out = formed(t, c, converge.Repair)
		if line := own(t, p); !strings.Contains(line, "myself,slave "+owner.ID()) || out.Steps["empty"] != 1 {
			t.Errorf("%s; %+v", line, out)
		}
		whole(t, c)
		if value, err := c.Pod(int32(slot.OfKey(only)/8192), 0).Server.Do("GET", only); value != "y" || err != nil {
			t.Errorf("%v %v", value, err)
		}
	})
}

// TestProcessReplicaOfADrainedShardHasKeysAndNoPrimary: a replica deletes nothing when it is
// told. It is made a primary, which deletes keys since 9.1, once their owners have them.
func TestProcessReplicaOfADrainedShardHasKeysAndNoPrimary(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := scaled(t, version, 2, 0, "--cluster-replica-no-failover", "yes")
		c.Desired.Patience = 2 * time.Second
		old, replica := c.Add(2, 1), c.Add(2, 0)
		for _, p := range []*clustertest.Pod{old, replica} {
			command(t, p, "CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(c.Pod(0, 0).Place.Port))
		}
		eventually(t, "it replicates", func() bool {
			_, err := replica.Server.Do("CLUSTER", "REPLICATE", old.ID())
			return err == nil
		})
		eventually(t, "its primary serves", func() bool {
			text, err := old.Server.Do("CLUSTER", "INFO")
			return err == nil && strings.Contains(text.(string), "cluster_state:ok")
		})
		plant(t, c, old, 0, "key:1", "an old value")
		plant(t, c, old, 0, "only:1", "x")
		eventually(t, "it has the keys", func() bool {
			n, err := replica.Server.Do("DBSIZE")
			return err == nil && n == int64(2)
		})
		old.Stop()
		delete(c.Pods, old.Place.Name)

		out := runFor(t, c, converge.Drain, 12*time.Second)
		if out.Result != converge.TimedOut || !strings.Contains(out.Message, "holds 2 keys and owns no slot; 1 of them are not at the owners of their slots") || out.Steps["takeover"] > 0 {
			t.Fatalf("%+v", out)
		}
		if n, err := replica.Server.Do("DBSIZE"); n != int64(2) || err != nil {
			t.Fatalf("%v keys, %v", n, err)
		}
		command(t, c.Pod(int32(slot.OfKey("only:1")/8192), 0), "SET", "only:1", "y")
		out = formed(t, c, converge.Drain)
		if n, err := replica.Server.Do("DBSIZE"); n != int64(0) || err != nil || out.Steps["takeover"] != 1 || (out.Steps["empty"] == 1) != (version < "9.1") {
			t.Errorf("%v keys, %v; %+v", n, err, out)
		}
		whole(t, c)
	})
}

// plant writes a key to a pod that does not own its slot.
func plant(t *testing.T, c *clustertest.Cluster, p *clustertest.Pod, database int, key, value string) {
	t.Helper()
	n := slot.OfKey(key)
	command(t, p, "CLUSTER", "SETSLOT", strconv.Itoa(n), "IMPORTING", c.Pod(int32(n/8192), 0).ID())
	other(t, p, database, "SET", key, value)
	command(t, p, "CLUSTER", "SETSLOT", strconv.Itoa(n), "STABLE")
}

// other sends a command in a database, with ASKING.
func other(t *testing.T, p *clustertest.Pod, database int, words ...string) {
	t.Helper()
	conn, err := p.Server.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	commands := [][]string{{"ASKING"}, words}
	if database != 0 {
		commands = [][]string{{"SELECT", strconv.Itoa(database)}, {"ASKING"}, words}
	}
	for _, words := range commands {
		if _, err := conn.Do(words...); err != nil {
			t.Fatalf("pod %s: %v: %v", p.Place.Name, words, err)
		}
	}
}

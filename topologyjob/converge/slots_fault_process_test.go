// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/clustertest"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/acl"
	"github.com/valkey-render/valkey-render/topologyjob/client"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// systemUsers are arguments that give a server its system users, whose password is pw.
func systemUsers(t *testing.T, version string, topology v1alpha1.Topology) []string {
	t.Helper()
	text, err := acl.Text(version, systemInput(topology))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--primaryuser", name.UserReplication, "--primaryauth", "pw"}
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 2 && words[1] != acl.DefaultUser {
			args = append(args, "--user")
			args = append(args, words[1:]...)
		}
	}
	return args
}

// systemInput has the system users of a topology, whose password is pw.
func systemInput(topology v1alpha1.Topology) acl.Input {
	sum := sha256.Sum256([]byte("pw"))
	in := acl.Input{Topology: topology, Hashes: map[string][]string{acl.DefaultUser: {hex.EncodeToString(sum[:])}}}
	for _, user := range acl.SystemUsers(topology) {
		in.Hashes[user] = []string{hex.EncodeToString(sum[:])}
	}
	return in
}

// TestProcessMovesAsOperator: the internal users may all that moves of slots need.
func TestProcessMovesAsOperator(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		args := systemUsers(t, version, v1alpha1.TopologyCluster)
		if version >= "9" {
			args = append(args, "--cluster-databases", "4")
		}
		c := clustertest.New(t, version, 2, 1, args...)
		operator := client.Dialer{Username: name.UserOperator, Passwords: func() ([]string, error) { return []string{"next", "pw"}, nil }, Timeout: 10 * time.Second}
		converged := func(kind converge.Kind) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			options := c.Options(kind, operator)
			options.Login = operator.Login
			if out := converge.Run(ctx, options); out.Result != converge.Converged || out.Failed > 0 {
				t.Fatalf("%s: %+v", kind, out)
			}
		}
		converged(converge.Bootstrap)
		c.Desired.Initialized, c.Desired.Durable = true, true
		c.Fill(fill)
		slots := withKeys(t, c, 0, 200)
		// The target has an old copy of a key.
		old := ""
		for i := 0; old == ""; i++ {
			if key := fmt.Sprintf("key:%d", i); slots.Contains(slot.OfKey(key)) {
				old = key
			}
		}
		plant(t, c, c.Pod(1, 0), 0, old, "an old value")
		if version >= "9" {
			other(t, c.Pod(0, 0), 3, "SET", old, "in another database")
			plant(t, c, c.Pod(1, 0), 3, old, "an old value")
		}
		c.Desired.Reshard = &plan.Reshard{From: 0, To: 1, Slots: slots}
		converged(converge.Reshard)
		whole(t, c)
		if value, err := c.Pod(1, 0).Server.Do("GET", old); err != nil || value == "an old value" {
			t.Errorf("%s: %v %v", old, value, err)
		}
		for _, p := range c.Sorted() {
			log, err := p.Server.Do("ACL", "LOG")
			if err != nil {
				t.Fatal(err)
			}
			for _, entry := range log.([]any) {
				// The next password is tried first, which only this test has.
				if text := fmt.Sprint(entry); !strings.Contains(text, "reason auth") {
					t.Errorf("pod %s refused: %s", p.Place.Name, text)
				}
			}
		}
	})
}

// TestProcessPrimaryDiesDuringAMove: the source, the target or another one. What was there
// before is there after.
func TestProcessPrimaryDiesDuringAMove(t *testing.T) {
	t.Parallel()
	for role, victim := range map[string]int32{"source": 0, "target": 3, "other": 2} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			perVersion(t, func(t *testing.T, version string) {
				c := scaled(t, version, 3, 1)
				grow(t, c, 4)
				formed(t, c, converge.Repair)
				c.Synced()
				c.Desired.Reshard = &plan.Reshard{From: 0, To: 3, Slots: slot.Bootstrap(0, 12)}
				c.Desired.BatchSlots = 256
				options := c.Options(converge.Reshard, clustertest.Dialer())
				moved := make(chan struct{}, 1)
				options.OnProgress = func(converge.Progress) {
					select {
					case moved <- struct{}{}:
					default:
					}
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				ended := make(chan converge.Outcome, 1)
				go func() { ended <- converge.Run(ctx, options) }()
				select {
				case <-moved:
				case out := <-ended:
					t.Fatalf("%+v", out)
				}
				c.Pod(victim, 0).Stop()
				if role == "target" && version < "9" {
					// MIGRATE does not wait for the target's replicas: only the target itself
					// has all that the source gave it.
					cancel()
				}
				select {
				case <-ended:
				case <-time.After(8 * time.Second):
					cancel()
					<-ended
				}
				c.Pod(victim, 0).Start()
				formed(t, c, converge.Reshard)
				v := view(t, c)
				for i := range v.Answers {
					if open := v.Answers[i].Own().Open; len(open) > 0 {
						t.Errorf("pod %s has open slots %v", v.Answers[i].Pod.Name, open)
					}
				}
				whole(t, c)
			})
		})
	}
}

// TestProcessLargeKeysMove: larger than any buffer between the servers.
func TestProcessLargeKeysMove(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := scaled(t, version, 2, 0)
		from := c.Pod(0, 0)
		const tag = "{key:1}"
		if slots := view(t, c); !slots.Owners().Slots[from.ID()].Contains(keySlot(t, c, tag)) {
			from = c.Pod(1, 0)
		}
		command(t, from, "SET", tag+"text", strings.Repeat("x", 8<<20))
		for i := range 200 {
			words := []string{"HSET", tag + "hash"}
			for j := range 200 {
				words = append(words, strconv.Itoa(i*200+j), strings.Repeat("y", 50))
			}
			command(t, from, words...)
		}
		to := 1 - from.Place.Shard
		n := keySlot(t, c, tag)
		c.Desired.Reshard = &plan.Reshard{From: from.Place.Shard, To: to, Slots: slot.Ranges{{First: n, Last: n}}}
		formed(t, c, converge.Reshard)
		for want, words := range map[int64][]string{8 << 20: {"STRLEN", tag + "text"}, 40000: {"HLEN", tag + "hash"}} {
			if got, err := c.Pod(to, 0).Server.Do(words...); got != want || err != nil {
				t.Errorf("%v: %v %v", words, got, err)
			}
		}
		whole(t, c)
	})
}

func keySlot(t *testing.T, c *clustertest.Cluster, key string) int {
	t.Helper()
	n, err := c.Pod(0, 0).Server.Do("CLUSTER", "KEYSLOT", key)
	if err != nil {
		t.Fatal(err)
	}
	return int(n.(int64))
}

// TestProcessKeyOnBothSides: of a slot that was left open, a key with one value is moved,
// and one with two is left as it is, on both sides.
func TestProcessKeyOnBothSides(t *testing.T) {
	t.Parallel()
	perVersion(t, func(t *testing.T, version string) {
		c := scaled(t, version, 2, 0)
		v := view(t, c)
		from, to := c.Pod(0, 0), c.Pod(1, 0)
		n := keySlot(t, c, "key:1")
		if !v.Owners().Slots[from.ID()].Contains(n) {
			from, to = to, from
		}
		number := strconv.Itoa(n)
		command(t, to, "CLUSTER", "SETSLOT", number, "IMPORTING", from.ID())
		command(t, from, "CLUSTER", "SETSLOT", number, "MIGRATING", to.ID())
		command(t, from, "MIGRATE", "127.0.0.1", strconv.Itoa(to.Place.Port), "key:1", "0", "2000", "COPY")
		target, err := to.Server.Dial()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = target.Close() }()
		imported := func(words ...string) any {
			t.Helper()
			if _, err := target.Do("ASKING"); err != nil {
				t.Fatal(err)
			}
			reply, err := target.Do(words...)
			if err != nil {
				t.Fatal(err)
			}
			return reply
		}
		imported("SET", "key:1", "newer")
		out := runFor(t, c, converge.Repair, 3*time.Second)
		if out.Result == converge.Converged || !strings.Contains(out.LastError, "different values on both sides") {
			t.Fatalf("%+v", out)
		}
		if got := imported("GET", "key:1"); got != "newer" {
			t.Errorf("the target's value is %v", got)
		}
		if got, err := from.Server.Do("GET", "key:1"); got != "value:1" || err != nil {
			t.Errorf("the source's value is %v %v", got, err)
		}
		imported("SET", "key:1", "value:1")
		formed(t, c, converge.Repair)
		whole(t, c)
	})
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/valkey-render/valkey-render/internal/clustermodel"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// wire leads to servers of a model.
type wire struct {
	sync.Mutex
	world *clustermodel.World
	// changed, when not nil, may change the replies to a pipeline.
	changed func(s *clustermodel.Server, commands []node.Command, replies []node.Reply)
}

func (w *wire) Dial(_ context.Context, address node.Address) (node.Conn, error) {
	w.Lock()
	defer w.Unlock()
	session, err := w.world.Connect(net.JoinHostPort(address.IP, strconv.Itoa(address.Port)))
	return wireConn{w, session}, err
}

type wireConn struct {
	*wire
	session *clustermodel.Session
}

func (c wireConn) Do(_ context.Context, commands ...node.Command) []node.Reply {
	c.Lock()
	defer c.Unlock()
	c.world.Advance(time.Now())
	replies := make([]node.Reply, len(commands))
	for i, command := range commands {
		replies[i] = c.session.Do(command...)
	}
	if c.changed != nil {
		c.changed(c.session.Server(), commands, replies)
	}
	return replies
}

func (wireConn) Close() {}

// pair is a cluster of two primaries, pairOf one of a version.
func pair() (*clustermodel.World, []survey.Pod) { return pairOf("9.1.2") }

func pairOf(version string) (*clustermodel.World, []survey.Pod) {
	w := clustermodel.New(clustermodel.Settings{NodeTimeout: 5 * time.Second}, rand.New(rand.NewPCG(1, 1)), time.Now())
	var pods []survey.Pod
	var places []clustermodel.Place
	for shard := range int32(2) {
		name, address := fmt.Sprintf("c-%d-0", shard), fmt.Sprintf("10.0.0.%d", shard+1)
		places = append(places, clustermodel.Place{Server: w.Add(name, version, address+":6379"), Slots: slot.Bootstrap(shard, 2), Epoch: uint64(shard) + 1})
		pods = append(pods, survey.Pod{Name: name, Shard: shard, Host: address, Port: 6379})
	}
	w.Form(places)
	return w, pods
}

// repair runs a repair of it.
func repair(ctx context.Context, to *wire, pods []survey.Pod) converge.Outcome {
	return converges(ctx, to, pods, converge.Repair, plan.Desired{Shards: 2, Initialized: true})
}

func converges(ctx context.Context, to node.Dialer, pods []survey.Pod, kind converge.Kind, desired plan.Desired) converge.Outcome {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	return runs(ctx, to, converge.Options{Kind: kind, Desired: desired, Pods: pods, Wait: true})
}

func runs(ctx context.Context, to node.Dialer, o converge.Options) converge.Outcome {
	pool := node.NewPool(to)
	defer pool.Close()
	o.Clock = bubble{}
	o.Asker = survey.Asker{Pool: pool, Resolve: func(_ context.Context, host string) (string, error) { return host, nil }}
	return converge.Run(ctx, o)
}

// TestStepsThatChangeNothingAreDoneWithPauses: a plan that is the same again although its
// steps were done is not carried out over and over as fast as servers answer.
func TestStepsThatChangeNothingAreDoneWithPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, pods := pair()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		surveys := 0
		// To a survey, which asks for much at once, one says nothing of the other. The step
		// then finds that they know each other.
		forgetful := func(s *clustermodel.Server, commands []node.Command, replies []node.Reply) {
			for i, command := range commands {
				text, isText := replies[i].Value.(string)
				if len(commands) == 1 || command.String() != "CLUSTER NODES" || !isText || s != w.Servers()[0] {
					continue
				}
				if surveys++; surveys == 1000 {
					cancel()
				}
				for line := range strings.Lines(text) {
					if strings.HasPrefix(line, s.ID) {
						replies[i].Value = line
					}
				}
			}
		}
		out := repair(ctx, &wire{world: w, changed: forgetful}, pods)
		if out.Result != converge.TimedOut || out.Steps["meet"] < 10 || out.Steps["meet"] > 200 || out.Failed+out.Raced+out.Unproven > 0 {
			t.Errorf("%+v", out)
		}
	})
}

// TestSlotThatIsTakenForAnothers: somebody told the owner of a slot alone that it is another
// one's, which has not taken it. The former owner, which is to get it, believes that for good.
func TestSlotThatIsTakenForAnothers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, pods := pair()
		say(t, w, w.Servers()[0], "CLUSTER", "SETSLOT", "7", "NODE", w.Servers()[1].ID)
		out := repair(t.Context(), &wire{world: w}, pods)
		if out.Result != converge.Converged || out.Steps["assign"] != 1 || out.Raced > 0 || !w.Servers()[0].Owns().Contains(7) {
			t.Errorf("%+v", out)
		}
	})
}

// TestKeysAtTheEndOfAnOpenSlotOutliveItsOwner, which died for good in the middle of a move. The
// node that was to get the slot has the only copy, and gets the slot: it is not among those
// that are given to whoever would have got them when the cluster was formed.
func TestKeysAtTheEndOfAnOpenSlotOutliveItsOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, pods := pair()
		from, to := w.Servers()[0], w.Servers()[1]
		key := slotKey(t, from)
		from.Put(key, 1)
		number := strconv.Itoa(slot.OfKey(key))
		say(t, w, to, "CLUSTER", "SETSLOT", number, "IMPORTING", from.ID)
		say(t, w, from, "CLUSTER", "SETSLOT", number, "MIGRATING", to.ID)
		say(t, w, from, "MIGRATE", pods[1].Host, "6379", "", "0", "1000", "KEYS", key)
		from.Wipe("the test")
		again := w.Add("c-0-0", from.Version, pods[0].Host+":6379")
		out := repair(t.Context(), &wire{world: w}, pods)
		if out.Result != converge.Converged || to.KeyVersion(key) != 1 || !to.Owns().Contains(slot.OfKey(key)) || again.Owns().Count() != slot.Bootstrap(0, 2).Count()-1 {
			t.Errorf("%+v", out)
		}
	})
}

// abandoned is a replica of a shard without slots whose primary is gone for good. It has restarted
// since it was in sync, so that the servers do not elect it.
func abandoned(t *testing.T, w *clustermodel.World, pods []survey.Pod) (*clustermodel.Server, []survey.Pod) {
	t.Helper()
	old, replica := w.Add("c-2-1", "9.1.2", "10.0.0.4:6379"), w.Add("c-2-0", "9.1.2", "10.0.0.3:6379")
	for _, s := range []*clustermodel.Server{old, replica} {
		say(t, w, s, "CLUSTER", "MEET", pods[0].Host, "6379")
	}
	time.Sleep(5 * time.Second)
	w.Advance(time.Now())
	say(t, w, replica, "CLUSTER", "REPLICATE", old.ID)
	time.Sleep(5 * time.Second)
	w.Advance(time.Now())
	old.Wipe("the test")
	w.Durable = true
	replica.Stop()
	replica.Start("10.0.0.3:6379")
	return replica, append(pods, survey.Pod{Name: "c-2-0", Shard: 2, Host: "10.0.0.3", Port: 6379})
}

// TestShardWithoutSlotsLosesItsPrimary for good before it ever got any: its replica, which is not
// elected, is made the primary, and gets slots.
func TestShardWithoutSlotsLosesItsPrimary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, pods := pair()
		replica, pods := abandoned(t, w, pods)
		out := converges(t.Context(), &wire{world: w}, pods, converge.Rebalance, plan.Desired{Shards: 3, Initialized: true, NodeTimeout: 5 * time.Second})
		if out.Result != converge.Converged || out.Steps["takeover"] != 1 || replica.Owns().Count() != 16384/3 {
			t.Errorf("%+v", out)
		}
	})
}

// TestReplicaOfADrainedShardHasKeysAndNoPrimary: they are deleted where the owners of their
// slots have them, and kept and told of otherwise.
func TestReplicaOfADrainedShardHasKeysAndNoPrimary(t *testing.T) {
	for _, elsewhere := range []bool{true, false} {
		t.Run(fmt.Sprintf("elsewhere %v", elsewhere), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, pods := pair()
				owner := w.Servers()[0]
				replica, pods := abandoned(t, w, pods)
				key := slotKey(t, owner)
				replica.Put(key, 1)
				if elsewhere {
					owner.Put(key, 2)
				}
				out := converges(t.Context(), &wire{world: w}, pods, converge.Drain, plan.Desired{Shards: 2, Initialized: true, NodeTimeout: 5 * time.Second})
				switch {
				case owner.Owns().Count() != 16384/2:
					t.Errorf("%+v", out)
				case elsewhere && (out.Result != converge.Converged || out.Steps["takeover"] != 1 || replica.KeyCount() > 0 || owner.KeyVersion(key) != 2):
					t.Errorf("%+v", out)
				case !elsewhere && (out.Result != converge.TimedOut || out.Steps["takeover"] > 0 || replica.KeyVersion(key) != 1 || !strings.Contains(out.Message, "1 of them are not at the owners of their slots")):
					t.Errorf("%+v", out)
				}
			})
		})
	}
}

// TestTargetOfAMoveHasKeysOfTheSlot: old copies go first. A key that the owner of the slot does
// not have keeps the slot where it is.
func TestTargetOfAMoveHasKeysOfTheSlot(t *testing.T) {
	for _, version := range []string{"8.1.1", "9.1.2"} {
		for _, only := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, only there %v", version, only), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { targetHasKeys(t, version, only) })
			})
		}
	}
}

func targetHasKeys(t *testing.T, version string, only bool) {
	w, pods := pairOf(version)
	from, to := w.Servers()[0], w.Servers()[1]
	tag := slotKey(t, from)
	n, other := slot.OfKey(tag), "{"+tag+"}"
	from.Put(tag, 2)
	to.Put(tag, 1)
	if only {
		to.Put(other, 1)
	}
	moved := &plan.Reshard{From: 0, To: 1, Slots: slot.Ranges{{First: n, Last: n}}}
	out := converges(t.Context(), &wire{world: w}, pods, converge.Reshard, plan.Desired{Shards: 2, Initialized: true, Reshard: moved})
	switch {
	case !only && (out.Result != converge.Converged || to.KeyVersion(tag) != 2 || !to.Owns().Contains(n)):
		t.Errorf("%+v", out)
	case only && (out.Result != converge.Stuck || out.Reason != converge.MoveFailed || to.KeyVersion(other) != 1 || !from.Owns().Contains(n) || from.Open()+to.Open() > 0):
		t.Errorf("%+v", out)
	}
}

// slotKey is a key of a slot that a server owns.
func slotKey(t *testing.T, s *clustermodel.Server) string {
	t.Helper()
	for i := range 1000 {
		if key := strconv.Itoa(i); s.Owns().Contains(slot.OfKey(key)) {
			return key
		}
	}
	t.Fatal("no key of 1000")
	return ""
}

// say has a server do a command, which it must not refuse.
func say(t *testing.T, w *clustermodel.World, s *clustermodel.Server, words ...string) {
	t.Helper()
	session, err := w.Connect(s.Address())
	if err != nil {
		t.Fatal(err)
	}
	if reply := session.Do(words...); reply.Err != nil {
		t.Fatal(words, reply.Err)
	}
}

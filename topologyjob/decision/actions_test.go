// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// byHand has a cluster whose slots nobody evens out.
func byHand(w *world) *world {
	w.Cluster.Spec.Rebalance = &v1alpha1.RebalanceSpec{Enabled: new(false)}
	return w
}

const move = `{"from":0,"to":1,"slots":10,"token":"a"}`

// TestActions: what is asked for by annotation, at first sight.
func TestActions(t *testing.T) {
	for _, s := range []struct {
		name              string
		w                 *world
		annotation, value string
		edit              func(*world)
		want, action      string
	}{
		{"a restart", formed(3, 1), v1alpha1.AnnotationRestart, "1", nil, "evict c-0-1", "Running"},
		{"a restart where the controller rolls", formed(3, 1), v1alpha1.AnnotationRestart, "1", func(w *world) {
			w.Cluster.Spec.Rollout = &v1alpha1.RolloutSpec{Mode: v1alpha1.RolloutStatefulSet}
		}, "evict c-0-1", "Running"},
		{"a restart waits for what is applied anew", formed(3, 1), v1alpha1.AnnotationRestart, "1", func(w *world) {
			w.Cluster.Spec.Delivery = v1alpha1.DeliveryInCluster
		}, "start apply-1 attempt 1", "Running"},
		{"a restart that would lose data", formed(3, 0), v1alpha1.AnnotationRestart, "1", func(w *world) {
			w.Cluster.Spec.Rollout = &v1alpha1.RolloutSpec{AllowDataLoss: new(false)}
		}, "roll refused", "Failed"},
		{"a suspended cluster", formed(3, 1), v1alpha1.AnnotationRestart, "1", func(w *world) { w.Cluster.Spec.Suspend = true }, "nothing", ""},
		{"a restart of one shard", formed(3, 1), v1alpha1.AnnotationRestartShard, "2:1", nil, "evict c-2-1", "Running"},
		{"a restart of no shard", formed(3, 1), v1alpha1.AnnotationRestartShard, "3:1", nil, "nothing", "Failed"},
		{"a restart of one shard without a token", formed(3, 1), v1alpha1.AnnotationRestartShard, "2", nil, "nothing", "Failed"},
		{"a reshard", byHand(formed(3, 1)), v1alpha1.AnnotationReshard, move, nil, "start reshard-1 attempt 1", "Running from=0,to=1,slots=5451-5460"},
		{"a reshard of given slots", byHand(formed(3, 1)), v1alpha1.AnnotationReshard, `{"from":0,"to":2,"slots":"7,20-21","token":"a"}`, nil, "start reshard-1 attempt 1", "Running from=0,to=2,slots=7,20-21"},
		{"a reshard that would be undone", formed(3, 1), v1alpha1.AnnotationReshard, move, nil, "nothing", "Failed"},
		{"a reshard of slots that are elsewhere", byHand(formed(3, 1)), v1alpha1.AnnotationReshard, `{"from":0,"to":1,"slots":"16000","token":"a"}`, nil, "nothing", "Failed"},
		{"a reshard to no shard", byHand(formed(3, 1)), v1alpha1.AnnotationReshard, `{"from":0,"to":7,"slots":1,"token":"a"}`, nil, "nothing", "Failed"},
		{"a reshard without a token", byHand(formed(3, 1)), v1alpha1.AnnotationReshard, `{"from":0,"to":1,"slots":1}`, nil, "nothing", "Failed"},
		{"a reshard of no slots", byHand(formed(3, 1)), v1alpha1.AnnotationReshard, `{"from":0,"to":1,"slots":"","token":"a"}`, nil, "nothing", "Failed"},
		{"a reshard of a topology without slots", replicated(2), v1alpha1.AnnotationReshard, move, nil, "nothing", "Failed"},
		{"a reshard waits until all pods agree", byHand(formed(3, 1)), v1alpha1.AnnotationReshard, move, func(w *world) { w.told(1, 1).LinkUp = false }, "nothing", "Running"},
		{"a failover", replicated(2), v1alpha1.AnnotationFailover, "1", nil, "start handover-1 attempt 1", "Running from c-0-0"},
		{"a failover to a pod", replicated(2), v1alpha1.AnnotationFailover, "1", func(w *world) {
			w.asks(v1alpha1.AnnotationFailoverTarget, "c-0-2")
		}, "start handover-1 attempt 1", "Running from c-0-0 to c-0-2"},
		{"a failover to no pod", replicated(2), v1alpha1.AnnotationFailover, "1", func(w *world) {
			w.asks(v1alpha1.AnnotationFailoverTarget, "c-0-3")
		}, "nothing", "Failed"},
		{"a failover to the primary", replicated(2), v1alpha1.AnnotationFailover, "1", func(w *world) {
			w.asks(v1alpha1.AnnotationFailoverTarget, "c-0-0")
		}, "nothing", "Succeeded from c-0-0 to c-0-0"},
		{"a failover in a shard", formed(3, 2), v1alpha1.AnnotationFailover, "1", func(w *world) {
			w.asks(v1alpha1.AnnotationFailoverTarget, "c-1-2")
		}, "start handover-1 attempt 1", "Running from c-1-0 to c-1-2"},
		{"a failover in no certain shard", formed(3, 1), v1alpha1.AnnotationFailover, "1", nil, "nothing", "Failed"},
		{"a failover without a replica that is in sync", formed(1, 1), v1alpha1.AnnotationFailover, "1", func(w *world) { w.told(0, 1).Offset = -1 << 30 }, "nothing", "Running from c-0-0"},
		{"a takeover that nothing needs", formed(3, 1), v1alpha1.AnnotationQuorumTakeover, "1", nil, "nothing", "Succeeded"},
		{"slots to give up that are not lost", formed(3, 1), v1alpha1.AnnotationAcceptSlotLoss, "0-10", nil, "nothing", "Succeeded"},
		{"slots to give up that are none", formed(3, 1), v1alpha1.AnnotationAcceptSlotLoss, "all", nil, "nothing", "Failed"},
		{"a retry", formed(3, 1), v1alpha1.AnnotationRetry, "1", nil, "nothing", "Succeeded"},
	} {
		t.Run(s.name, func(t *testing.T) {
			s.w.asks(s.annotation, s.value)
			if s.edit != nil {
				s.edit(s.w)
			}
			if got := s.w.looks().line(); got != s.want {
				t.Errorf("%s, want %s", got, s.want)
			}
			called := strings.TrimPrefix(s.annotation, v1alpha1.Group+"/")
			if got := s.w.action(called); got != s.action {
				t.Errorf("%q, want %q: %+v", got, s.action, s.w.Cluster.Status.Actions)
			}
			for _, a := range s.w.Cluster.Status.Actions {
				if over := a.Result != v1alpha1.ActionRunning; a.StartedAt == nil || over != (a.FinishedAt != nil) || over != (a.Message != "") {
					t.Errorf("%+v", a)
				}
			}
			// What has begun goes on, and what has ended does not begin again.
			before := slices.Clone(s.w.Cluster.Status.Actions)
			s.w.Now = s.w.Now.Add(time.Second)
			s.w.looks()
			if !slices.EqualFunc(before, s.w.Cluster.Status.Actions, func(a, b v1alpha1.ActionStatus) bool { return a.Result == b.Result && a.Progress == b.Progress }) {
				t.Errorf("%+v, then %+v", before, s.w.Cluster.Status.Actions)
			}
		})
	}
}

// TestARestartReplacesEveryPodOnce, replicas before the primary, which hands over.
func TestARestartReplacesEveryPodOnce(t *testing.T) {
	w := formed(2, 1)
	w.asks(v1alpha1.AnnotationRestart, "1")
	var did []string
	for range 20 {
		w.Now = w.Now.Add(time.Second)
		d := w.looks()
		for _, e := range d.Evict {
			did = append(did, e.Pod)
			for i := range w.Seen.Pods {
				if w.Seen.Pods[i].Name == e.Pod {
					w.Seen.Pods[i].Created = w.Now
				}
			}
		}
		for _, s := range d.Start {
			shard := int32(0)
			if slices.ContainsFunc(s.Args, func(arg string) bool { return arg == "--vacate=c-1-0" }) {
				shard = 1
			}
			did = append(did, s.Kind)
			w.handedOver(shard)
		}
	}
	if got, want := strings.Join(did, " "), "c-0-1 handover c-0-0 c-1-1 handover c-1-0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := w.action(actionRestart); got != "Succeeded" {
		t.Errorf("%s: %+v", got, w.Cluster.Status.Actions)
	}
	w.asks(v1alpha1.AnnotationRestart, "2")
	w.Now = w.Now.Add(time.Second)
	if got := w.looks().line(); got != "evict c-0-0" {
		t.Errorf("with another token: %s", got)
	}
}

// handedOver makes the two pods of a shard change places.
func (w *world) handedOver(shard int32) {
	for _, other := range []int32{0, 1} {
		a, b := w.told(shard, other), w.told(shard, 1-other)
		if a.Own().Replica {
			continue
		}
		a.Nodes[0].Slots, b.Nodes[0].Slots = nil, a.Nodes[0].Slots
		a.Nodes[0].Replica, a.Nodes[0].Primary, a.LinkUp = true, b.ID, true
		b.Nodes[0].Replica, b.Nodes[0].Primary, b.LinkUp = false, "", false
		b.Nodes[0].Epoch = a.Nodes[0].Epoch + 10
		break
	}
	w.gossip()
}

// TestAnActionThatIsTakenBackEnds and does not go on later.
func TestAnActionThatIsTakenBackEnds(t *testing.T) {
	w := formed(3, 1)
	w.asks(v1alpha1.AnnotationRestart, "1")
	w.looks()
	delete(w.Cluster.Annotations, v1alpha1.AnnotationRestart)
	if got := w.looks().line(); got != "nothing" || w.action(actionRestart) != "Failed" {
		t.Errorf("%s, %s", got, w.action(actionRestart))
	}
}

// TestAFailoverIsAskedForOnce: it is done when another pod is the primary, and given up when
// no replica may take over for a while.
func TestAFailoverIsAskedForOnce(t *testing.T) {
	w := formed(1, 1)
	w.asks(v1alpha1.AnnotationFailover, "1")
	w.looks()
	w.handedOver(0)
	if got := w.looks().line(); got != "nothing" || w.action(actionFailover) != "Succeeded from c-0-0" {
		t.Errorf("%s, %s", got, w.action(actionFailover))
	}
	w = formed(1, 1)
	w.asks(v1alpha1.AnnotationFailover, "1")
	w.told(0, 1).LinkUp = false
	w.looks()
	w.Now = w.Now.Add(failoverPatience + time.Second)
	w.looks()
	if got := w.action(actionFailover); got != "Failed from c-0-0" {
		t.Errorf("%s", got)
	}
}

// TestAFailoverHandsOverToTheTargetAlone.
func TestAFailoverHandsOverToTheTargetAlone(t *testing.T) {
	w := formed(3, 2)
	w.asks(v1alpha1.AnnotationFailover, "1")
	w.asks(v1alpha1.AnnotationFailoverTarget, "c-1-2")
	d := w.looks()
	if len(d.Start) != 1 {
		t.Fatalf("%+v", d)
	}
	for arg, want := range map[string]bool{"--vacate=c-1-0": true, "--vacate=c-1-1": true, "--vacate=c-1-2": false, "--vacate=c-0-0": false} {
		if got := slices.Contains(d.Start[0].Args, arg); got != want {
			t.Errorf("%s is %v in %v", arg, got, d.Start[0].Args)
		}
	}
}

// TestAReshardMovesTheSlotsThatWerePicked, whatever has happened to them when its Job is
// started again, and no more.
func TestAReshardMovesTheSlotsThatWerePicked(t *testing.T) {
	w := byHand(formed(3, 1))
	w.asks(v1alpha1.AnnotationReshard, move)
	first := w.looks()
	w.moves(slot.Of(slot.Range{First: 5451, Last: 5454}))
	again := w.looks()
	for _, d := range []Decision{first, again} {
		if len(d.Start) != 1 || !slices.Contains(d.Start[0].Args, "--reshard=from=0,to=1,slots=5451-5460") {
			t.Fatalf("%+v", d.Start)
		}
	}
	w.moves(slot.Of(slot.Range{First: 5455, Last: 5460}))
	if got := w.looks().line(); got != "nothing" || w.action(actionReshard) != "Succeeded from=0,to=1,slots=5451-5460" {
		t.Errorf("%s, %s", got, w.action(actionReshard))
	}
}

// TestAnEditedReshardNeedsAnotherToken: the slots that were picked are not those of another
// pair of shards.
func TestAnEditedReshardNeedsAnotherToken(t *testing.T) {
	w := byHand(formed(3, 1))
	w.asks(v1alpha1.AnnotationReshard, move)
	w.looks()
	w.asks(v1alpha1.AnnotationReshard, strings.Replace(move, `"to":1`, `"to":2`, 1))
	if got := w.looks().line(); got != "nothing" || w.action(actionReshard) != "Failed from=0,to=1,slots=5451-5460" {
		t.Errorf("edited: %s, %s", got, w.action(actionReshard))
	}
	w.asks(v1alpha1.AnnotationReshard, strings.NewReplacer(`"to":1`, `"to":2`, `"a"`, `"b"`).Replace(move))
	if got := w.looks().line(); got != "start reshard-1 attempt 1" || w.action(actionReshard) != "Running from=0,to=2,slots=5451-5460" {
		t.Errorf("asked for again: %s, %s", got, w.action(actionReshard))
	}
}

// moves gives slots of shard 0 to shard 1.
func (w *world) moves(slots slot.Ranges) {
	from, to := &w.told(0, 0).Nodes[0], &w.told(1, 0).Nodes[0]
	from.Slots, to.Slots = from.Slots.Minus(slots), to.Slots.Plus(slots)
	w.gossip()
}

// TestWhatIsAllowedIsAllowedOnce: after the Job that made use of it the next loss is another.
func TestWhatIsAllowedIsAllowedOnce(t *testing.T) {
	w := formed(3, 1)
	w.Cluster.Spec.Failover.QuorumTakeover = v1alpha1.QuorumTakeoverManual
	w.asks(v1alpha1.AnnotationQuorumTakeover, "1")
	w.majorityLost()
	if got := w.looks().line(); got != "start takeover-1 attempt 1" {
		t.Fatal(got)
	}
	w.Now = w.Now.Add(time.Minute)
	r := w.ran(job.Takeover, 1, 0, outcome.Converged)
	r.Created, r.Ended, r.Input = w.Now, w.Now, "used"
	w.looks()
	if got := w.action(actionTakeover); got != "Succeeded" {
		t.Errorf("%s", got)
	}
	if got := w.looks().line(); got != "blocked QuorumLost" {
		t.Errorf("the next loss: %s", got)
	}
}

// TestLostSlotsAreGivenUpOnce.
func TestLostSlotsAreGivenUpOnce(t *testing.T) {
	w := formed(3, 0)
	w.Cluster.Spec.Profile, w.Cluster.Spec.Storage = v1alpha1.ProfileDurable, &v1alpha1.StorageSpec{}
	w.told(1, 0).Nodes[0].Slots = nil
	w.told(1, 0).Keys = 0
	w.gossip()
	if got := w.looks().line(); got != "blocked SlotsLost" {
		t.Fatal(got)
	}
	w.asks(v1alpha1.AnnotationAcceptSlotLoss, "5461-10922")
	if got := w.looks().line(); got != "start repair-1 attempt 1" || w.action(actionAcceptLoss) != "Running" {
		t.Fatalf("%s, %s", got, w.action(actionAcceptLoss))
	}
	w.told(1, 0).Nodes[0].Slots = slot.Bootstrap(1, 3)
	w.gossip()
	w.looks()
	if got := w.action(actionAcceptLoss); got != "Succeeded" {
		t.Errorf("%s", got)
	}
	w.told(1, 0).Nodes[0].Slots = nil
	w.gossip()
	if got := w.looks().line(); got != "blocked SlotsLost" {
		t.Errorf("lost once more: %s", got)
	}
}

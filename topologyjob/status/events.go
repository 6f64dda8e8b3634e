// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// transition is what lies between two statuses.
type transition struct {
	*computation
	after *v1alpha1.ValkeyClusterStatus
	nodes []Node
	list  []Event
}

// events are those of the transition: of objects, then of the topology, then of Jobs and
// actions that ended, then of the status as a whole.
func (x *computation) events(after *v1alpha1.ValkeyClusterStatus, nodes []Node) []Event {
	t := transition{computation: x, after: after, nodes: nodes}
	t.ofNodes()
	t.ofTopology()
	t.ofJobs()
	t.ofActions()
	t.ofMoves()
	t.ofConditions()
	t.ofSettings()
	for i := range t.list {
		t.list[i].Message = clip(t.list[i].Message)
	}
	return t.list
}

func (t *transition) normal(reason, format string, args ...any) {
	t.list = append(t.list, Event{Reason: reason, Message: fmt.Sprintf(format, args...)})
}

func (t *transition) warn(reason, format string, args ...any) {
	t.list = append(t.list, Event{Warning: true, Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// became reports whether a condition has come to a status and reason that it did not have.
func (t *transition) became(kind string, status metav1.ConditionStatus, reason string) bool {
	now, before := find(t.after.Conditions, kind), find(t.before.Conditions, kind)
	is := func(c *metav1.Condition) bool {
		return c != nil && c.Status == status && (reason == "" || c.Reason == reason)
	}
	return is(now) && !is(before)
}

func (t *transition) ofNodes() {
	wanted := map[string]bool{}
	for _, n := range t.nodes {
		wanted[n.Name] = true
		if t.computation.nodes[n.Name] == nil {
			t.normal(v1alpha1.EventValkeyNodeCreated, v1alpha1.TextValkeyNodeCreated, n.Spec.Shard, n.Spec.Index)
		}
	}
	for _, live := range t.o.Nodes {
		if !wanted[live.Name] && live.DeletionTimestamp == nil {
			t.normal(v1alpha1.EventValkeyNodeDeleted, v1alpha1.TextValkeyNodeDeleted, live.Spec.Shard, live.Spec.Index)
		}
	}
	for _, f := range t.o.Failures {
		if f.Kind == v1alpha1.KindNode && f.Verb != VerbList && t.became(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonValkeyNodeError) {
			t.warn(v1alpha1.EventValkeyNodeFailed, "Failed to %s ValkeyNode %s: %s", f.Verb, f.Name, f.Message)
		}
		if f.Kind == "Secret" && t.became(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSystemUsersACLError) {
			reason := v1alpha1.EventInternalSecretsUpdateFailed
			if f.Verb == VerbCreate {
				reason = v1alpha1.EventInternalSecretsCreationFailed
			}
			t.warn(reason, "Failed to %s Secret %s: %s", f.Verb, f.Name, f.Message)
		}
	}
}

// ofTopology are the events of nodes that found their places since.
func (t *transition) ofTopology() {
	if t.became(v1alpha1.ConditionClusterInitialized, metav1.ConditionTrue, v1alpha1.ReasonAdoptedExisting) {
		t.normal(v1alpha1.EventAdoptedExisting, "Took over %d shards with %d nodes that knew each other", t.after.Shards, len(t.o.Pods))
		return
	}
	before := map[int32]v1alpha1.ShardStatus{}
	for _, d := range t.before.ShardDetails {
		before[d.Index] = d
	}
	if t.c.IsCluster() {
		t.meetings()
	}
	primaries := 0
	for _, d := range t.after.ShardDetails {
		old, existed := before[d.Index]
		if t.c.IsCluster() && d.SlotCount > 0 && (!existed || old.SlotCount == 0) && d.Health != v1alpha1.ShardDown {
			primaries++
			t.normal(v1alpha1.EventPrimaryCreated, v1alpha1.TextPrimaryCreated, t.address(d.Primary), strings.Join(d.SlotRanges, ","))
		}
		t.failedOver(d, old, existed)
	}
	if primaries > 0 {
		t.normal(v1alpha1.EventPrimariesCreated, v1alpha1.TextPrimariesCreated, primaries)
	}
	replicas := 0
	for _, d := range t.after.ShardDetails {
		replicas += t.attached(d, before[d.Index])
	}
	if replicas > 0 {
		t.normal(v1alpha1.EventReplicasAttached, v1alpha1.TextReplicasAttached, replicas)
	}
}

// meetings tells of nodes that have joined.
func (t *transition) meetings() {
	joined := 0
	for _, n := range t.nodes {
		if old := t.computation.nodes[n.Name]; n.Status.Role != "" && (old == nil || old.Status.Role == "") {
			joined++
		}
	}
	if joined > 0 {
		t.normal(v1alpha1.EventClusterMeetBatch, v1alpha1.TextClusterMeetBatch, joined)
	}
}

// attached tells of replicas that have found their primary for the first time.
func (t *transition) attached(d, old v1alpha1.ShardStatus) int {
	n := 0
	for _, pod := range d.Replicas {
		if node := t.computation.nodes[pod]; slices.Contains(old.Replicas, pod) || pod == old.Primary || node != nil && node.Status.Role == v1alpha1.RoleReplica {
			continue
		}
		n++
		of := d.PrimaryNodeID
		if of == "" {
			of = d.Primary
		}
		t.normal(v1alpha1.EventReplicaCreated, v1alpha1.TextReplicaCreated, of, d.Index)
	}
	return n
}

// failedOver tells of a shard that another pod is the primary of, whoever has brought that
// about.
func (t *transition) failedOver(d, old v1alpha1.ShardStatus, existed bool) {
	if !existed || old.Primary == "" || d.Primary == "" || d.Primary == old.Primary || d.Health == v1alpha1.ShardDown {
		return
	}
	t.failovers = append(t.failovers, t.how())
	t.normal(v1alpha1.EventFailoverCompleted, v1alpha1.TextFailoverCompleted, d.Primary, d.Index, old.Primary)
}

// address is the IP of a pod, its name while it has none.
func (t *transition) address(pod string) string {
	if p := t.pods[pod]; p != nil && p.IP != "" {
		return p.IP
	}
	return pod
}

// ofMoves are the events of slots that begin to move.
func (t *transition) ofMoves() {
	now, before := find(t.after.Conditions, v1alpha1.ConditionProgressing), find(t.before.Conditions, v1alpha1.ConditionProgressing)
	is := func(c *metav1.Condition, prefix string) bool {
		return c != nil && c.Status == metav1.ConditionTrue && c.Reason == v1alpha1.ReasonRebalancingSlots && strings.HasPrefix(c.Message, prefix)
	}
	for _, e := range []struct{ prefix, reason, text string }{
		{TextDraining, v1alpha1.EventSlotsDraining, "Moving slots away: "},
		{messageMoving, v1alpha1.EventSlotsRebalancing, ""},
		{messageMovePending, v1alpha1.EventSlotsRebalancePending, ""},
	} {
		if is(now, e.prefix) && !is(before, e.prefix) {
			t.normal(e.reason, "%s%s", e.text, now.Message)
		}
	}
}

// ofConditions are the events of the status as a whole.
func (t *transition) ofConditions() {
	switch {
	case t.became(v1alpha1.ConditionClusterFormed, metav1.ConditionFalse, v1alpha1.ReasonMissingShards):
		t.normal(v1alpha1.EventWaitingForShards, v1alpha1.TextWaitingForShards, t.c.ShardCount()-int32(t.missingShards()), t.c.ShardCount())
	case t.became(v1alpha1.ConditionClusterFormed, metav1.ConditionFalse, v1alpha1.ReasonMissingReplicas):
		t.normal(v1alpha1.EventWaitingForReplicas, "%s", find(t.after.Conditions, v1alpha1.ConditionClusterFormed).Message)
	}
	if t.became(v1alpha1.ConditionDegraded, metav1.ConditionTrue, v1alpha1.ReasonPodUnschedulable) {
		t.warn(v1alpha1.EventPodUnschedulable, "%s", t.conditions[v1alpha1.ConditionDegraded].Message)
	}
	if t.became(v1alpha1.ConditionConfigurationWarning, metav1.ConditionTrue, v1alpha1.ReasonGracePeriodTooShort) {
		t.warn(v1alpha1.EventGracePeriodTooShort, "%s", t.conditions[v1alpha1.ConditionConfigurationWarning].Message)
	}
	if t.became(v1alpha1.ConditionReady, metav1.ConditionTrue, "") {
		t.normal(v1alpha1.EventClusterReady, v1alpha1.TextClusterReady, t.after.Shards, t.c.ReplicaCount())
	}
}

// ofSettings are the events of nodes that refuse what is set: once for each time that it was
// tried, which is when a Job for it ends, and when it is first seen.
func (t *transition) ofSettings() {
	for _, what := range []struct{ condition, kind, reason, text string }{
		{v1alpha1.ConditionLiveConfigApplied, kindLiveConfig, v1alpha1.EventLiveConfigApplyFailed, "CONFIG SET failed: "},
		{v1alpha1.ConditionACLApplied, kindACL, v1alpha1.EventLiveACLApplyFailed, "ACL SETUSER failed: "},
	} {
		tried := slices.ContainsFunc(t.ended(), func(j *Job) bool { return j.Kind == what.kind && !j.Succeeded() })
		for _, n := range t.nodes {
			now := find(n.Status.Conditions, what.condition)
			if now == nil || now.Reason != v1alpha1.ReasonApplyFailed {
				continue
			}
			failedBefore := false
			if old := t.computation.nodes[n.Name]; old != nil {
				c := find(old.Status.Conditions, what.condition)
				failedBefore = c != nil && c.Reason == v1alpha1.ReasonApplyFailed
			}
			if tried || !failedBefore {
				t.list = append(t.list, Event{Node: n.Name, Warning: true, Reason: what.reason, Message: what.text + now.Message})
			}
		}
	}
}

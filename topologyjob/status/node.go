// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// claims are the claims of the wanted places, by name.
func (x *computation) claims() []*Claim {
	if !x.c.HasClaims() {
		return nil
	}
	var list []*Claim
	for i := range x.o.Claims {
		if c := &x.o.Claims[i]; c.Shard < x.c.ShardCount() && c.Index < x.c.PodsPerShard() {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *Claim) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// size is whether a claim has the size that is asked for, and what keeps it from that.
func (x *computation) size(c *Claim) (finding, bool) {
	wanted := x.c.StorageSize()
	asks := fmt.Sprintf("%s of %s", c.Capacity.String(), wanted.String())
	infeasible := finding{v1alpha1.ReasonPersistentVolumeClaimResizeInfeasible, fmt.Sprintf(
		"Claim %s cannot grow: %s. See that its StorageClass has allowVolumeExpansion and the storage has room", c.Name, cmp.Or(c.ResizeMessage, "the storage refuses"))}
	switch {
	case c.Phase != corev1.ClaimBound:
		return finding{v1alpha1.ReasonPersistentVolumeClaimResizePending, "Waiting for claim " + c.Name + " to be bound"}, false
	case c.Capacity.Cmp(wanted) >= 0:
		return finding{v1alpha1.ReasonPersistentVolumeClaimSizeSatisfied, "Claim " + c.Name + " has the size asked for"}, true
	case c.Resize == ResizeInfeasible:
		return infeasible, false
	case c.Resize == ResizeInProgress:
		return finding{v1alpha1.ReasonPersistentVolumeClaimResizeInProgress, "Claim " + c.Name + " is growing: " + asks}, false
	}
	return finding{v1alpha1.ReasonPersistentVolumeClaimResizePending, strings.TrimSuffix("Claim "+c.Name+" is to grow: "+asks+": "+c.ResizeMessage, ": ")}, false
}

// valkeyNodes are the ValkeyNodes as they are to be: one for each place that is wanted, and
// for each pod that is beyond that.
func (x *computation) valkeyNodes() []Node {
	type at struct{ shard, index int32 }
	var places []at
	for shard := range x.c.ShardCount() {
		for index := range x.c.PodsPerShard() {
			places = append(places, at{shard, index})
		}
	}
	for _, p := range x.o.Pods {
		if !p.Sentinel && p.Shard >= 0 && p.Index >= 0 && !slices.Contains(places, at{p.Shard, p.Index}) {
			places = append(places, at{p.Shard, p.Index})
		}
	}
	slices.SortFunc(places, func(a, b at) int {
		return cmp.Or(cmp.Compare(a.shard, b.shard), cmp.Compare(a.index, b.index))
	})
	servers := map[string]*server{}
	for i := range x.servers {
		servers[x.servers[i].Pod] = &x.servers[i]
	}
	claims := map[string]*Claim{}
	for i := range x.o.Claims {
		claims[x.o.Claims[i].Name] = &x.o.Claims[i]
	}
	var list []Node
	for _, p := range places {
		pod := name.Pod(x.c.Name, p.shard, p.index)
		n := nodeComputation{
			computation: x, pod: pod, live: x.pods[pod], server: servers[pod], set: x.sets[name.StatefulSet(x.c.Name, p.shard)],
			claim: claims[name.Claim(x.c.Name, p.shard, p.index)], conditions: conditions{},
		}
		list = append(list, Node{
			Name: pod, Spec: v1alpha1.ValkeyNodeSpec{Cluster: x.c.Name, Shard: p.shard, Index: p.index}, Status: n.status(),
		})
	}
	return list
}

// nodeComputation is the status of one ValkeyNode.
type nodeComputation struct {
	*computation
	pod        string
	live       *Pod
	server     *server
	set        *StatefulSet
	claim      *Claim
	conditions conditions
}

func (n *nodeComputation) status() v1alpha1.ValkeyNodeStatus {
	var s v1alpha1.ValkeyNodeStatus
	generation := int64(1) // its spec is immutable
	if old := n.nodes[n.pod]; old != nil {
		s = *old.Status.DeepCopy()
		generation = max(1, old.Generation)
	}
	before := s.Conditions
	s.ObservedGeneration, s.PodName, s.PodIP = generation, n.pod, ""
	if n.live != nil {
		s.PodIP = n.live.IP
	}
	n.told(&s)
	n.readiness()
	n.storage()
	n.settings()
	s.Ready = n.conditions.isTrue(v1alpha1.ConditionReady)
	s.Conditions = n.conditions.list(before, generation, n.now)
	return s
}

// told takes over what the server said. What a silent one was stays, but for a primary that
// another has replaced.
func (n *nodeComputation) told(s *v1alpha1.ValkeyNodeStatus) {
	if n.server != nil && n.server.answered() {
		s.NodeID, s.Version, s.Slots = n.server.NodeID, n.server.Version, n.server.Slots.String()
		switch {
		case n.c.IsCluster() && !n.server.Joined:
			s.Role = ""
		default:
			s.Role = n.server.Role
		}
		return
	}
	shard, _ := place(n.pod)
	d := n.detail(shard)
	if !n.asked || d == nil || d.Primary == n.pod {
		return
	}
	if s.Role == v1alpha1.RolePrimary {
		s.Role, s.Slots = v1alpha1.RoleReplica, ""
	}
}

// readiness: the pod runs, is ready, and is of the current revision.
func (n *nodeComputation) readiness() {
	const kind = v1alpha1.ConditionReady
	p := n.live
	no := func(format string, args ...any) {
		n.conditions.set(kind, false, finding{v1alpha1.ReasonPodNotReady, fmt.Sprintf(format, args...)})
	}
	switch {
	case n.c.HasClaims() && (n.claim == nil || n.claim.Phase != corev1.ClaimBound) && (p == nil || !p.Ready):
		n.conditions.set(kind, false, finding{v1alpha1.ReasonPersistentVolumeClaimPending, n.claimState()})
	case p == nil && n.c.Spec.Hibernate:
		no("The cluster hibernates")
	case p == nil:
		no("Pod %s is missing", n.pod)
	case p.Deleting:
		no("Pod %s stops", n.pod)
	case p.Unschedulable != "":
		no("Pod %s has no node: %s", n.pod, p.Unschedulable)
	case p.Waiting != "":
		no("Pod %s, container %s: %s: %s", n.pod, p.WaitingContainer, p.Waiting, p.WaitingMessage)
	case !p.Ready:
		no("Pod %s is not ready", n.pod)
	case n.old(p):
		no("Pod %s runs an older template", n.pod)
	default:
		n.conditions.set(kind, true, finding{v1alpha1.ReasonPodRunning, "Pod " + n.pod + " is ready"})
	}
}

// claimState says what is wrong with the claim.
func (n *nodeComputation) claimState() string {
	shard, index := place(n.pod)
	claim := name.Claim(n.c.Name, shard, index)
	if n.claim == nil {
		return "Claim " + claim + " is missing"
	}
	return "Claim " + claim + " is not bound"
}

// storage: the claim is bound, and as large as asked for.
func (n *nodeComputation) storage() {
	if !n.c.HasClaims() {
		return
	}
	if n.claim == nil || n.claim.Phase != corev1.ClaimBound {
		pending := finding{v1alpha1.ReasonPersistentVolumeClaimPending, n.claimState()}
		n.conditions.set(v1alpha1.ConditionPersistentVolumeClaimReady, false, pending)
		n.conditions.set(v1alpha1.ConditionPersistentVolumeClaimSizeReady, false,
			finding{v1alpha1.ReasonPersistentVolumeClaimResizePending, pending.message})
		return
	}
	n.conditions.set(v1alpha1.ConditionPersistentVolumeClaimReady, true,
		finding{v1alpha1.ReasonPersistentVolumeClaimBound, "Claim " + n.claim.Name + " is bound"})
	f, done := n.size(n.claim)
	n.conditions.set(v1alpha1.ConditionPersistentVolumeClaimSizeReady, done, f)
}

// settings: what was set on the running server.
func (n *nodeComputation) settings() {
	known := n.o.Settings[n.pod]
	set := func(kind string, s *Setting, what string) {
		message := s.Message
		if message == "" {
			message = what
			if s.Reason != v1alpha1.ReasonApplied {
				message += ": not yet"
			}
		}
		n.conditions.set(kind, s.Reason == v1alpha1.ReasonApplied, finding{s.Reason, message})
	}
	// The contract has this one only while the node is ready.
	if known.LiveConfig != nil && (n.conditions.isTrue(v1alpha1.ConditionReady) || known.LiveConfig.Reason == v1alpha1.ReasonApplyFailed) {
		set(v1alpha1.ConditionLiveConfigApplied, known.LiveConfig, "Live config applied")
	}
	switch {
	case known.ACL != nil:
		set(v1alpha1.ConditionACLApplied, known.ACL, "Users applied")
	default:
		set(v1alpha1.ConditionACLApplied, &Setting{Reason: v1alpha1.ReasonPending}, "Users applied")
	}
	switch {
	case !n.c.TLSEnabled():
	case known.TLS != nil:
		set(v1alpha1.ConditionTLSReloaded, known.TLS, "Certificate served")
	default:
		set(v1alpha1.ConditionTLSReloaded, &Setting{Reason: v1alpha1.ReasonPending}, "Certificate served")
	}
}

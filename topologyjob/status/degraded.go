// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// degraded is the worst that impairs the cluster, nil when nothing does. A cluster that was
// asked to have no pods has nothing that could be impaired.
func (x *computation) degraded() *finding {
	if x.c.Spec.Hibernate {
		return nil
	}
	for _, look := range []func() *finding{
		x.blocked, x.scaledDown, x.quorumLost, x.primaryDown, x.unreachable, x.claimTrouble, x.scaledUp, x.podTrouble, x.restartWouldFail,
		x.jobFailed, x.settingRefused, x.notSyncing, x.replicasUnavailable, x.orphaned,
	} {
		if f := look(); f != nil {
			return f
		}
	}
	return nil
}

// blocked: data that nobody but a human may decide about.
func (x *computation) blocked() *finding {
	b := x.o.Next.Blocked
	if b == nil {
		return nil
	}
	switch b.Reason {
	case v1alpha1.ReasonForeignData, v1alpha1.ReasonSlotsLost, v1alpha1.ReasonQuorumLost, v1alpha1.ReasonPrimaryDown:
		return &finding{b.Reason, b.Message}
	}
	// What was given up is no impairment of what serves: the cluster is Failed, not Degraded.
	return nil
}

// quorumLost: most primaries, or most Sentinels, do not answer, so that no failover can be
// voted.
func (x *computation) quorumLost() *finding {
	if !x.initialized {
		return nil
	}
	if x.c.IsCluster() {
		down, all := 0, 0
		for _, d := range x.details {
			if d.SlotCount == 0 {
				continue
			}
			all++
			if d.Health == v1alpha1.ShardDown {
				down++
			}
		}
		if all > 0 && all-down < all/2+1 {
			return &finding{v1alpha1.ReasonQuorumLost, fmt.Sprintf("%d of %d primaries do not serve: replicas cannot be voted for", down, all)}
		}
		return nil
	}
	if wanted := x.c.SentinelReplicas(); wanted > 0 && !x.rolling() && !x.does(WorkApply) {
		ready := int32(0)
		for _, p := range x.o.Pods {
			if p.Sentinel && p.Ready && !p.Deleting {
				ready++
			}
		}
		if ready < wanted/2+1 {
			return &finding{v1alpha1.ReasonQuorumLost, fmt.Sprintf("%d of %d Sentinels are ready: no failover can be voted", ready, wanted)}
		}
	}
	return nil
}

// primaryDown: a shard has no primary that serves.
func (x *computation) primaryDown() *finding {
	available := x.conditions[v1alpha1.ConditionAvailable]
	if !x.initialized || available.Reason != v1alpha1.ReasonPrimaryDown && available.Reason != v1alpha1.ReasonSlotsUncovered || len(x.withHealth(v1alpha1.ShardUnknown)) > 0 {
		return nil
	}
	text := available.Message
	if f := x.podTrouble(); f != nil {
		text += ". " + f.message
	}
	return &finding{v1alpha1.ReasonPrimaryDown, text}
}

// unreachable: pods are ready, and their servers do not answer us.
func (x *computation) unreachable() *finding {
	var list []string
	for i := range x.servers {
		s := &x.servers[i]
		if p := x.pods[s.Pod]; !s.answered() && p != nil && p.Ready && !p.Deleting {
			list = append(list, fmt.Sprintf("pod %s: %s: %s", s.Pod, s.Problem.Code, s.Problem.Message))
		}
	}
	if len(list) == 0 || !x.initialized || len(x.withHealth(v1alpha1.ShardUnknown)) == 0 {
		return nil
	}
	return &finding{v1alpha1.ReasonPrimaryUnreachable, "Ready, and closed to the reconciler: " + some(list) +
		". Check network policies, the Secret " + name.SystemSecret(x.c.Name) + " and the certificate"}
}

// claimTrouble: the volume of a pod that had one is gone, or will be.
func (x *computation) claimTrouble() *finding {
	if !x.c.HasClaims() || !x.initialized {
		return nil
	}
	claims := map[string]*Claim{}
	for i := range x.o.Claims {
		claims[x.o.Claims[i].Name] = &x.o.Claims[i]
	}
	var list, missing []string
	for shard := range x.c.ShardCount() {
		for index := range x.c.PodsPerShard() {
			claim, pod := name.Claim(x.c.Name, shard, index), name.Pod(x.c.Name, shard, index)
			switch live := claims[claim]; {
			case live == nil && x.belongs(pod):
				missing = append(missing, "claim "+claim)
			case live != nil && live.Deleting:
				list = append(list, fmt.Sprintf("claim %s is being deleted, which nothing takes back: its data goes when pod %s stops. "+
					"While a replica has the data, delete the pod to get both anew; else save it first", claim, pod))
			case live != nil && live.Phase == corev1.ClaimLost:
				list = append(list, fmt.Sprintf("claim %s has lost its volume: restore the volume, or delete claim and pod", claim))
			}
		}
	}
	if len(missing) > 0 {
		list = append(list, some(missing)+" missing: "+x.applyAgain())
	}
	if len(list) == 0 {
		return nil
	}
	return &finding{v1alpha1.ReasonPersistentVolumeClaimLost, some(list)}
}

// restartWouldFail: a server would not start with its files.
func (x *computation) restartWouldFail() *finding {
	if text := x.o.Next.RestartWouldFail; text != "" {
		return &finding{v1alpha1.ReasonRestartWouldFail, text}
	}
	return nil
}

// settingRefused: a server refused live directives, so rolls wait.
func (x *computation) settingRefused() *finding {
	var list []string
	for _, pod := range x.settled() {
		if s := x.o.Settings[pod].LiveConfig; s != nil && s.Reason == v1alpha1.ReasonApplyFailed {
			list = append(list, "pod "+pod+": "+s.Message)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return &finding{v1alpha1.ReasonApplyFailed, "A server refuses live directives, so nothing is rolled: " + some(list)}
}

// settled are the pods that something is known to be set on, sorted.
func (x *computation) settled() []string {
	var names []string
	for n := range x.o.Settings {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// notSyncing: a replica that answers has no link to its primary, and takes no full copy, for
// longer than it needs to find it. Not in rolls.
func (x *computation) notSyncing() *finding {
	if !x.initialized || x.rolling() {
		return nil
	}
	var list []string
	for i := range x.servers {
		s, pod := &x.servers[i], x.pods[x.servers[i].Pod]
		if !s.answered() || s.Role != v1alpha1.RoleReplica || s.LinkUp || s.Syncing || !x.places(s.Pod) || pod == nil || !x.after(pod.Created, linkGrace) {
			continue
		}
		list = append(list, fmt.Sprintf("pod %s has no link to its primary", s.Pod))
	}
	if len(list) == 0 {
		return nil
	}
	return &finding{v1alpha1.ReasonReplicaNotSyncing, some(list)}
}

// replicasUnavailable: replicas that were there do not answer, outside of rolls. Those that
// are new, or answer and are yet to be attached, are on their way.
func (x *computation) replicasUnavailable() *finding {
	if !x.initialized || x.rolling() {
		return nil
	}
	var list []string
	for _, d := range x.details {
		if d.Health != v1alpha1.ShardDegraded {
			continue
		}
		for index := range x.c.PodsPerShard() {
			pod := name.Pod(x.c.Name, d.Index, index)
			if x.answers(pod) || !x.belongs(pod) {
				continue
			}
			list = append(list, fmt.Sprintf("shard %d lacks replica %s", d.Index, pod))
		}
	}
	if len(list) == 0 {
		return nil
	}
	return &finding{v1alpha1.ReasonReplicasUnavailable, some(list)}
}

// belongs is whether a pod has a role, or had one before it fell silent.
func (x *computation) belongs(pod string) bool {
	for i := range x.servers {
		if s := &x.servers[i]; s.Pod == pod && s.answered() {
			return s.Joined || !x.c.IsCluster()
		}
	}
	node := x.nodes[pod]
	return node != nil && node.Status.Role != ""
}

// answers is whether the server of a pod told what it is.
func (x *computation) answers(pod string) bool {
	return slices.ContainsFunc(x.servers, func(s server) bool { return s.Pod == pod && s.answered() })
}

// places is whether a pod has a place in what is wanted.
func (x *computation) places(pod string) bool {
	shard, index := place(pod)
	return shard < x.c.ShardCount() && index < x.c.PodsPerShard()
}

// orphaned: StatefulSets of ours belong to no ValkeyCluster.
func (x *computation) orphaned() *finding {
	if len(x.o.Orphans) == 0 {
		return nil
	}
	return &finding{v1alpha1.ReasonOrphaned, fmt.Sprintf(
		"StatefulSets without a ValkeyCluster: %s. Nobody fails them over. Apply their ValkeyCluster again, or delete them", some(x.o.Orphans))}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// DefaultVersion is the Valkey minor version of a spec that names none.
	DefaultVersion = "9.1"
	// MaxShards is the most shards that a cluster may ask for.
	MaxShards = 500
	// MaxReplicasPerShard is the most replicas beside one primary.
	MaxReplicasPerShard = 5

	defaultShards           = 3
	defaultReplicasPerShard = 1
	defaultReplicas         = 3
	defaultSentinels        = 3

	defaultDownAfter   = 5 * time.Second
	defaultNodeTimeout = 2 * time.Second
	defaultDetection   = 3 * time.Second

	defaultMoves      = 4
	defaultBatchSlots = 512
)

// Versions returns the Valkey minor versions that are known, oldest first.
func Versions() []string { return []string{"8.0", "8.1", "9.0", "9.1"} }

// ServerVersion returns the minor version of the server, as "9.1".
func (c *ValkeyCluster) ServerVersion() string {
	return cmp.Or(c.Spec.Version, DefaultVersion)
}

// AtLeast says whether the server's version is the given minor version or a
// later one. An unparsable version is older than every other.
func (c *ValkeyCluster) AtLeast(version string) bool {
	return slices.Compare(versionNumbers(c.ServerVersion()), versionNumbers(version)) >= 0
}

// versionNumbers splits "9.1" into its numbers; nil when one is not a number.
func versionNumbers(version string) []int {
	var numbers []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// EffectiveTopology returns the topology, Cluster when none is named.
func (c *ValkeyCluster) EffectiveTopology() Topology {
	return cmp.Or(c.Spec.Topology, TopologyCluster)
}

// EffectiveProfile returns the profile, Cache when none is named.
func (c *ValkeyCluster) EffectiveProfile() Profile {
	return cmp.Or(c.Spec.Profile, ProfileCache)
}

// IsCluster says whether the topology has hash slots.
func (c *ValkeyCluster) IsCluster() bool { return c.EffectiveTopology() == TopologyCluster }

// IsSentinel says whether Sentinel pods watch the primary.
func (c *ValkeyCluster) IsSentinel() bool { return c.EffectiveTopology() == TopologySentinel }

// HasRoles reports whether the cluster has one primary that clients find by a Service, and
// not by where the slots are.
func (c *ValkeyCluster) HasRoles() bool {
	t := c.EffectiveTopology()
	return t == TopologyReplication || t == TopologySentinel
}

// IsDurable says whether the profile is Durable.
func (c *ValkeyCluster) IsDurable() bool { return c.EffectiveProfile() == ProfileDurable }

// ShardCount returns the number of shards asked for; 1 for the topologies
// without slots.
func (c *ValkeyCluster) ShardCount() int32 {
	if !c.IsCluster() {
		return 1
	}
	return deref(c.Spec.Shards, defaultShards)
}

// PodsPerShard returns the number of data pods of one shard, primary included.
func (c *ValkeyCluster) PodsPerShard() int32 {
	switch c.EffectiveTopology() {
	case TopologyCluster:
		return 1 + deref(c.Spec.ReplicasPerShard, defaultReplicasPerShard)
	case TopologyStandalone:
		return deref(c.Spec.Replicas, 1)
	default:
		return deref(c.Spec.Replicas, defaultReplicas)
	}
}

// ReplicaCount returns the number of replicas beside the primary of one shard.
func (c *ValkeyCluster) ReplicaCount() int32 { return c.PodsPerShard() - 1 }

// SentinelReplicas returns the number of Sentinel pods; 0 for the other
// topologies.
func (c *ValkeyCluster) SentinelReplicas() int32 {
	if !c.IsSentinel() {
		return 0
	}
	if c.Spec.Sentinel == nil {
		return defaultSentinels
	}
	return deref(c.Spec.Sentinel.Replicas, defaultSentinels)
}

// SentinelQuorum returns how many Sentinels must agree that the primary is
// down; by default their majority.
func (c *ValkeyCluster) SentinelQuorum() int32 {
	majority := c.SentinelReplicas()/2 + 1
	if c.Spec.Sentinel == nil {
		return majority
	}
	return deref(c.Spec.Sentinel.Quorum, majority)
}

// SentinelDownAfter returns how long a primary may be silent.
func (c *ValkeyCluster) SentinelDownAfter() time.Duration {
	if c.Spec.Sentinel == nil || c.Spec.Sentinel.DownAfter == nil {
		return defaultDownAfter
	}
	return c.Spec.Sentinel.DownAfter.Duration
}

// NodeTimeout returns cluster-node-timeout.
func (c *ValkeyCluster) NodeTimeout() time.Duration {
	if c.Spec.Failover == nil || c.Spec.Failover.NodeTimeout == nil {
		return defaultNodeTimeout
	}
	return c.Spec.Failover.NodeTimeout.Duration
}

// Detection returns after which silence the reconciler replaces the primary of
// topology Replication.
func (c *ValkeyCluster) Detection() time.Duration {
	if c.Spec.Failover == nil || c.Spec.Failover.Detection == nil {
		return defaultDetection
	}
	return c.Spec.Failover.Detection.Duration
}

// QuorumTakeover says who decides when most primaries are lost: Auto for
// profile Cache, Manual for Durable.
func (c *ValkeyCluster) QuorumTakeover() QuorumTakeover {
	switch {
	case c.Spec.Failover != nil && c.Spec.Failover.QuorumTakeover != "":
		return c.Spec.Failover.QuorumTakeover
	case c.IsDurable():
		return QuorumTakeoverManual
	default:
		return QuorumTakeoverAuto
	}
}

// RebalanceEnabled says whether slots move to new shards by themselves.
func (c *ValkeyCluster) RebalanceEnabled() bool {
	return c.Spec.Rebalance == nil || deref(c.Spec.Rebalance.Enabled, true)
}

// RebalanceMaxConcurrent returns how many slot moves run at a time.
func (c *ValkeyCluster) RebalanceMaxConcurrent() int32 {
	if c.Spec.Rebalance == nil {
		return defaultMoves
	}
	return deref(c.Spec.Rebalance.MaxConcurrent, defaultMoves)
}

// RebalanceBatchSlots returns how many slots one move takes.
func (c *ValkeyCluster) RebalanceBatchSlots() int32 {
	if c.Spec.Rebalance == nil {
		return defaultBatchSlots
	}
	return deref(c.Spec.Rebalance.BatchSlots, defaultBatchSlots)
}

// EffectiveDelivery says who applies the rendered objects; InCluster by default.
func (c *ValkeyCluster) EffectiveDelivery() Delivery {
	return cmp.Or(c.Spec.Delivery, DeliveryInCluster)
}

// EffectiveJobs says where topology Jobs come from; the Reconciler by default.
func (c *ValkeyCluster) EffectiveJobs() JobsMode {
	return cmp.Or(c.Spec.Jobs, JobsReconciler)
}

// RolloutMode says who drives a roll: Orchestrated, or StatefulSet with
// rendered Jobs, since those have no reconciler.
func (c *ValkeyCluster) RolloutMode() RolloutMode {
	switch {
	case c.Spec.Rollout != nil && c.Spec.Rollout.Mode != "":
		return c.Spec.Rollout.Mode
	case c.EffectiveJobs() == JobsRendered:
		return RolloutStatefulSet
	default:
		return RolloutOrchestrated
	}
}

// MaxParallelShards returns how many shards are rolled at the same time.
func (c *ValkeyCluster) MaxParallelShards() int32 {
	if c.Spec.Rollout == nil {
		return 1
	}
	return deref(c.Spec.Rollout.MaxParallelShards, 1)
}

// DataLossAllowed says whether a pod may be rolled whose data exists nowhere
// else: by default only for profile Cache without replicas.
func (c *ValkeyCluster) DataLossAllowed() bool {
	byDefault := !c.IsDurable() && c.ReplicaCount() < 1
	if c.Spec.Rollout == nil {
		return byDefault
	}
	return deref(c.Spec.Rollout.AllowDataLoss, byDefault)
}

// DeletionGuarded says whether deleting the ValkeyCluster is denied until the
// policy is Allow: with Guard, and without a policy when Durable.
func (c *ValkeyCluster) DeletionGuarded() bool {
	return c.Spec.DeletionPolicy == DeletionGuard || c.Spec.DeletionPolicy == "" && c.IsDurable()
}

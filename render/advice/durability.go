// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/conf"
	"github.com/valkey-render/valkey-render/render/finding"
)

// dataWithoutReplica: a lost volume is then lost data, and every roll an outage.
func dataWithoutReplica(c *v1alpha1.ValkeyCluster) []Advice {
	if !c.IsDurable() || c.PodsPerShard() > 1 || c.Spec.Topology == v1alpha1.TopologyStandalone {
		return nil
	}
	field := "replicas"
	if c.IsCluster() {
		field = "replicasPerShard"
	}
	return one(finding.NoReplica, spec().Child(field),
		"durable data without a replica: a lost volume is lost data, and every restart an outage; ask for at least one replica")
}

// durableLosesWrites: snapshots alone lose what came after the last one, and so
// does an append-only file that the kernel flushes when it likes.
func durableLosesWrites(c *v1alpha1.ValkeyCluster) []Advice {
	if !c.IsDurable() || c.Spec.Storage == nil {
		return nil
	}
	if c.Spec.Storage.Mode == v1alpha1.StorageRDB {
		return one(finding.NotPersisted, spec().Child("storage", "mode"),
			"durable data in snapshots only: a crash loses what was written since the last one; use both")
	}
	if v, ok := c.ConfigValue("appendfsync"); ok && strings.EqualFold(v, "no") {
		return one(finding.NotPersisted, spec().Child("config").Key("appendfsync"),
			"appendfsync no leaves it to the kernel when writes reach the disk, up to half a minute later; use everysec or always")
	}
	return nil
}

// oneReplicaAcknowledges: with a single replica min-replicas-to-write would stop
// writes whenever that replica is away, so it is not rendered.
func oneReplicaAcknowledges(c *v1alpha1.ValkeyCluster) []Advice {
	switch c.Spec.Topology {
	case v1alpha1.TopologyReplication, v1alpha1.TopologySentinel:
	default:
		return nil
	}
	if !c.IsDurable() || c.PodsPerShard() != 2 {
		return nil
	}
	return one(finding.AcknowledgedAlone, spec().Child("replicas"),
		"with a single replica writes are acknowledged while it is away (min-replicas-to-write would stop them); two replicas make a durable primary wait for one")
}

// evictionContradictsProfile: a durable cluster that evicts loses data by design,
// and a cache that does not evict stops taking writes.
func evictionContradictsProfile(c *v1alpha1.ValkeyCluster) []Advice {
	policy, ok := c.ConfigValue("maxmemory-policy")
	if !ok {
		return nil
	}
	path := spec().Child("config").Key("maxmemory-policy")
	none := strings.EqualFold(policy, "noeviction")
	switch {
	case c.IsDurable() && !none:
		return one(finding.EvictionContradicts, path, "profile Durable with %s drops keys when memory is full; use noeviction, or profile Cache", policy)
	case !c.IsDurable() && none:
		return one(finding.EvictionContradicts, path, "profile Cache with noeviction refuses writes when memory is full; use an eviction policy such as allkeys-lru")
	}
	return nil
}

// claimsDeletedWithWorkload: the data goes with the StatefulSet, also when that
// was a mistake. The field is served since Kubernetes 1.27 and stable since 1.32.
func claimsDeletedWithWorkload(c *v1alpha1.ValkeyCluster) []Advice {
	if s := c.Spec.Storage; s == nil || s.ReclaimPolicy != v1alpha1.ReclaimDelete {
		return nil
	}
	return one(finding.ClaimsDeleted, spec().Child("storage", "reclaimPolicy"),
		"Delete removes the claims, and the data, together with the StatefulSet; persistentVolumeClaimRetentionPolicy is stable from Kubernetes 1.32 on")
}

// volumeTooSmall: while the append-only file is rewritten the old and the new one
// are both on the volume, and a snapshot beside them.
func volumeTooSmall(c *v1alpha1.ValkeyCluster) []Advice {
	s := c.Spec.Storage
	if !c.Persisted() || s.Size == nil {
		return nil
	}
	q, ok := limit(c, corev1.ResourceMemory)
	if !ok {
		return nil
	}
	factor := int64(2)
	if s.Mode == v1alpha1.StorageBoth {
		factor = 3
	}
	used, ok := conf.Maxmemory(c)
	if !ok {
		used = q.Value()
	}
	if s.Size.Value() >= factor*used {
		return nil
	}
	return one(finding.NoStorageHeadroom, spec().Child("storage", "size"),
		"%s may not hold %d times the data that memory allows (%d bytes), which storage mode %s needs while it rewrites; a full disk stops the server", s.Size.String(), factor, used, s.Mode)
}

// takeoverLosesWrites: a takeover without a vote can leave two primaries, of which
// one loses what it acknowledged.
func takeoverLosesWrites(c *v1alpha1.ValkeyCluster) []Advice {
	if !c.IsCluster() || !c.IsDurable() || c.Spec.Failover == nil ||
		c.Spec.Failover.QuorumTakeover != v1alpha1.QuorumTakeoverAuto {
		return nil
	}
	return one(finding.TakeoverLosesWrites, spec().Child("failover", "quorumTakeover"),
		"Auto promotes replicas without a vote when most primaries are lost; durable writes that had not reached them are gone; use Manual")
}

// newShardsStayEmpty: without a rebalance a shard that was added owns no slots.
func newShardsStayEmpty(c *v1alpha1.ValkeyCluster) []Advice {
	if !c.IsCluster() || c.RebalanceEnabled() {
		return nil
	}
	return one(finding.ShardsStayEmpty, spec().Child("rebalance", "enabled"),
		"shards that are added own no slots until a reshard is asked for by annotation")
}

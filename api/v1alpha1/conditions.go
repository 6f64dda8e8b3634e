// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Types of the conditions of a ValkeyCluster.
const (
	// ConditionReady is True when all shards exist with the right number of
	// nodes, every replica is linked, and every slot is served.
	ConditionReady = "Ready"
	// ConditionProgressing is True while something is made, changed or moved.
	ConditionProgressing = "Progressing"
	// ConditionDegraded is True while the cluster is impaired. It is absent, not
	// False, when it is not.
	ConditionDegraded = "Degraded"
	// ConditionClusterFormed is True when all nodes have joined and make the
	// shards and replicas asked for. Without slots: every replica is attached to
	// the one primary.
	ConditionClusterFormed = "ClusterFormed"
	// ConditionSlotsAssigned is True when all 16384 slots have an owner. Absent
	// for the topologies without slots.
	ConditionSlotsAssigned = "SlotsAssigned"
	// ConditionConfigurationWarning is True while something risky that the spec
	// asks for is in effect. It is absent otherwise.
	ConditionConfigurationWarning = "ConfigurationWarning"
	// ConditionAvailable is True while writes are possible on every shard.
	ConditionAvailable = "Available"
	// ConditionClusterInitialized is True once the cluster was formed for the
	// first time; Durable clusters are then never bootstrapped again.
	ConditionClusterInitialized = "ClusterInitialized"
	// ConditionShardsHealthy is True while every shard's health is Ready.
	ConditionShardsHealthy = "ShardsHealthy"
	// ConditionPrunePending is True while objects of a drained shard still exist.
	ConditionPrunePending = "PrunePending"
	// ConditionConfigApplied is True when pods run what was rendered.
	ConditionConfigApplied = "ConfigApplied"
	// ConditionReconciling is present, and True, only while kstatus should wait.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is present, and True, only while nothing happens until
	// somebody acts.
	ConditionStalled = "Stalled"
)

// Types of the conditions of a ValkeyNode, beside Ready. ACLApplied is one of a
// ValkeyCluster too.
const (
	// ConditionPersistentVolumeClaimReady is True when the claim is bound.
	ConditionPersistentVolumeClaimReady = "PersistentVolumeClaimReady"
	// ConditionPersistentVolumeClaimSizeReady is True when the volume is as large
	// as asked for.
	ConditionPersistentVolumeClaimSizeReady = "PersistentVolumeClaimSizeReady"
	// ConditionLiveConfigApplied is True when the server runs the live directives.
	// Absent without any; False blocks rolls.
	ConditionLiveConfigApplied = "LiveConfigApplied"
	// ConditionACLApplied is True when the server has the users of the spec.
	ConditionACLApplied = "ACLApplied"
	// ConditionTLSReloaded is True when the server serves the current certificate.
	ConditionTLSReloaded = "TLSReloaded"
)

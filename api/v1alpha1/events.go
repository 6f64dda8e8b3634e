// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Reporters of events.
const (
	// ClusterReporter reports events of ValkeyClusters.
	ClusterReporter = "valkeycluster-controller"
	// NodeReporter reports events of ValkeyNodes.
	NodeReporter = "valkeynode-controller"
)

// Reasons of events about objects. Those that end in Failed are warnings.
const (
	// EventServiceCreated: a Service was made.
	EventServiceCreated = "ServiceCreated"
	// EventServiceUpdateFailed: a Service could not be applied.
	EventServiceUpdateFailed = "ServiceUpdateFailed"
	// EventConfigMapCreated: a ConfigMap was made.
	EventConfigMapCreated = "ConfigMapCreated"
	// EventConfigMapUpdated: a ConfigMap was changed.
	EventConfigMapUpdated = "ConfigMapUpdated"
	// EventConfigMapUpdateFailed: a ConfigMap could not be made or changed.
	EventConfigMapUpdateFailed = "ConfigMapUpdateFailed"
	// EventValkeyNodeCreated: a ValkeyNode was made for a pod.
	EventValkeyNodeCreated = "ValkeyNodeCreated"
	// EventValkeyNodeUpdated: the pod of a ValkeyNode is rolled.
	EventValkeyNodeUpdated = "ValkeyNodeUpdated"
	// EventValkeyNodeDeleted: the ValkeyNode of a drained shard was deleted.
	EventValkeyNodeDeleted = "ValkeyNodeDeleted"
	// EventValkeyNodeFailed: a ValkeyNode could not be written.
	EventValkeyNodeFailed = "ValkeyNodeFailed"
	// EventPodDisruptionBudgetCreated: a budget was made.
	EventPodDisruptionBudgetCreated = "PodDisruptionBudgetCreated"
	// EventPodDisruptionBudgetUpdated: a budget was changed.
	EventPodDisruptionBudgetUpdated = "PodDisruptionBudgetUpdated"
	// EventPodDisruptionBudgetDeleted: a budget was deleted, since its mode is
	// Disabled.
	EventPodDisruptionBudgetDeleted = "PodDisruptionBudgetDeleted"
	// EventInternalSecretsCreated: an ACL or system Secret was made.
	EventInternalSecretsCreated = "InternalSecretsCreated"
	// EventInternalSecretsUpdated: an ACL or system Secret was changed.
	EventInternalSecretsUpdated = "InternalSecretsUpdated"
	// EventInternalSecretsCreationFailed: such a Secret could not be made or taken
	// over.
	EventInternalSecretsCreationFailed = "InternalSecretsCreationFailed"
	// EventInternalSecretsUpdateFailed: such a Secret could not be changed.
	EventInternalSecretsUpdateFailed = "InternalSecretsUpdateFailed"
)

// Reasons of events about the topology.
const (
	// EventClusterMeetBatch: isolated nodes were introduced to the cluster.
	EventClusterMeetBatch = "ClusterMeetBatch"
	// EventClusterMeetFailed: CLUSTER MEET failed.
	EventClusterMeetFailed = "ClusterMeetFailed"
	// EventStaleAddressesHealed: nodes at new addresses were introduced again.
	EventStaleAddressesHealed = "StaleAddressesHealed"
	// EventPrimariesCreated: new primaries got their slots.
	EventPrimariesCreated = "PrimariesCreated"
	// EventPrimaryCreated: one new primary got its slots.
	EventPrimaryCreated = "PrimaryCreated"
	// EventSlotAssignmentFailed: slots could not be assigned.
	EventSlotAssignmentFailed = "SlotAssignmentFailed"
	// EventReplicasAttached: replicas were attached to their primaries.
	EventReplicasAttached = "ReplicasAttached"
	// EventReplicaCreated: one replica was attached to its primary.
	EventReplicaCreated = "ReplicaCreated"
	// EventReplicaCreationFailed: a replica could not be attached.
	EventReplicaCreationFailed = "ReplicaCreationFailed"
	// EventSlotsRebalancing: slots move between shards.
	EventSlotsRebalancing = "SlotsRebalancing"
	// EventSlotsRebalancePending: a shard has not heard of the target yet.
	EventSlotsRebalancePending = "SlotsRebalancePending"
	// EventSlotRebalanceFailed: slots could not be moved.
	EventSlotRebalanceFailed = "SlotRebalanceFailed"
	// EventSlotsDraining: slots move off a shard that will go.
	EventSlotsDraining = "SlotsDraining"
	// EventDrainFailed: slots could not be moved off such a shard.
	EventDrainFailed = "DrainFailed"
	// EventFailoverInitiated: a replica was asked to take over.
	EventFailoverInitiated = "FailoverInitiated"
	// EventFailoverFailed: the replica refused.
	EventFailoverFailed = "FailoverFailed"
	// EventFailoverTimeout: the replica did not take over in time; a warning.
	EventFailoverTimeout = "FailoverTimeout"
	// EventFailoverCompleted: the replica is the primary.
	EventFailoverCompleted = "FailoverCompleted"
	// EventReplicasTakenOver: replicas were promoted without a vote after the
	// quorum was lost.
	EventReplicasTakenOver = "ReplicasTakenOver"
	// EventStaleNodeForgotten: a node that is gone for good was forgotten.
	EventStaleNodeForgotten = "StaleNodeForgotten"
	// EventNodeForgetFailed: it could not be forgotten.
	EventNodeForgetFailed = "NodeForgetFailed"
	// EventAdoptedExisting: nodes that knew each other were taken over.
	EventAdoptedExisting = "AdoptedExisting"
)

// Reasons of events about status.
const (
	// EventWaitingForShards: shards are still missing.
	EventWaitingForShards = "WaitingForShards"
	// EventWaitingForReplicas: replicas of a shard are still missing.
	EventWaitingForReplicas = "WaitingForReplicas"
	// EventClusterReady: the cluster became ready.
	EventClusterReady = "ClusterReady"
	// EventPodUnschedulable: a pod finds no node; a warning.
	EventPodUnschedulable = "PodUnschedulable"
	// EventGracePeriodTooShort: the handover on shutdown may not fit; a warning.
	EventGracePeriodTooShort = "GracePeriodTooShort"
	// EventLiveConfigApplyFailed: CONFIG SET failed on a node.
	EventLiveConfigApplyFailed = "LiveConfigApplyFailed"
	// EventLiveACLApplyFailed: ACL SETUSER failed on a node.
	EventLiveACLApplyFailed = "LiveACLApplyFailed"
	// EventActionStarted: what an annotation asks for has begun.
	EventActionStarted = "ActionStarted"
	// EventActionSucceeded: it was done.
	EventActionSucceeded = "ActionSucceeded"
	// EventActionFailed: it was not, and is not tried again.
	EventActionFailed = "ActionFailed"
)

// Texts of events and messages of conditions that runbooks and alerts quote;
// those with verbs are formats for fmt.
const (
	// TextServiceCreated: no arguments.
	TextServiceCreated = "Created headless Service"
	// TextConfigMapCreated: no arguments.
	TextConfigMapCreated = "Created ConfigMap with configuration"
	// TextValkeyNodeCreated: shard, index.
	TextValkeyNodeCreated = "Created ValkeyNode for shard %d node %d"
	// TextValkeyNodeDeleted: shard, index.
	TextValkeyNodeDeleted = "Deleted ValkeyNode for shard %d node %d"
	// TextValkeyNodeUpdated: shard, index.
	TextValkeyNodeUpdated = "Updated ValkeyNode for shard %d node %d"
	// TextInternalSecretsCreated: Secret.
	TextInternalSecretsCreated = "Created internal Secret %s"
	// TextInternalSecretsUpdated: Secret.
	TextInternalSecretsUpdated = "Synchronized internal Secret %s"
	// TextFailoverCompleted: pod, shard, pod that was the primary.
	TextFailoverCompleted = "Pod %s is the primary of shard %d, after %s"
	// TextWaitingForShards: existing shards, shards asked for.
	TextWaitingForShards = "%d of %d shards exist"
	// TextClusterMeetBatch: number of nodes.
	TextClusterMeetBatch = "Introduced %d isolated node(s) to the cluster"
	// TextClusterMeetFailed: address that met, address to meet, error.
	TextClusterMeetFailed = "CLUSTER MEET %s -> %s failed: %v"
	// TextReplicaCreationFailed: error.
	TextReplicaCreationFailed = "Failed to create replica: %v"
	// TextPrimaryCreated: address, slot ranges.
	TextPrimaryCreated = "Created primary %s with slots %s"
	// TextPrimariesCreated: number of primaries.
	TextPrimariesCreated = "Assigned slots to %d new primary node(s)"
	// TextReplicaCreated: node ID of the primary, shard.
	TextReplicaCreated = "Created replica for primary %s (shard %d)"
	// TextReplicasAttached: number of replicas.
	TextReplicasAttached = "Attached %d replica node(s)"
	// TextClusterReady: shards, replicas per shard.
	TextClusterReady = "Cluster ready with %d shards and %d replicas"

	// MessageClusterHealthy is Ready's with ClusterHealthy.
	MessageClusterHealthy = "Cluster is healthy"
	// MessageReconcileComplete is Progressing's with ReconcileComplete.
	MessageReconcileComplete = "No changes needed"
	// MessageTopologyComplete is ClusterFormed's with TopologyComplete.
	MessageTopologyComplete = "All nodes joined cluster"
	// MessageAllSlotsAssigned is SlotsAssigned's with AllSlotsAssigned.
	MessageAllSlotsAssigned = "All slots assigned"
	// MessageCreatingShards is Progressing's while shards are made.
	MessageCreatingShards = "Creating shards"
	// MessageMissingShards is Ready's with MissingShards.
	MessageMissingShards = "Waiting for all shards to be created"
	// MessageWaitingForShards is ClusterFormed's with MissingShards.
	MessageWaitingForShards = "Waiting for shards"
	// MessageReconciling is Ready's with Reconciling.
	MessageReconciling = "Cluster is Reconciling"
	// MessageAddingNodes is Progressing's with AddingNodes.
	MessageAddingNodes = "Adding nodes to cluster"
	// MessageNodeAddFailed is Degraded's with NodeAddFailed: error.
	MessageNodeAddFailed = "Failed to add node: %v"
	// MessageSlotsUnassigned is SlotsAssigned's with SlotsUnassigned.
	MessageSlotsUnassigned = "Assigning slots to nodes"
)

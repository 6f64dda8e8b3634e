// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Reasons of Ready of a ValkeyCluster.
const (
	// ReasonClusterHealthy: Ready is True.
	ReasonClusterHealthy = "ClusterHealthy"
	// ReasonServiceError: a Service could not be applied.
	ReasonServiceError = "ServiceError"
	// ReasonConfigMapError: a ConfigMap could not be applied.
	ReasonConfigMapError = "ConfigMapError"
	// ReasonUsersACLError: users or their Secrets could not be brought into effect.
	ReasonUsersACLError = "UsersACLError"
	// ReasonSystemUsersACLError: system users could not be brought into effect.
	ReasonSystemUsersACLError = "SystemUsersACLError"
	// ReasonValkeyNodeError: a ValkeyNode could not be written.
	ReasonValkeyNodeError = "ValkeyNodeError"
	// ReasonValkeyNodeListError: ValkeyNodes could not be listed.
	ReasonValkeyNodeListError = "ValkeyNodeListError"
	// ReasonPodDisruptionBudgetError: a budget could not be applied or removed.
	ReasonPodDisruptionBudgetError = "PodDisruptionBudgetError"
	// ReasonMissingShards: fewer shards than asked for, also of ClusterFormed.
	ReasonMissingShards = "MissingShards"
	// ReasonMissingReplicas: fewer replicas than asked for, also of ClusterFormed.
	ReasonMissingReplicas = "MissingReplicas"
	// ReasonPodUnschedulable: a pod finds no node, also of Degraded.
	ReasonPodUnschedulable = "PodUnschedulable"
	// ReasonNotRendered: delivery is GitOps and nothing is rendered for the
	// observed generation.
	ReasonNotRendered = "NotRendered"
	// ReasonInvalidSpec: the spec asks for what there is not; also of Stalled.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonRequestFailed: the API server refused a request, or an object could not be
	// applied that has no reason of its own.
	ReasonRequestFailed = "RequestFailed"
	// ReasonQuotaExceeded: a ResourceQuota leaves no room, also of Degraded.
	ReasonQuotaExceeded = "QuotaExceeded"
)

// Reasons of Progressing, the first two of Ready as well.
const (
	// ReasonReconciling: something is on its way.
	ReasonReconciling = "Reconciling"
	// ReasonUpdatingNodes: pods are rolled.
	ReasonUpdatingNodes = "UpdatingNodes"
	// ReasonInitializing: the cluster is made for the first time.
	ReasonInitializing = "Initializing"
	// ReasonAddingNodes: nodes join.
	ReasonAddingNodes = "AddingNodes"
	// ReasonRebalancingSlots: slots move, to new shards or off drained ones.
	ReasonRebalancingSlots = "RebalancingSlots"
	// ReasonReconcileComplete: nothing is left to do; Progressing is False.
	ReasonReconcileComplete = "ReconcileComplete"
)

// Reasons of Degraded.
const (
	// ReasonNodeAddFailed: a node could not join.
	ReasonNodeAddFailed = "NodeAddFailed"
	// ReasonRebalanceFailed: slots could not be moved.
	ReasonRebalanceFailed = "RebalanceFailed"
	// ReasonPrimaryDown: a shard has no primary, also of Available.
	ReasonPrimaryDown = "PrimaryDown"
	// ReasonReplicasUnavailable: replicas do not serve.
	ReasonReplicasUnavailable = "ReplicasUnavailable"
	// ReasonQuorumLost: most primaries are lost.
	ReasonQuorumLost = "QuorumLost"
	// ReasonForeignData: pods hold data of another cluster.
	ReasonForeignData = "ForeignData"
	// ReasonSlotsLost: the data of slots is gone; accept-slot-loss decides.
	ReasonSlotsLost = "SlotsLost"
	// ReasonJobBlocked: a Job cannot go on.
	ReasonJobBlocked = "JobBlocked"
	// ReasonReplicaNotSyncing: a replica does not get its primary's data.
	ReasonReplicaNotSyncing = "ReplicaNotSyncing"
	// ReasonRestartWouldFail: a server would not start with its files; rolls and
	// evictions are refused.
	ReasonRestartWouldFail = "RestartWouldFail"
	// ReasonOrphaned: a StatefulSet of ours belongs to no ValkeyCluster.
	ReasonOrphaned = "Orphaned"
	// ReasonImagePullFailed: the image of a container cannot be had.
	ReasonImagePullFailed = "ImagePullFailed"
	// ReasonPodFailing: a container does not start, or ends again and again.
	ReasonPodFailing = "PodFailing"
	// ReasonPodsNotCreated: a StatefulSet cannot make its pods.
	ReasonPodsNotCreated = "PodsNotCreated"
	// ReasonScaledByHand: a StatefulSet asks for another number of pods than the spec.
	ReasonScaledByHand = "ScaledByHand"
	// ReasonPersistentVolumeClaimLost: the claim of a pod that had data is missing, being
	// deleted, or without its volume.
	ReasonPersistentVolumeClaimLost = "PersistentVolumeClaimLost"
)

// Reasons of ClusterFormed and SlotsAssigned.
const (
	// ReasonTopologyComplete: ClusterFormed is True.
	ReasonTopologyComplete = "TopologyComplete"
	// ReasonAllSlotsAssigned: SlotsAssigned is True.
	ReasonAllSlotsAssigned = "AllSlotsAssigned"
	// ReasonSlotsUnassigned: slots have no owner; either condition is False.
	ReasonSlotsUnassigned = "SlotsUnassigned"
)

// Reasons of ConfigurationWarning and PrunePending.
const (
	// ReasonGracePeriodTooShort: the handover on shutdown may not fit.
	ReasonGracePeriodTooShort = "GracePeriodTooShort"
	// ReasonNoMajority: one or two shards cannot elect a primary.
	ReasonNoMajority = "NoMajority"
	// ReasonShardEmpty: a new shard owns no slot, since rebalancing is off.
	ReasonShardEmpty = "ShardEmpty"
	// ReasonDataNotReplicated: the data of a shard exists once only.
	ReasonDataNotReplicated = "DataNotReplicated"
	// ReasonGuardMissing: the admission policies of the guard are not installed.
	ReasonGuardMissing = "GuardMissing"
	// ReasonShardDrained: a drained shard's objects wait to be pruned.
	ReasonShardDrained = "ShardDrained"
)

// Reasons of Available, ClusterInitialized and ShardsHealthy.
const (
	// ReasonServing: Available is True.
	ReasonServing = "Serving"
	// ReasonBootstrapping: the cluster is being formed.
	ReasonBootstrapping = "Bootstrapping"
	// ReasonSlotsUncovered: slots have no reachable owner.
	ReasonSlotsUncovered = "SlotsUncovered"
	// ReasonHibernated: there are no pods, on request.
	ReasonHibernated = "Hibernated"
	// ReasonBootstrapSucceeded: formed from empty nodes.
	ReasonBootstrapSucceeded = "BootstrapSucceeded"
	// ReasonAdoptedExisting: formed from nodes that knew each other.
	ReasonAdoptedExisting = "AdoptedExisting"
	// ReasonBootstrapFailed: could not be formed.
	ReasonBootstrapFailed = "BootstrapFailed"
	// ReasonAllHealthy: ShardsHealthy is True.
	ReasonAllHealthy = "AllHealthy"
	// ReasonShardsNotHealthy: the message names the shards and their health.
	ReasonShardsNotHealthy = "ShardsNotHealthy"
)

// Reasons of ConfigApplied, ACLApplied, LiveConfigApplied and TLSReloaded.
const (
	// ReasonApplied: the condition is True.
	ReasonApplied = "Applied"
	// ReasonRollPending: pods run an older template and are not replaced yet.
	ReasonRollPending = "RollPending"
	// ReasonRollInProgress: pods are rolled.
	ReasonRollInProgress = "RollInProgress"
	// ReasonRollRefused: rolling would lose data, or pods would not start.
	ReasonRollRefused = "RollRefused"
	// ReasonPending: not yet tried, or not on every node.
	ReasonPending = "Pending"
	// ReasonApplyFailed: the server refused; the message holds its words.
	ReasonApplyFailed = "ApplyFailed"
	// ReasonSecretMissing: a Secret or a key is missing or empty.
	ReasonSecretMissing = "SecretMissing"
)

// Reasons of the conditions of a ValkeyNode.
const (
	// ReasonPodRunning: the pod runs the current revision and is ready.
	ReasonPodRunning = "PodRunning"
	// ReasonPodNotReady: the pod is missing, not ready or of an old revision.
	ReasonPodNotReady = "PodNotReady"
	// ReasonPersistentVolumeClaimBound: the claim is bound.
	ReasonPersistentVolumeClaimBound = "PersistentVolumeClaimBound"
	// ReasonPersistentVolumeClaimPending: the claim is missing or not bound.
	ReasonPersistentVolumeClaimPending = "PersistentVolumeClaimPending"
	// ReasonPersistentVolumeClaimSizeSatisfied: the volume is large enough.
	ReasonPersistentVolumeClaimSizeSatisfied = "PersistentVolumeClaimSizeSatisfied"
	// ReasonPersistentVolumeClaimResizePending: growing waits for the binding, the
	// storage or the node.
	ReasonPersistentVolumeClaimResizePending = "PersistentVolumeClaimResizePending"
	// ReasonPersistentVolumeClaimResizeInProgress: the volume is growing.
	ReasonPersistentVolumeClaimResizeInProgress = "PersistentVolumeClaimResizeInProgress"
	// ReasonPersistentVolumeClaimResizeInfeasible: the volume cannot grow without
	// somebody's help.
	ReasonPersistentVolumeClaimResizeInfeasible = "PersistentVolumeClaimResizeInfeasible"
)

// Reasons of Ready of a ValkeyACL, beside Applied and SecretMissing.
const (
	// ReasonClusterNotReady: the cluster is missing or not formed.
	ReasonClusterNotReady = "ClusterNotReady"
	// ReasonPrimaryUnreachable: a primary does not answer us, also of Degraded when its pod
	// is ready.
	ReasonPrimaryUnreachable = "PrimaryUnreachable"
	// ReasonConflict: a user is in spec.users or another ValkeyACL too.
	ReasonConflict = "Conflict"
)

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Annotations on the ValkeyCluster that ask for an action. Each holds a token;
// a new token asks for the action once, and its outcome is recorded in
// status.actions under the name behind the slash.
const (
	// AnnotationRestart rolls every data pod.
	AnnotationRestart = Group + "/restart"
	// AnnotationRestartShard rolls the data pods of one shard: <index>:<token>.
	AnnotationRestartShard = Group + "/restart-shard"
	// AnnotationRotatePassword replaces the passwords of the default user and of
	// the system users, with both valid meanwhile. JSON may ask for clientKill.
	AnnotationRotatePassword = Group + "/rotate-password"
	// AnnotationReshard moves slots by hand, as JSON:
	// {"from":0,"to":1,"slots":1000,"token":"…"}.
	AnnotationReshard = Group + "/reshard"
	// AnnotationFailover makes a replica the primary though the primary is well.
	AnnotationFailover = Group + "/failover"
	// AnnotationFailoverTarget names the pod that AnnotationFailover promotes.
	AnnotationFailoverTarget = Group + "/failover-target"
	// AnnotationQuorumTakeover lets replicas be promoted without a vote while
	// most primaries are lost and failover.quorumTakeover is Manual.
	AnnotationQuorumTakeover = Group + "/quorum-takeover"
	// AnnotationRetry starts again what failed too often for its input, and with delivery:
	// InCluster has the rendered objects applied again.
	AnnotationRetry = Group + "/retry"
	// AnnotationAcceptSlotLoss gives up the data of slots, as their ranges:
	// "0-100,200". The slots are assigned again, empty.
	AnnotationAcceptSlotLoss = Group + "/accept-slot-loss"
)

// Annotations that rendered objects carry.
const (
	// AnnotationRenderHash is a hash of the object's own content, on the
	// ValkeyCluster of its defaulted spec and all the other objects.
	AnnotationRenderHash = Group + "/render-hash"
	// AnnotationSpecHash is a hash of the spec that the objects were rendered for, on the
	// ValkeyCluster: a spec that was changed since then has another one (SpecHash).
	AnnotationSpecHash = Group + "/spec-hash"
	// AnnotationObjectsHash is a hash over the render hashes of those objects that the
	// reconciler reads, on the ValkeyCluster: what is there is what was rendered with it, or
	// is yet to be applied.
	AnnotationObjectsHash = Group + "/objects-hash"
	// AnnotationConfig is the text of valkey.conf in the template of data pods.
	AnnotationConfig = Group + "/valkey.conf"
	// AnnotationSentinelConfig is the text of sentinel.conf in the template of
	// Sentinel pods.
	AnnotationSentinelConfig = Group + "/sentinel.conf"
	// AnnotationHibernate is true on the StatefulSets of a cluster that hibernates:
	// by it the guard lets them be scaled to zero, whether the applier has written
	// the ValkeyCluster before them or will after.
	AnnotationHibernate = Group + "/hibernate"
	// AnnotationSpec is what a rendered Job needs of the ValkeyCluster and its
	// ValkeyACLs, as YAML, in the template of its pod.
	AnnotationSpec = Group + "/spec"
)

// HashAnnotations are those whose values follow from everything else.
func HashAnnotations() []string {
	return []string{AnnotationRenderHash, AnnotationSpecHash, AnnotationObjectsHash}
}

// AnnotationRefresh on a pod holds a token of the reconciler. The kubelet brings the
// volumes of a pod up to date at once when one of its annotations changes, and else
// within about a minute.
const AnnotationRefresh = Group + "/refresh"

// Annotations on the Lease of a reconciler: which ValkeyClusters it looks after. Without
// them it looks after all.
const (
	// AnnotationNamespaces are the namespaces, with commas between.
	AnnotationNamespaces = Group + "/namespaces"
	// AnnotationShardSelector is a selector of the labels of ValkeyClusters.
	AnnotationShardSelector = Group + "/shard-selector"
)

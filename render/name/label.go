// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package name

// Keys of labels. The first five are the recommended ones of Kubernetes.
const (
	LabelName      = "app.kubernetes.io/name"
	LabelInstance  = "app.kubernetes.io/instance"
	LabelComponent = "app.kubernetes.io/component"
	LabelPartOf    = "app.kubernetes.io/part-of"
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// LabelCluster holds the ValkeyCluster's name.
	LabelCluster = "valkey-render.dev/cluster"
	// LabelClusterNamespace holds the ValkeyCluster's namespace, on what is in another.
	LabelClusterNamespace = "valkey-render.dev/cluster-namespace"
	// LabelShard holds the shard's index, on what belongs to one shard.
	LabelShard = "valkey-render.dev/shard"
	// LabelRole holds primary or replica. Only the reconciler sets it, on pods.
	LabelRole = "valkey-render.dev/role"
	// LabelPodIndex holds a pod's ordinal; the StatefulSet controller sets it.
	LabelPodIndex = "apps.kubernetes.io/pod-index"
)

// Values of LabelComponent.
const (
	// ComponentServer marks data pods and what belongs to one shard.
	ComponentServer = "server"
	// ComponentSentinel marks Sentinel pods and what belongs to them.
	ComponentSentinel = "sentinel"
	// ComponentJob marks Jobs; it keeps their pods out of every selector.
	ComponentJob = "job"
	// ComponentCluster marks what the whole cluster shares.
	ComponentCluster = "cluster"
)

// PartOf is the value of LabelPartOf, and of LabelManagedBy on objects.
const PartOf = "valkey-render"

// Labels are the labels of an object that is not one shard's. The map is new
// and the caller's.
func Labels(cluster, component string) map[string]string {
	l := PodLabels(cluster, component)
	l[LabelManagedBy] = PartOf
	return l
}

// ShardLabels are the labels of an object that belongs to one shard. The map is
// new and the caller's.
func ShardLabels(cluster string, shard int32) map[string]string {
	l := Labels(cluster, ComponentServer)
	l[LabelShard] = itoa(shard)
	return l
}

// PodLabels are the labels of a pod template that is not a shard's. They never
// hold LabelManagedBy: a policy tells claims that are rendered from those that
// a StatefulSet controller made by it. The map is new and the caller's.
func PodLabels(cluster, component string) map[string]string {
	l := make(map[string]string, 8)
	l[LabelName] = "valkey"
	l[LabelInstance] = cluster
	l[LabelComponent] = component
	l[LabelPartOf] = PartOf
	l[LabelCluster] = cluster
	return l
}

// DataPodLabels are the labels of a shard's pod template. The map is new and
// the caller's.
func DataPodLabels(cluster string, shard int32) map[string]string {
	l := PodLabels(cluster, ComponentServer)
	l[LabelShard] = itoa(shard)
	return l
}

// DataSelector selects the pods of one shard: the selector of its StatefulSet,
// which is immutable.
func DataSelector(cluster string, shard int32) map[string]string {
	return map[string]string{LabelComponent: ComponentServer, LabelCluster: cluster, LabelShard: itoa(shard)}
}

// SentinelSelector selects the Sentinel pods: the selector of their
// StatefulSet, which is immutable.
func SentinelSelector(cluster string) map[string]string {
	return ComponentSelector(cluster, ComponentSentinel)
}

// ServerSelector selects all data pods of a cluster.
func ServerSelector(cluster string) map[string]string {
	return ComponentSelector(cluster, ComponentServer)
}

// ComponentSelector selects all pods of one component of a cluster.
func ComponentSelector(cluster, component string) map[string]string {
	return map[string]string{LabelComponent: component, LabelCluster: cluster}
}

// RoleSelector selects the data pods of a cluster that have a role.
func RoleSelector(cluster, role string) map[string]string {
	return map[string]string{LabelComponent: ComponentServer, LabelCluster: cluster, LabelRole: role}
}

// FirstPodSelector selects the first pod of every shard. At bootstrap these are
// the primaries.
func FirstPodSelector(cluster string) map[string]string {
	return map[string]string{LabelComponent: ComponentServer, LabelCluster: cluster, LabelPodIndex: "0"}
}

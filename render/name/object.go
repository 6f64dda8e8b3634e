// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package name

import "strconv"

// Endings of object names. A cluster's name may not end in one of them, see
// Check.
const (
	endNodes    = "-nodes"
	endPrimary  = "-primary"
	endReplicas = "-replicas"
	endSentinel = "-sentinel"
	endLive     = "-live"
	endScripts  = "-scripts"
	endBus      = "-bus"
)

// SentinelMaster is the name under which the Sentinels monitor the primary.
const SentinelMaster = "mymaster"

// DataClaim is the volumeClaimTemplate of the data directory, and so the first
// part of every claim's name.
const DataClaim = "data"

// EnvJobs, of the server's container, is Reconciler or Rendered: spec.jobs.
const EnvJobs = "VALKEY_JOBS"

// StatefulSet is the name of a shard's StatefulSet. Topologies without slots
// have shard 0.
func StatefulSet(cluster string, shard int32) string {
	return cluster + "-" + itoa(shard)
}

// Pod is the name of a data pod, as the StatefulSet controller forms it. The
// ValkeyNode of the pod has the same name.
func Pod(cluster string, shard, index int32) string {
	return StatefulSet(cluster, shard) + "-" + itoa(index)
}

// Claim is the name of a data pod's PersistentVolumeClaim, as the StatefulSet
// controller forms it: a claim of this name is adopted, not made.
func Claim(cluster string, shard, index int32) string {
	return DataClaim + "-" + Pod(cluster, shard, index)
}

// Budget is the name of a shard's PodDisruptionBudget.
func Budget(cluster string, shard int32) string { return StatefulSet(cluster, shard) }

// ClusterBudget is the name of the PodDisruptionBudget over all data pods.
func ClusterBudget(cluster string) string { return cluster }

// Sentinel is the name of the Sentinel pods' StatefulSet, headless Service and
// PodDisruptionBudget.
func Sentinel(cluster string) string { return cluster + endSentinel }

// SentinelStatefulSet is the name of the Sentinel pods' StatefulSet.
func SentinelStatefulSet(cluster string) string { return Sentinel(cluster) }

// SentinelPod is the name of a Sentinel pod.
func SentinelPod(cluster string, index int32) string {
	return Sentinel(cluster) + "-" + itoa(index)
}

// GuardPrefix begins the names of the admission policies that guard data.
const GuardPrefix = "valkey-render-guard-"

// Client is the name of the Service that clients connect to.
func Client(cluster string) string { return cluster }

// Nodes is the name of the headless Service that gives data pods their names.
func Nodes(cluster string) string { return cluster + endNodes }

// Primary is the name of the Service of the primary (not with topology Cluster).
func Primary(cluster string) string { return cluster + endPrimary }

// Replicas is the name of the Service of the replicas (not with topology Cluster).
func Replicas(cluster string) string { return cluster + endReplicas }

// Live is the name of the ConfigMap with the directives that apply live.
func Live(cluster string) string { return cluster + endLive }

// Scripts is the name of the ConfigMap with the scripts of the containers.
func Scripts(cluster string) string { return cluster + endScripts }

// Inventory is the name of the ConfigMap in which `valkey-render apply` records
// what it made.
func Inventory(cluster string) string { return cluster + "-inventory" }

// Dashboard is the name of the ConfigMap with the Grafana dashboard.
func Dashboard(cluster string) string { return cluster + "-dashboard" }

// PodMonitor is the name of the Prometheus operator's PodMonitor.
func PodMonitor(cluster string) string { return cluster }

// PrometheusRule is the name of the Prometheus operator's PrometheusRule.
func PrometheusRule(cluster string) string { return cluster }

// Policy is the name of the NetworkPolicy of the data pods.
func Policy(cluster string) string { return cluster }

// BusPolicy is the name of the NetworkPolicy that closes the cluster bus to
// other clusters' pods.
func BusPolicy(cluster string) string { return cluster + endBus }

// Job is the name of the serial-th Job of a cluster; kind is what it does, such as
// bootstrap or rebalance.
func Job(cluster, kind string, serial int64) string {
	return cluster + "-" + kind + "-" + strconv.FormatInt(serial, 10)
}

// RenderedJob is the name of a Job that is rendered with the manifests. hash is of
// everything that it is made of, so that a changed Job is another Job: its template
// is immutable.
func RenderedJob(cluster, kind, hash string) string { return cluster + "-" + kind + "-" + hash }

// JobAccount is the name of the ServiceAccount, Role and RoleBinding of the Jobs of
// a kind.
func JobAccount(cluster, kind string) string { return cluster + "-" + kind }

// AuthSecret is the default name of the Secret with the default user's password.
func AuthSecret(cluster string) string { return cluster + "-auth" }

// SystemSecret is the name of the Secret with the system users' passwords.
func SystemSecret(cluster string) string { return cluster + "-system" }

// ACLSecret is the name of the Secret with the ACL files.
func ACLSecret(cluster string) string { return cluster + "-acl" }

// TLSSecret is the default name of the Secret with certificate, key and CA.
func TLSSecret(cluster string) string { return cluster + "-tls" }

// Certificate is the name of the cert-manager Certificate.
func Certificate(cluster string) string { return cluster + "-tls" }

// UsersSecret is the default name of the Secret with the users' passwords.
func UsersSecret(cluster string) string { return cluster + "-users" }

func itoa(i int32) string { return strconv.FormatInt(int64(i), 10) }

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package metric

// Definition is what a metric is called and has. Alerts, dashboards and pages name no other.
type Definition struct {
	// Name is without Prefix.
	Name string
	// Type is counter, gauge or histogram.
	Type string
	// Labels, in their order.
	Labels []string
	// Help is what it counts or measures.
	Help string
}

// Names of the metrics, without Prefix.
const (
	nameBuild      = "build_info"
	nameReconciles = "reconcile_total"
	nameSurveys    = "survey_duration_seconds"
	nameState      = "cluster_state"
	nameShards     = "cluster_shards"
	nameSlots      = "cluster_slots_assigned"
	nameLag        = "replica_lag_bytes"
	nameJobs       = "job_total"
	nameDuration   = "job_duration_seconds"
	nameFailovers  = "failover_total"
	nameBootstraps = "bootstrap_total"
	nameScales     = "scale_total"
	nameMoved      = "slots_moved_total"
	nameACL        = "acl_apply_total"
	nameTLS        = "tls_reload_total"
	nameRotations  = "rotation_total"
)

// Results of what was tried, as values of the label result.
const (
	Success = "success"
	Failure = "error"
	// Interrupted: it was stopped, or somebody else acted. It goes on.
	Interrupted = "interrupted"
)

// Definitions are all metrics, by what they are about.
func Definitions() []Definition {
	of := func(more ...string) []string { return append([]string{"namespace", "cluster"}, more...) }
	return []Definition{
		{nameBuild, "gauge", []string{"version"}, "The version of the reconciler, always 1."},
		{nameReconciles, "counter", []string{"controller", "namespace", "name", "result"}, "Looks at an object, by how they ended."},
		{nameSurveys, "histogram", nil, "How long it took to ask all servers of a cluster."},
		{nameState, "gauge", of("state"), "1 for the state that the cluster is in, 0 for the others."},
		{nameShards, "gauge", of("health"), "Shards by health: Ready, Degraded, Down or Unknown."},
		{nameSlots, "gauge", of(), "Slots that a server owns, of 16384. Only of topology Cluster, and not while it hibernates."},
		{nameLag, "gauge", of("shard", "pod"), "How far a replica is behind its primary."},
		{nameJobs, "counter", of("kind", "result"), "Jobs that ended."},
		{nameDuration, "histogram", []string{"kind"}, "How long Jobs took."},
		{nameFailovers, "counter", of("kind"), "Primaries replaced: handover, promotion, takeover, or adoption of one that the servers elected."},
		{nameBootstraps, "counter", of("result"), "Jobs that form a cluster."},
		{nameScales, "counter", of("direction", "result"), "Jobs that even out the slots, as after more shards were asked for (up), or empty shards that are to go (down)."},
		{nameMoved, "counter", of(), "Slots that Jobs have moved to another shard."},
		{nameACL, "counter", of("result"), "Jobs that give servers their users."},
		{nameTLS, "counter", of("result"), "Jobs that have servers read their certificate again."},
		{nameRotations, "counter", of("result"), "Jobs that replace passwords, several for each rotation."},
	}
}

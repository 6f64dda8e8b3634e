// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"fmt"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// alert is one rule. In expr, summary and description CLUSTER stands for the
// cluster's name; in expr SERIES stands for the matchers of its series.
type alert struct {
	name        string
	expr        string
	after       string // how long expr holds; empty for at once
	severity    string
	summary     string
	description string
}

// prometheusRule has the alerts for a cluster, or is nil. They are about what the
// exporter sees, by the names that redis_exporter gives (it keeps "redis" and
// "master"), and need the labels that the PodMonitor adds.
func prometheusRule(c *v1alpha1.ValkeyCluster) map[string]any {
	if !c.PrometheusRuleEnabled() {
		return nil
	}
	series := seriesCluster + `="` + c.Name + `"`
	if c.Namespace != "" {
		series = `namespace="` + c.Namespace + `",` + series
	}
	fill := strings.NewReplacer("SERIES", series, "CLUSTER", c.Name)
	var rules []any
	for _, a := range alerts(c) {
		rule := map[string]any{
			"alert":  a.name,
			"expr":   fill.Replace(a.expr),
			"labels": map[string]any{"severity": a.severity, seriesCluster: c.Name},
			"annotations": map[string]any{
				"summary":     fill.Replace(a.summary),
				"description": fill.Replace(a.description),
			},
		}
		if a.after != "" {
			rule["for"] = a.after
		}
		rules = append(rules, rule)
	}
	meta := monitorMeta(c, name.PrometheusRule(c.Name), c.Spec.Metrics.PrometheusRule)
	// {{ $labels.pod }} is for Prometheus, not for Flux.
	meta.Annotations = verbatim()
	return custom("monitoring.coreos.com/v1", "PrometheusRule", meta, map[string]any{
		"groups": []any{map[string]any{"name": name.PartOf + "." + c.Name, "rules": rules}},
	})
}

func alerts(c *v1alpha1.ValkeyCluster) []alert {
	out := []alert{
		{
			name: "ValkeyDown", expr: `redis_up{SERIES} == 0`, after: "2m", severity: "critical",
			summary:     "Valkey of CLUSTER does not answer",
			description: "The exporter of pod {{ $labels.pod }} cannot reach its server.",
		},
		{
			name: "ValkeyRejectsConnections", expr: `increase(redis_rejected_connections_total{SERIES}[5m]) > 0`, after: "5m", severity: "warning",
			summary:     "Valkey of CLUSTER turns clients away",
			description: "Pod {{ $labels.pod }} has reached maxclients.",
		},
		{
			name: "ValkeyMemoryFull", after: "5m", severity: "critical",
			expr: `redis_memory_used_bytes{SERIES} / (redis_memory_max_bytes{SERIES} > 0) > 0.9` +
				` and on (namespace, pod) redis_instance_info{SERIES,maxmemory_policy="noeviction"} == 1`,
			summary:     "Valkey of CLUSTER is about to refuse writes",
			description: "Pod {{ $labels.pod }} uses {{ $value | humanizePercentage }} of maxmemory and evicts nothing.",
		},
	}
	if awake(c) {
		out = append(out, alert{
			name: "ValkeyAbsent", expr: `absent(redis_up{SERIES})`, after: "10m", severity: "critical",
			summary:     "No metrics of Valkey CLUSTER",
			description: "No pod of CLUSTER is scraped: there is none, or the PodMonitor is not picked up.",
		})
	}
	out = append(out, replicationAlerts(c)...)
	if c.IsCluster() {
		out = append(out, clusterAlerts()...)
	}
	return append(out, persistenceAlerts(c)...)
}

func replicationAlerts(c *v1alpha1.ValkeyCluster) []alert {
	if c.ReplicaCount() == 0 {
		return nil
	}
	out := []alert{
		{
			name: "ValkeyReplicaLinkDown", expr: `redis_master_link_up{SERIES} == 0`, after: "5m", severity: "warning",
			summary:     "A replica of CLUSTER has lost its primary",
			description: "Pod {{ $labels.pod }} does not follow {{ $labels.master_host }}.",
		},
		{
			name: "ValkeyReplicasMissing", after: "10m", severity: "warning",
			expr:        fmt.Sprintf(`max by (namespace, %s) (redis_connected_slaves{SERIES}) < %d`, seriesShard, c.ReplicaCount()),
			summary:     "A shard of CLUSTER has too few replicas",
			description: "The primary of shard {{ $labels." + seriesShard + " }} has {{ $value }} replicas.",
		},
		{
			name: "ValkeyFullResyncs", expr: `increase(redis_replica_resyncs_full{SERIES}[1h]) > 3`, severity: "warning",
			summary:     "Replicas of CLUSTER copy everything again and again",
			description: "Pod {{ $labels.pod }} gave {{ $value }} full copies within an hour; its replication backlog may be too small.",
		},
	}
	if !c.HasRoles() {
		return out
	}
	out = append(out, alert{
		name: "ValkeySeveralPrimaries", expr: `count by (namespace) (redis_instance_info{SERIES,role="master"}) > 1`, after: "1m", severity: "critical",
		summary:     "CLUSTER has more than one primary",
		description: "{{ $value }} pods of CLUSTER take writes, and those of all but one will be lost.",
	})
	if awake(c) {
		out = append(out, alert{
			name: "ValkeyNoPrimary", expr: `absent(redis_instance_info{SERIES,role="master"})`, after: "1m", severity: "critical",
			summary:     "CLUSTER has no primary",
			description: "No pod of CLUSTER takes writes.",
		})
	}
	return out
}

// awake reports whether pods are expected, and so whether it is an alarm that
// there are none.
func awake(c *v1alpha1.ValkeyCluster) bool { return !c.Spec.Hibernate }

// clusterAlerts go beyond cluster_state, which stays ok while slots are being
// moved and, without full coverage, while some are owned by nobody.
func clusterAlerts() []alert {
	return []alert{
		{
			name: "ValkeyClusterDown", expr: `redis_cluster_state{SERIES} == 0`, after: "1m", severity: "critical",
			summary:     "CLUSTER refuses keys",
			description: "Pod {{ $labels.pod }} sees the cluster as failed.",
		},
		{
			name: "ValkeySlotsUnassigned", expr: fmt.Sprintf(`redis_cluster_slots_assigned{SERIES} < %d`, name.SlotCount), after: "5m", severity: "critical",
			summary:     "Slots of CLUSTER are owned by no shard",
			description: "Pod {{ $labels.pod }} knows the owners of {{ $value }} slots only.",
		},
		{
			name: "ValkeySlotsFailing", expr: `redis_cluster_slots_ok{SERIES} < redis_cluster_slots_assigned{SERIES}`, after: "2m", severity: "critical",
			summary:     "Slots of CLUSTER are owned by a node that is gone",
			description: "Pod {{ $labels.pod }} sees {{ $value }} slots that are served.",
		},
	}
}

func persistenceAlerts(c *v1alpha1.ValkeyCluster) []alert {
	var out []alert
	mode := c.StorageMode()
	if mode == v1alpha1.StorageRDB || mode == v1alpha1.StorageBoth {
		out = append(out, alert{
			name: "ValkeySnapshotFailing", expr: `redis_rdb_last_bgsave_status{SERIES} == 0`, after: "5m", severity: "critical",
			summary:     "Snapshots of CLUSTER fail",
			description: "Pod {{ $labels.pod }} could not write its last snapshot, and stops taking writes for it.",
		})
	}
	if mode == v1alpha1.StorageAOF || mode == v1alpha1.StorageBoth {
		out = append(out, alert{
			name: "ValkeyAppendFailing", expr: `redis_aof_last_write_status{SERIES} == 0`, after: "1m", severity: "critical",
			summary:     "The append-only file of CLUSTER cannot be written",
			description: "Pod {{ $labels.pod }} refuses writes until its disk takes them again.",
		})
	}
	return out
}

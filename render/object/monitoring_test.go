// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// exported are the metrics of redis_exporter that are used here, as its source
// names them: INFO fields through its tables of gauges and counters, CLUSTER INFO
// fields by the prefix cluster_.
func exported() []string {
	return strings.Fields(`
redis_aof_last_write_status redis_cluster_slots_assigned redis_cluster_slots_ok redis_cluster_state
redis_commands_processed_total redis_connected_clients redis_connected_slave_lag_seconds redis_connected_slaves
redis_cpu_sys_seconds_total redis_cpu_user_seconds_total redis_db_keys redis_evicted_keys_total
redis_expired_keys_total redis_instance_info redis_keyspace_hits_total redis_keyspace_misses_total
redis_master_link_up redis_mem_fragmentation_ratio redis_memory_max_bytes redis_memory_used_bytes
redis_net_input_bytes_total redis_net_output_bytes_total redis_rdb_last_bgsave_status
redis_rejected_connections_total redis_replica_resyncs_full redis_up`)
}

func TestAlertsAndDashboardUseMetricsThatExist(t *testing.T) {
	metric := regexp.MustCompile(`\bredis_[a-z_]+`)
	used := map[string]bool{}
	for _, topology := range []v1alpha1.Topology{v1alpha1.TopologyCluster, v1alpha1.TopologySentinel} {
		c := &v1alpha1.ValkeyCluster{}
		c.Spec.Topology, c.Spec.Profile, c.Spec.Storage = topology, v1alpha1.ProfileDurable, &v1alpha1.StorageSpec{}
		for _, a := range alerts(c) {
			for _, m := range metric.FindAllString(a.expr, -1) {
				used[m] = true
			}
			if strings.Count(a.expr, "{SERIES") != len(metric.FindAllString(a.expr, -1)) {
				t.Errorf("%s is not only about its cluster: %s", a.name, a.expr)
			}
		}
	}
	for _, m := range metric.FindAllString(dashboard, -1) {
		used[m] = true
	}
	for m := range used {
		if !slices.Contains(exported(), m) {
			t.Errorf("redis_exporter has no %s", m)
		}
	}
	for _, m := range exported() {
		if !used[m] {
			t.Errorf("%s is not used", m)
		}
	}
}

func TestDashboardIsOfItsCluster(t *testing.T) {
	uids := map[string]bool{}
	for _, namespace := range []string{"", "shop", "other"} {
		c := &v1alpha1.ValkeyCluster{}
		c.Name, c.Namespace = strings.Repeat("a", 40), namespace
		c.Spec.Metrics = &v1alpha1.MetricsSpec{Enabled: true, Dashboard: &v1alpha1.MonitorSpec{}}
		text := dashboardConfigMap(c).Data[c.Name+".json"]
		var parsed struct {
			UID    string `json:"uid"`
			Panels []struct {
				Title   string `json:"title"`
				Targets []struct {
					Expr string `json:"expr"`
				} `json:"targets"`
			} `json:"panels"`
		}
		if err := json.Unmarshal([]byte(text), &parsed); err != nil {
			t.Fatal(err)
		}
		if uids[parsed.UID] || len(parsed.UID) > 40 {
			t.Errorf("uid %q", parsed.UID)
		}
		uids[parsed.UID] = true
		for _, p := range parsed.Panels {
			for _, target := range p.Targets {
				if !strings.Contains(target.Expr, `valkey_cluster="`+c.Name+`"`) || strings.Contains(target.Expr, "SERIES") {
					t.Errorf("panel %s: %s", p.Title, target.Expr)
				}
			}
		}
		if len(parsed.Panels) == 0 {
			t.Error("no panels")
		}
	}
}

func TestDurationsAsPrometheusReadsThem(t *testing.T) {
	for _, c := range []struct {
		in   time.Duration
		want string
	}{{30 * time.Second, "30s"}, {90 * time.Second, "90s"}, {1500 * time.Millisecond, "1500ms"}, {time.Hour, "3600s"}} {
		if got := prometheusDuration(c.in); got != c.want {
			t.Errorf("%v is %q, want %q", c.in, got, c.want)
		}
	}
}

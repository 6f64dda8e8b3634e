// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"strconv"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// Labels that the PodMonitor puts on every series; the alerts and the dashboard
// select by them.
const (
	seriesCluster = "valkey_cluster"
	seriesShard   = "valkey_shard"
)

// podMonitor tells the Prometheus operator to scrape the exporters, or is nil.
func podMonitor(c *v1alpha1.ValkeyCluster) map[string]any {
	if !c.PodMonitorEnabled() {
		return nil
	}
	endpoint := map[string]any{
		"port":     portMetrics,
		"interval": prometheusDuration(c.ScrapeInterval()),
		"relabelings": []any{
			relabel("__meta_kubernetes_pod_label_valkey_render_dev_cluster", seriesCluster),
			relabel("__meta_kubernetes_pod_label_valkey_render_dev_shard", seriesShard),
		},
	}
	return custom("monitoring.coreos.com/v1", "PodMonitor", monitorMeta(c, name.PodMonitor(c.Name), c.Spec.Metrics.PodMonitor), map[string]any{
		"selector":            map[string]any{"matchLabels": anyMap(name.ServerSelector(c.Name))},
		"podMetricsEndpoints": []any{endpoint},
	})
}

// relabel copies a label of the target. The action is the default, written out
// because the list is replaced as a whole.
func relabel(from, to string) map[string]any {
	return map[string]any{"action": "replace", "sourceLabels": []any{from}, "targetLabel": to}
}

// prometheusDuration writes a duration as Prometheus reads it, which knows no
// fractions.
func prometheusDuration(d time.Duration) string {
	if d%time.Second != 0 {
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	}
	return strconv.FormatInt(int64(d/time.Second), 10) + "s"
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// dashboard is a Grafana dashboard in which DASHBOARD_UID, CLUSTER_NAME and
// SERIES_MATCHERS stand for what differs between clusters.
//
//go:embed dashboard.json
var dashboard string

// dashboardConfigMap holds a dashboard where Grafana's sidecar looks for it, or is
// nil.
func dashboardConfigMap(c *v1alpha1.ValkeyCluster) *corev1.ConfigMap {
	if !c.DashboardEnabled() {
		return nil
	}
	series := seriesCluster + `=\"` + c.Name + `\"`
	if c.Namespace != "" {
		series = `namespace=\"` + c.Namespace + `\",` + series
	}
	// A UID is at most 40 characters long and the same in every render, so that
	// links to the dashboard keep working.
	sum := sha256.Sum256([]byte(c.Namespace + "/" + c.Name))
	text := strings.NewReplacer(
		"DASHBOARD_UID", "valkey-"+hex.EncodeToString(sum[:12]),
		"CLUSTER_NAME", strings.TrimPrefix(c.Namespace+"/"+c.Name, "/"),
		"SERIES_MATCHERS", series,
	).Replace(dashboard)
	m := configMap(c, name.Dashboard(c.Name), map[string]string{c.Name + ".json": text})
	m.ObjectMeta = monitorMeta(c, m.Name, c.Spec.Metrics.Dashboard)
	m.Annotations = verbatim()
	if _, set := m.Labels["grafana_dashboard"]; !set {
		m.Labels["grafana_dashboard"] = "1"
	}
	return m
}

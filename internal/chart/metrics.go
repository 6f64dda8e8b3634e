// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/topologyjob/metric"
)

// MetricsTable is a page with its table of metrics written anew. served reports whether the
// reconciler has a metric already.
func MetricsTable(page []byte, served func(name string) bool) ([]byte, error) {
	var rows [][]string
	for _, d := range metric.Definitions() {
		help := d.Help
		if !served(metric.Prefix + d.Name) {
			help += " **Not in this version.**"
		}
		rows = append(rows, []string{"`" + metric.Prefix + d.Name + "`", d.Type, strings.Join(d.Labels, ", "), help})
	}
	return table(page, "metrics", []string{"metric", "type", "labels", "is"}, rows)
}

// AlertsTable is a page with its table of alerts written anew, from the file of rules.
func AlertsTable(page, file []byte) ([]byte, error) {
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, For          string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(file, &rules); err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	var rows [][]string
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			rows = append(rows, []string{"`" + r.Alert + "`", r.Labels["severity"], r.For, r.Annotations["description"]})
		}
	}
	return table(page, "alerts", []string{"alert", "severity", "after", "means"}, rows)
}

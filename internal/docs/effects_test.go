// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render"
	"github.com/valkey-render/valkey-render/render/load"
)

// changes are two specs for each field of which the page says what a change does.
func changes() map[string][2]string {
	const metrics = "metrics: {enabled: true, "
	return map[string][2]string{
		"spec.version":                 {`version: "9.0"`, `version: "9.1"`},
		"spec.image":                   {"image: docker.io/valkey/valkey:9.1.1", "image: docker.io/valkey/valkey:9.1.2"},
		"spec.imagePullPolicy":         {"", "imagePullPolicy: Always"},
		"spec.imagePullSecrets":        {"", "imagePullSecrets: [{name: a}]"},
		"spec.resources":               {"resources: {limits: {memory: 1Gi}}", "resources: {limits: {memory: 2Gi}}"},
		"spec.memory.maxmemoryPercent": {"", "memory: {maxmemoryPercent: 50}"},
		"spec.modules":                 {"", "modules: [{name: a, image: 'example.com/a:1.0', path: /a.so}]"},
		"spec.storage.mode":            {"storage: {}", "storage: {mode: aof}"},
		"spec.users":                   {"", "users: [{name: a}]"},
		"spec.tls.secretName":          {"tls: {}", "tls: {secretName: a}"},
		"spec.tls.clientAuth":          {"tls: {}", "tls: {clientAuth: Required}"},
		"spec.tls.minVersion":          {"tls: {}", `tls: {minVersion: "1.3"}`},
		"spec.networking.clusterDomain": {
			"", "networking: {clusterDomain: example.com}",
		},
		"spec.networking.announce":  {"", "networking: {announce: hostname}"},
		"spec.metrics.enabled":      {"", "metrics: {enabled: true}"},
		"spec.metrics.image":        {metrics + "image: 'example.com/a:1.0'}", metrics + "image: 'example.com/a:1.1'}"},
		"spec.metrics.args":         {metrics + "args: [a]}", metrics + "args: [b]}"},
		"spec.metrics.resources":    {metrics + "args: [a]}", metrics + "args: [a], resources: {limits: {cpu: 1}}}"},
		"spec.failover.nodeTimeout": {"", "failover: {nodeTimeout: 5s}"},
	}
}

// TestEffectsOfChangesAreSaid: where a page says "Rolls." a change is in the pod
// template, and where it says "Live." it is not.
func TestEffectsOfChangesAreSaid(t *testing.T) {
	path := specPages[v1alpha1.KindCluster]
	known := changes()
	for name, s := range fieldSections(t, read(t, path)) {
		said := " " + strings.Join(s.Lines, " ") + " "
		rolls, live := strings.Contains(said, " Rolls. "), strings.Contains(said, " Live. ")
		specs, ok := known[name]
		if ok != (rolls || live) {
			t.Errorf("%s:%d: %s: the page says what a change does: %v, the tests know one: %v", path, s.Line, name, rolls || live, ok)
		}
		if !ok {
			continue
		}
		if changed := cmp.Diff(templates(t, specs[0]), templates(t, specs[1])) != ""; changed != rolls {
			t.Errorf("%s:%d: %s: the pod template changes: %v", path, s.Line, name, changed)
		}
	}
}

// templates are the pod templates of data pods.
func templates(t *testing.T, spec string) []any {
	t.Helper()
	cluster := &v1alpha1.ValkeyCluster{}
	cluster.Name, cluster.Namespace = "cache", "shop"
	if err := yaml.UnmarshalStrict([]byte(spec), &cluster.Spec); err != nil {
		t.Fatal(err)
	}
	result := render.Build(load.Set{Clusters: []load.Cluster{{Object: cluster}}}, render.Options{})
	if result.Findings.HasErrors() {
		t.Fatalf("%s: %s", spec, result.Findings.Text())
	}
	var out []any
	for _, o := range result.Objects {
		if o.GetKind() == "StatefulSet" {
			out = append(out, o.Object["spec"].(map[string]any)["template"])
		}
	}
	return out
}

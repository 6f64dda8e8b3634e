// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/load"
)

func FuzzParse(f *testing.F) {
	f.Add([]byte(everyType))
	f.Add([]byte(cluster("on", "spec: {config: {a: 1, a: &x [*x]}}\n---\n\tx: y\n")))
	f.Add([]byte("a: &a [x]\nb: &b [*a, *a]\nc: {<<: *b, ? [] : 1}\n...\n--- {kind: List, apiVersion: v1, items: [1]}"))
	f.Add([]byte("apiVersion: v1\nkind: List\nitems:\n- !!map {apiVersion: valkey-render.dev/v1alpha1, kind: ValkeyACL, metadata: {<<: [{name: a}]}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		set, findings := load.Parse([]load.Source{{Name: "f", Data: data}}, load.Options{})
		_ = findings.Text()
		lines := 1 + bytes.Count(data, []byte("\n"))
		for _, found := range findings {
			if found.Line > lines || found.Line < 0 || found.Message == "" {
				t.Errorf("line %d of %d: %s", found.Line, lines, found)
			}
			if strings.Contains(found.String(), "\n") {
				t.Errorf("more than one line: %q", found)
			}
		}
		for _, c := range set.Clusters {
			if line, _ := c.Origin.Position("spec.users[0].name"); line < 1 || line > lines {
				t.Errorf("position %d of %d", line, lines)
			}
			if findings.HasErrors() {
				continue
			}
			var kube v1alpha1.ValkeyCluster
			if len(set.Clusters)+len(set.ACLs) == 1 && set.Ignored == 0 && bytes.Count(data, []byte("kind")) == 1 && len(findings) == 0 {
				if err := yaml.Unmarshal(data, &kube); err == nil && asYAML(t, &kube) != asYAML(t, c.Object) {
					t.Errorf("kubernetes reads another object:\n%s", cmp.Diff(asYAML(t, &kube), asYAML(t, c.Object)))
				}
			}
		}
	})
}

func BenchmarkParse1000Clusters(b *testing.B) {
	var sources []load.Source
	for i := range 1000 {
		text := strings.Replace(everyType, "name: shop", fmt.Sprintf("name: shop%d-x", i), 1)
		sources = append(sources, load.Source{Name: fmt.Sprintf("c%d.yaml", i), Data: []byte(text)})
	}
	b.ReportAllocs()
	for b.Loop() {
		if set, findings := load.Parse(sources, load.Options{}); len(findings) > 0 || len(set.Clusters) != 1000 {
			b.Fatalf("%s", findings.Text())
		}
	}
}

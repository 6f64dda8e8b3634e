// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"fmt"

	"github.com/valkey-render/valkey-render/render"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/render/write"
)

// A platform embeds the renderer: text in, objects out, no cluster needed.
func Example() {
	spec := `
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: cache, namespace: shop}
spec:
  topology: Standalone
  resources: {limits: {memory: 256Mi}}
`
	set, findings := load.Parse([]load.Source{{Name: "cache.yaml", Data: []byte(spec)}}, load.Options{})
	if findings.HasErrors() {
		fmt.Println(findings.Err())
		return
	}
	result := render.Build(set, render.Options{})
	if result.Findings.HasErrors() {
		fmt.Println(result.Findings.Err())
		return
	}
	for _, o := range result.Objects {
		fmt.Println(o.GetKind(), o.GetName())
	}
	// Output:
	// ValkeyCluster cache
	// ConfigMap cache-live
	// ConfigMap cache-scripts
	// Service cache
	// Service cache-nodes
	// StatefulSet cache-0
	// PodDisruptionBudget cache-0
}

// From text to text, with everything that was found on the way.
func Example_text() {
	sources := []load.Source{{Name: "cache.yaml", Data: []byte(`
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyACL
metadata: {name: team, namespace: shop}
spec:
  clusterRef: {name: cache}
  users: [{name: app, passwordSecret: {name: app}}]
`)}}
	set, findings := load.Parse(sources, load.Options{})
	result := render.Build(set, render.Options{})
	findings = append(findings, result.Findings...).Sorted()
	text, err := write.YAML(result.Objects)
	fmt.Println(len(findings), len(text) > 0, err)
	// Output:
	// 1 true <nil>
}

// Nothing is rendered while a finding is an error; each names its place and, where
// there is one, the nearest right value.
func ExampleBuild_findings() {
	spec := `
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: cache, namespace: shop}
spec:
  config:
    maxmemory-polcy: allkeys-lru
`
	set, _ := load.Parse([]load.Source{{Name: "cache.yaml", Data: []byte(spec)}}, load.Options{})
	result := render.Build(set, render.Options{})
	fmt.Println(len(result.Objects), "objects")
	fmt.Println(result.Findings.Err())
	// Output:
	// 0 objects
	// cache.yaml:7:5: error VR0201 ValkeyCluster/shop/cache spec.config[maxmemory-polcy]: unknown directive; did you mean "maxmemory-policy"? (document 1)
}

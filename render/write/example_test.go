// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package write_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/render"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/render/write"
)

func settings(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "namespace": "shop"},
		"data":     map[string]any{"answer": "yes", "valkey.conf": "port 6379\nappendonly yes\n"},
	}}
}

// Files are named after their objects, so that a review shows what changed in which.
func ExampleFiles() {
	files, err := write.Files([]*unstructured.Unstructured{settings("a"), settings("b")})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Println(name)
	}
	// Output:
	// configmap-a.yaml
	// configmap-b.yaml
}

func ExampleTo() {
	if err := write.To(os.Stdout, []*unstructured.Unstructured{settings("a")}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// apiVersion: v1
	// data:
	//   answer: "yes"
	//   valkey.conf: |
	//     port 6379
	//     appendonly yes
	// kind: ConfigMap
	// metadata:
	//   name: a
	//   namespace: shop
}

// A KRM function reads a ResourceList and writes one: the items that are specs are
// rendered, all others pass as they are.
func ExampleReadResourceList() {
	in := `apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: valkey-render.dev/v1alpha1
  kind: ValkeyCluster
  metadata: {name: cache, namespace: shop}
  spec: {topology: Standalone, resources: {limits: {memory: 256Mi}}}
- apiVersion: v1
  kind: Service
  metadata: {name: other, namespace: shop}
`
	list, err := write.ReadResourceList([]byte(in))
	if err != nil {
		fmt.Println(err)
		return
	}
	set, findings := load.Parse(list.Sources(), load.Options{Foreign: load.ForeignIgnore})
	result := render.Build(set, render.Options{})
	out, _, err := list.Output(result.Objects, append(findings, result.Findings...))
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "  kind: ") {
			fmt.Print(strings.TrimSpace(line), "\n")
		}
	}
	// Output:
	// kind: ValkeyCluster
	// kind: Service
	// kind: ConfigMap
	// kind: ConfigMap
	// kind: Service
	// kind: Service
	// kind: StatefulSet
	// kind: PodDisruptionBudget
}

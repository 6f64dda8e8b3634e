// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package write_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/internal/golden"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/render/write"
)

// rendered stands for what Build makes of the specs in the ResourceLists here.
func rendered(cluster string) []*unstructured.Unstructured {
	labels := map[string]any{"valkey-render.dev/cluster": cluster}
	out := []*unstructured.Unstructured{
		object("ValkeyCluster", "prod", cluster, map[string]any{"spec": map[string]any{"delivery": "GitOps"}}),
		object("Service", "prod", cluster, map[string]any{"spec": map[string]any{"clusterIP": "None"}}),
		object("StatefulSet", "prod", cluster+"-0", map[string]any{"spec": map[string]any{"conf": "a \n\tb\n\n# end\n"}}),
	}
	out[0].SetAPIVersion("valkey-render.dev/v1alpha1")
	for _, obj := range out {
		obj.SetAnnotations(map[string]string{"valkey-render.dev/render-hash": "abc"})
		if err := unstructured.SetNestedMap(obj.Object, labels, "metadata", "labels"); err != nil {
			panic(err)
		}
	}
	return out
}

// function is a whole call: read, parse, write.
func function(t *testing.T, in []byte, objs []*unstructured.Unstructured) (string, finding.List, load.Set) {
	t.Helper()
	list, err := write.ReadResourceList(in)
	if err != nil {
		t.Fatal(err)
	}
	set, findings := load.Parse(list.Sources(), load.Options{AllowEmpty: true})
	out, all, err := list.Output(objs, findings)
	if err != nil {
		t.Fatal(err)
	}
	var shape struct {
		APIVersion, Kind string
		Items            []map[string]any
		Results          []map[string]any
	}
	if err := yaml.Unmarshal(out, &shape); err != nil || shape.Kind != "ResourceList" || len(shape.Results) != len(all) {
		t.Errorf("%v\n%s", err, out)
	}
	return string(out), all, set
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestFunctionReplacesWhatItRenders(t *testing.T) {
	out, findings, set := function(t, read(t, "krm/input.yaml"), rendered("shop"))
	if findings.HasErrors() || len(set.Clusters) != 1 {
		t.Fatalf("%d clusters\n%s", len(set.Clusters), findings.Text())
	}
	if diff := cmp.Diff(map[string]string{"team": "web"}, set.Clusters[0].Object.Annotations); diff != "" {
		t.Errorf("annotations of the orchestrator are read: %s", diff)
	}
	golden.File(t, "testdata/krm/output.yaml", []byte(out))
	again, _, _ := function(t, []byte(out), rendered("shop"))
	if diff := cmp.Diff(out, again); diff != "" && !strings.Contains(out, "results:") {
		t.Errorf("a second run changes its own output (-first +second):\n%s", diff)
	}
}

func TestFunctionReportsResultsAndPassesItemsOnErrors(t *testing.T) {
	out, findings, _ := function(t, read(t, "krm/bad.yaml"), rendered("shop"))
	if !findings.HasErrors() {
		t.Fatal("no errors")
	}
	golden.File(t, "testdata/krm/bad-output.yaml", []byte(out))
}

func TestFunctionConfigMayBeTheSpec(t *testing.T) {
	in := `apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: valkey-render.dev/v1alpha1
  kind: ValkeyCluster
  metadata: {name: shop, namespace: prod, annotations: {valkey-render.dev/render-hash: old}}
- apiVersion: v1
  kind: Service
  metadata: {name: shop, namespace: prod, annotations: {valkey-render.dev/render-hash: old}}
functionConfig:
  # the spec
  apiVersion: valkey-render.dev/v1alpha1
  kind: ValkeyCluster
  metadata: {name: shop, namespace: prod}
`
	out, findings, set := function(t, []byte(in), rendered("shop"))
	if len(findings) > 0 || len(set.Clusters) != 1 || set.Clusters[0].Origin.File != "functionConfig" {
		t.Fatalf("%+v\n%s", set.Clusters, findings.Text())
	}
	if strings.Contains(out, "render-hash: old") || !strings.Contains(out, "functionConfig:\n  # the spec\n  apiVersion: ") || strings.Count(out, "\n- ") != 3 {
		t.Errorf("output:\n%s", out)
	}
	again, _, _ := function(t, []byte(out), rendered("shop"))
	if diff := cmp.Diff(out, again); diff != "" {
		t.Errorf("a second run differs:\n%s", diff)
	}
}

func TestListsWithoutItems(t *testing.T) {
	for _, items := range []string{"", "items:\n", "items: []\n"} {
		out, _, _ := function(t, []byte("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"+items+"functionConfig: {apiVersion: v1, kind: ConfigMap}\n"), nil)
		if out != "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n  {apiVersion: v1, kind: ConfigMap}\n" {
			t.Errorf("output:\n%s", out)
		}
	}
}

func TestWhatIsNoResourceList(t *testing.T) {
	for in, want := range map[string]string{
		"":                                      "ResourceList: is empty",
		"a: b: c":                               "ResourceList: yaml: mapping values are not allowed in this context",
		"[]":                                    `ResourceList: apiVersion "" and kind "" are not those of a config.kubernetes.io/v1 ResourceList`,
		"apiVersion: v1\nkind: List\nitems: []": `ResourceList: apiVersion "v1" and kind "List" are not those of a config.kubernetes.io/v1 ResourceList`,
		"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: {}":              "ResourceList: items is not a list",
		"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: [{a: b}, x]":     "ResourceList: items[1] is not an object",
		"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: [&a {b: c}, *a]": "ResourceList: anchors and aliases are not supported",
	} {
		if _, err := write.ReadResourceList([]byte(in)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
}

func TestValuesThatCannotBeWrittenInAList(t *testing.T) {
	list, err := write.ReadResourceList([]byte("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: a, annotations: {valkey-render.dev/render-hash: x}}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, called := range []string{"a", "b"} {
		if _, _, err := list.Output([]*unstructured.Unstructured{object("A", "", called, map[string]any{"spec": struct{}{}})}, nil); err == nil {
			t.Errorf("%s: no error", called)
		}
	}
}

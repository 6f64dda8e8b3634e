// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/crd"
)

func TestWrongValuesAreRefusedByTheirPath(t *testing.T) {
	for _, c := range []struct{ chart, values, path, words string }{
		{reconciler, "replicas: 2", "''", "'replicas'"},
		{reconciler, "replicaCount: two", "/replicaCount", "want integer"},
		{reconciler, "image: {tagg: v1}", "/image", "'tagg'"},
		{reconciler, "image: {digest: abc}", "/image/digest", "pattern"},
		{reconciler, "rbac: {scope: Namespaced}", "/rbac/scope", "'cluster', 'namespace'"},
		{reconciler, "guard: {failurePolicy: fail}", "/guard/failurePolicy", "'Fail', 'Ignore'"},
		{reconciler, "metrics: {port: 70000}", "/metrics/port", "65,535"},
		{reconciler, "watchNamespaces: shop", "/watchNamespaces", "want array"},
		{reconciler, "watchNamespaces: ['shop,ops']", "/watchNamespaces/0", "pattern"},
		{reconciler, "resync: 30", "/resync", "want string"},
		{reconciler, "resources: {limit: {}}", "/resources", "'limit'"},
		{reconciler, "crd: {keep: 'yes'}", "/crd/keep", "want boolean"},
		{reconciler, "logging: {level: loud}", "/logging/level", "pattern"},

		{cluster, "shard: 3", "''", "'shard'"},
		{cluster, "shards: three", "/shards", "want integer"},
		{cluster, "topology: Ring", "/topology", "'Cluster'"},
		{cluster, "version: 9.1", "/version", "want string"},
		{cluster, "storage: {sise: 1Gi}", "/storage", "'sise'"},
		{cluster, "config: {hz: 20}", "/config/hz", "want string"},
		{cluster, "users: [{login: app}]", "/users/0", "'login'"},
		{cluster, "scheduling: {node: {spread: {shard: {mode: Always}}}}", "/scheduling/node/spread/shard/mode", "'Preferred'"},
		{cluster, "clusterName: Cache", "/clusterName", "pattern"},
		{cluster, "helmTest: {timeout: 3}", "/helmTest", "'timeout'"},
	} {
		_, err := named{name: "cache", namespace: "shop"}.template(t, load(t, c.chart), values(t, c.values))
		if err == nil || !strings.Contains(err.Error(), c.path) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %s: want an error at %s with %s, got %v", c.chart, c.values, c.path, c.words, err)
		}
	}
}

// spec is the schema of the spec of ValkeyClusters.
func spec(t testing.TB) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	var d apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal([]byte(crd.ValkeyCluster()), &d); err != nil {
		t.Fatal(err)
	}
	return d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
}

// example is a value with every field of a schema, of the right types; what a field means is
// not looked at.
func example(s apiextensionsv1.JSONSchemaProps) any {
	switch {
	case len(s.Enum) > 0:
		var v any
		_ = json.Unmarshal(s.Enum[len(s.Enum)-1].Raw, &v)
		return v
	case s.XIntOrString:
		return "1Gi"
	case s.Type == "object" && len(s.Properties) > 0:
		out := map[string]any{}
		for name, field := range s.Properties {
			out[name] = example(field)
		}
		return out
	case s.Type == "object" && s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return map[string]any{"key": example(*s.AdditionalProperties.Schema)}
	case s.Type == "object":
		return map[string]any{"any": "thing"}
	case s.Type == "array":
		return []any{example(*s.Items.Schema)}
	case s.Type == "integer":
		// Written as 1e+06 by whoever takes it for a float.
		return int64(1000000)
	case s.Type == "boolean":
		return false
	default:
		return "text"
	}
}

// TestEveryFieldOfTheSpecIsReachable: under its own name, at any depth, falsehoods included.
func TestEveryFieldOfTheSpecIsReachable(t *testing.T) {
	want, ok := example(spec(t)).(map[string]any)
	if !ok || len(want) < 35 {
		t.Fatalf("the spec has %d fields", len(want))
	}
	text, err := yaml.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	r, err := named{name: "cache", namespace: "shop", unchecked: true}.template(t, load(t, cluster), values(t, string(text)))
	if err != nil {
		t.Fatal(err)
	}
	got, _, _ := unstructured.NestedMap(find(t, r.objects, "ValkeyCluster", "cache").Object, "spec")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-values +spec)\n%s", diff)
	}
}

// TestSchemaKnowsEveryField that the definition has.
func TestSchemaKnowsEveryField(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(directory(cluster), "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var raw map[string]any
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	properties, _ := raw["properties"].(map[string]any)
	for _, own := range []string{"clusterName", "clusterLabels", "clusterAnnotations", "helmTest", "global"} {
		if properties[own] == nil {
			t.Errorf("no schema of %s", own)
		}
		delete(properties, own)
	}
	want := paths("", any(tree(spec(t))))
	got := paths("", any(jsonTree(raw)))
	if diff := cmp.Diff(want, got); diff != "" || len(want) < 200 {
		t.Errorf("%d fields (-definition +schema)\n%s", len(want), diff)
	}
}

// tree is the fields of a schema, by name, through lists and maps.
func tree(s apiextensionsv1.JSONSchemaProps) map[string]any {
	if s.Items != nil && s.Items.Schema != nil {
		return tree(*s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		return tree(*s.AdditionalProperties.Schema)
	}
	out := map[string]any{}
	for name, field := range s.Properties {
		out[name] = tree(field)
	}
	return out
}

func jsonTree(s map[string]any) map[string]any {
	for _, inner := range []string{"items", "additionalProperties"} {
		if below, ok := s[inner].(map[string]any); ok {
			return jsonTree(below)
		}
	}
	out := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	for name, field := range properties {
		out[name] = jsonTree(field.(map[string]any))
	}
	return out
}

func paths(at string, node any) []string {
	fields, _ := node.(map[string]any)
	if len(fields) == 0 {
		return []string{at}
	}
	var out []string
	for name, field := range fields {
		out = append(out, paths(at+"."+name, field)...)
	}
	slices.Sort(out)
	return out
}

// TestSpecsOfTheAPIAreValues: what the API takes, the schema takes.
func TestSpecsOfTheAPIAreValues(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "api/v1alpha1/testdata/validate/accept-*.yaml"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%d specs: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(filepath.Base(file), "acl") {
			continue
		}
		// The kind is not written in them; integers are to stay integers.
		raw, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		o := documents(t, `{"apiVersion":"v1","kind":"Spec","of":`+string(raw)+`}`)[0]
		content, _, _ := unstructured.NestedMap(o.Object, "of", "spec")
		if content == nil {
			content = map[string]any{}
		}
		if content["delivery"] == nil {
			content["delivery"] = "InCluster"
		}
		text, err = yaml.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		r, err := named{name: "cache", namespace: "shop"}.template(t, load(t, cluster), values(t, string(text)))
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
			continue
		}
		strict(t, append(r.objects, r.hooks...))
		got, _, _ := unstructured.NestedMap(find(t, r.objects, "ValkeyCluster", "cache").Object, "spec")
		if diff := cmp.Diff(content, got); diff != "" {
			t.Errorf("%s (-spec +rendered)\n%s", filepath.Base(file), diff)
		}
	}
}

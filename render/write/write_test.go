// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package write_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	yaml3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/internal/golden"
	"github.com/valkey-render/valkey-render/render/write"
)

func object(kind, namespace, name string, content map[string]any) *unstructured.Unstructured {
	meta := map[string]any{"name": name}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	out := map[string]any{"apiVersion": "v1", "kind": kind, "metadata": meta}
	for key, value := range content {
		out[key] = value
	}
	return &unstructured.Unstructured{Object: out}
}

func TestYAMLForm(t *testing.T) {
	obj := object("Thing", "prod", "a", map[string]any{
		"status": map[string]any{"x": int64(1)},
		"spec": map[string]any{
			"template": map[string]any{"metadata": map[string]any{"creationTimestamp": nil, "labels": map[string]any{"b": "1", "a": "x"}}},
			"bare":     map[string]any{"metadata": map[string]any{"creationTimestamp": nil}},
			"volumes":  []any{map[string]any{"name": "run", "emptyDir": map[string]any{}}, map[string]any{}, []any{}, []any{"x", []any{int64(1)}}},
			"empty":    []any{},
			"none":     nil,
			"int":      int64(7), "i": 5, "i32": int32(6), "float": 0.25, "whole": 3.0, "big": 1e300,
			"bool":       true,
			"conf":       "hz 10 \n\tport 6379\n\n# end\n",
			"noend":      "a\nb",
			"ends":       "a\n\n\n",
			"indented":   "  a\nb\n",
			"blankfirst": "\na\n",
			"blank":      " \n\t\n",
			"lastblank":  "a\n  ",
			"crlf":       "a\r\nb\r\n",
			"args":       []any{"--port", "6379", "-", "- x", "$(POD_IP)", "multi\nline\n", " pad\nline"},
			"words":      []any{"on", "No", "~", "null", "1e3", "0x1f", "010", "0o+0", "0b-1", "-0o-7", "1_000", ".5", "1:30", "2026-01-01", "=", "<<", "", " a", "a ", "a: b", "a:", "a #b", "a#b", "a:b", "*", "%a", "@a", "é", "\u0085", "\ufeff", "<&>", "a\"b", `a\b`, "9.1", "9.1.2", "1.5Gi", "100m", "..", "...", "---", "a\tb", "y", "true", "\U0001f600", "\xff", ".nan", "+1", "-1", "yesterday"},
		},
	})
	got, err := write.YAML([]*unstructured.Unstructured{obj, object("Other", "", "b", nil)})
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/form.yaml", got)
	if _, has := obj.Object["status"]; !has {
		t.Error("the object was changed")
	}
	docs := strings.Split(string(got), "\n---\n")
	if len(docs) != 2 {
		t.Fatalf("%d documents", len(docs))
	}
	want := normal(obj.Object).(map[string]any)
	delete(want, "status")
	for _, path := range []string{"template", "bare"} {
		unstructured.RemoveNestedField(want, "spec", path, "metadata", "creationTimestamp")
	}
	words := want["spec"].(map[string]any)["words"].([]any)
	for i, w := range words {
		if w == "\xff" {
			words[i] = "\ufffd" // what JSON makes of it
		}
	}
	sameToBothReaders(t, want, docs[0])
}

// sameToBothReaders holds that YAML 1.1 as Kubernetes reads it, and 1.2, give
// the value that was written.
func sameToBothReaders(t interface {
	Helper()
	Fatalf(string, ...any)
}, want map[string]any, text string,
) {
	t.Helper()
	raw, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		t.Fatalf("kubernetes cannot read it: %v\n%s", err, text)
	}
	kube := map[string]any{}
	if err := utiljson.Unmarshal(raw, &kube); err != nil {
		t.Fatalf("%v", err)
	}
	var plain map[string]any
	if err := yaml3.Unmarshal([]byte(text), &plain); err != nil {
		t.Fatalf("yaml 1.2 cannot read it: %v\n%s", err, text)
	}
	if diff := cmp.Diff(normal(want), normal(kube)); diff != "" {
		t.Fatalf("kubernetes (-want +got):\n%s\n%s", diff, text)
	}
	if diff := cmp.Diff(normal(want), normal(plain)); diff != "" {
		t.Fatalf("yaml 1.2 (-want +got):\n%s\n%s", diff, text)
	}
}

// normal makes numbers comparable.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			out[key] = normal(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = normal(item)
		}
		return out
	case int:
		return float64(v)
	case int32:
		return float64(v)
	case int64:
		return float64(v)
	}
	return v
}

func TestEveryValueIsReadBackAsItWas(t *testing.T) {
	word := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[-+.:0-9a-fxobeETZ_ ]{0,12}`),
		rapid.StringMatching("[ \t\n#:\\-|>'\"a-c]{0,20}"),
		rapid.SampledFrom([]string{"yes", "NULL", "1__0", "0o7", "0b1", "0o+0", "-0x_1", "12:30:45", "1.5e", ".", "+.inf", "a\n \n", "| x\n", "-", "?", "? a", "!x"}),
	)
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaves := []*rapid.Generator[any]{
			rapid.Map(word, func(s string) any { return s }),
			rapid.Map(rapid.Int64Range(-1<<53, 1<<53), func(i int64) any { return i }),
			rapid.Map(rapid.Bool(), func(b bool) any { return b }),
			rapid.Map(rapid.Float64Range(-1e9, 1e9), func(f float64) any { return f }),
		}
		if depth == 0 {
			return rapid.OneOf(leaves...)
		}
		return rapid.OneOf(append(leaves,
			rapid.Map(rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) }), 0, 4), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(word, rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) }), 0, 4), func(m map[string]any) any { return m }),
		)...)
	}
	rapid.Check(t, func(t *rapid.T) {
		content := map[string]any{"spec": value(3).Draw(t, "spec")}
		obj := object("Thing", "", "a", content)
		text, err := write.YAML([]*unstructured.Unstructured{obj})
		if err != nil {
			t.Fatalf("%v", err)
		}
		if docs, _ := yaml.YAMLToJSON(text); docs == nil {
			t.Fatalf("unreadable:\n%s", text)
		}
		sameToBothReaders(t, obj.Object, string(text))
	})
}

func TestValuesThatAreNotJSONAreErrors(t *testing.T) {
	for _, tc := range []struct {
		value any
		want  string
	}{
		{math.NaN(), "Thing/prod/a: spec: x: NaN is no number in JSON"},
		{[]any{map[string]any{"y": []string{"z"}}}, "Thing/prod/a: spec: x: [0]: y: value of type []string is not one of JSON"},
	} {
		_, err := write.YAML([]*unstructured.Unstructured{object("Thing", "prod", "a", map[string]any{"spec": map[string]any{"x": tc.value}})})
		if err == nil || err.Error() != tc.want {
			t.Errorf("error %v, want %s", err, tc.want)
		}
		if _, err := write.Files([]*unstructured.Unstructured{object("Thing", "prod", "a", map[string]any{"spec": map[string]any{"x": tc.value}})}); err == nil {
			t.Error("files without an error")
		}
	}
	if _, err := write.YAML([]*unstructured.Unstructured{{}}); err == nil {
		t.Error("an object without content is written")
	}
}

func TestFileNames(t *testing.T) {
	one := []*unstructured.Unstructured{object("StatefulSet", "prod", "shop-0", nil), object("Service", "prod", "shop", nil), object("ClusterRole", "", "x.y", nil)}
	files, err := write.Files(one)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"statefulset-shop-0.yaml", "service-shop.yaml", "clusterrole-x.y.yaml"} {
		if !strings.HasPrefix(string(files[path]), write.Header+"apiVersion: v1\nkind: ") {
			t.Errorf("%s is %q", path, files[path])
		}
	}
	files, err = write.Files(append(one, object("Service", "test", "shop", nil)))
	if err != nil || len(files) != 4 || files["test/service-shop.yaml"] == nil || files["prod/service-shop.yaml"] == nil || files["clusterrole-x.y.yaml"] == nil {
		t.Errorf("files %v, %v", files, err)
	}
}

func TestUnsafeAndEqualFileNamesAreErrors(t *testing.T) {
	_, err := write.Files([]*unstructured.Unstructured{
		object("Service", "prod", "../../etc", nil), object("Service", "prod", "a..b", nil), object("Service", "prod", "", nil),
		object("Ser/vice", "prod", "a", nil), object("Service", "..", "a", nil), object("Service", "prod", "A", nil),
		object("Service", "prod", strings.Repeat("a", 201), nil),
		object("Service", "prod", "fine", nil), object("SERVICE", "prod", "fine", nil),
	})
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 8 || lines[0] != `Service/prod/../../etc: name "../../etc" cannot be part of a file name` ||
		lines[7] != "Service/prod/fine and SERVICE/prod/fine: both would be written to prod/service-fine.yaml" {
		t.Errorf("errors:\n%s", err)
	}
}

func BenchmarkYAML(b *testing.B) {
	conf := strings.Repeat("maxmemory-policy allkeys-lru\n", 60)
	var objs []*unstructured.Unstructured
	for range 1000 {
		objs = append(objs, object("StatefulSet", "prod", "a", map[string]any{"spec": map[string]any{
			"template": map[string]any{"metadata": map[string]any{"annotations": map[string]any{"valkey-render.dev/valkey.conf": conf}}},
		}}))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := write.YAML(objs); err != nil {
			b.Fatal(err)
		}
	}
}

func TestNoGoldenIsUnread(t *testing.T) {
	golden.Only(t, "testdata", "form.yaml", "krm")
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package chart_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/crd"
	"github.com/valkey-render/valkey-render/internal/chart"
	"github.com/valkey-render/valkey-render/internal/golden"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/metric"
	"github.com/valkey-render/valkey-render/topologyjob/reconciler"
)

const charts = "../../charts"

func read(t testing.TB, path ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{charts}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func must[T any](t testing.TB, value T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestFilesAreWhatTheirSourcesGive(t *testing.T) {
	reconciler := filepath.Join(charts, "valkey-reconciler", "templates")
	definitions, err := chart.Definitions()
	for name, text := range must(t, definitions, err) {
		golden.File(t, filepath.Join(reconciler, name), text)
	}
	there, err := filepath.Glob(filepath.Join(reconciler, "crd-*.yaml"))
	if len(must(t, there, err)) != len(definitions) {
		t.Errorf("files %v, made %d", there, len(definitions))
	}
	rules, err := chart.Rules()
	golden.File(t, filepath.Join(reconciler, "_rules.tpl"), must(t, rules, err))
	schema, err := chart.ClusterSchema()
	golden.File(t, filepath.Join(charts, "valkey-cluster", "values.schema.json"), must(t, schema, err))
	for _, name := range []string{"valkey-reconciler", "valkey-cluster"} {
		values, err := chart.Values(read(t, name, "values.yaml"))
		page, err := chart.ValuesTable(read(t, name, "README.md"), must(t, values, err))
		golden.File(t, filepath.Join(charts, name, "README.md"), must(t, page, err))
	}
}

// served collects the descriptions of what is registered.
type served struct {
	prometheus.Registerer
	texts []string
}

func (s *served) Register(c prometheus.Collector) error {
	descriptions := make(chan *prometheus.Desc, 100)
	c.Describe(descriptions)
	close(descriptions)
	for d := range descriptions {
		s.texts = append(s.texts, d.String())
	}
	return nil
}

func TestPageOfMetricsIsWhatItsSourcesGive(t *testing.T) {
	const file = "../../docs/metrics.md"
	page, err := os.ReadFile(file)
	must(t, page, err)
	registered := &served{}
	if err := metric.New("v1").Register(registered); err != nil {
		t.Fatal(err)
	}
	page, err = chart.MetricsTable(page, func(name string) bool {
		return slices.ContainsFunc(registered.texts, func(text string) bool { return strings.Contains(text, `"`+name+`"`) })
	})
	must(t, page, err)
	page, err = chart.AlertsTable(page, read(t, "valkey-reconciler", "files", "alerts.yaml"))
	golden.File(t, file, must(t, page, err))
}

// execute runs a template as Helm does, with the labels left out.
func execute(t testing.TB, text []byte, run string, values map[string]any) string {
	t.Helper()
	parsed, err := template.New("file").Funcs(template.FuncMap{
		"include": func(called string, _ any) string {
			if called == "valkey-reconciler.lease" {
				return name.ReconcilerLease("")
			}
			return "{}"
		},
		"nindent": func(n int, s string) string { return "\n" + strings.Repeat(" ", n) + s },
	}).Parse(string(text))
	var out bytes.Buffer
	if err := must(t, parsed, err).ExecuteTemplate(&out, run, map[string]any{"Values": values}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func object(t testing.TB, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := yaml.UnmarshalStrict([]byte(text), &o); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return o
}

func TestDefinitionsAreTheSame(t *testing.T) {
	files, err := chart.Definitions()
	got := map[string]map[string]any{}
	for _, text := range must(t, files, err) {
		for _, keep := range []bool{true, false} {
			o := object(t, execute(t, text, "file", map[string]any{"crd": map[string]any{"enabled": true, "keep": keep}}))
			meta := o["metadata"].(map[string]any)
			annotations := meta["annotations"].(map[string]any)
			if kept := annotations["helm.sh/resource-policy"] == "keep"; kept != keep {
				t.Errorf("keep %v: annotations %v", keep, annotations)
			}
			delete(annotations, "helm.sh/resource-policy")
			delete(meta, "labels")
			got[meta["name"].(string)] = o
		}
		if off := execute(t, text, "file", map[string]any{"crd": map[string]any{}}); strings.TrimSpace(off) != "" {
			t.Errorf("disabled, it gives %s", off)
		}
	}
	want := map[string]map[string]any{}
	for _, text := range crd.All() {
		o := object(t, text)
		want[o["metadata"].(map[string]any)["name"].(string)] = o
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-api/crd +chart)\n%s", diff)
	}
}

func TestRulesAreTheSame(t *testing.T) {
	text, err := chart.Rules()
	for name, want := range map[string][]rbacv1.PolicyRule{"rules": reconciler.Rights(), "ownRules": reconciler.OwnRights(name.ReconcilerLease("")), "metricsRules": reconciler.MetricsRights(), "guardRules": reconciler.GuardRights()} {
		var got []rbacv1.PolicyRule
		if err := yaml.UnmarshalStrict([]byte(execute(t, must(t, text, err), "valkey-reconciler."+name, nil)), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-source +template)\n%s", name, diff)
		}
	}
}

// schemaPaths are the paths of a schema that have no properties below, or whose paths are
// values as a whole.
func schemaPaths(path string, schema map[string]any, whole map[string]bool) []string {
	properties, _ := schema["properties"].(map[string]any)
	if len(properties) == 0 || whole[path] {
		return []string{path}
	}
	var out []string
	for name, field := range properties {
		out = append(out, schemaPaths(strings.TrimPrefix(path+"."+name, "."), field.(map[string]any), whole)...)
	}
	slices.Sort(out)
	return out
}

// TestSchemaOfTheReconcilerHasEveryValue, and none that values.yaml does not have.
func TestSchemaOfTheReconcilerHasEveryValue(t *testing.T) {
	values, err := chart.Values(read(t, "valkey-reconciler", "values.yaml"))
	whole := map[string]bool{}
	for _, v := range must(t, values, err) {
		whole[v.Path] = true
	}
	var schema map[string]any
	if err := json.Unmarshal(read(t, "valkey-reconciler", "values.schema.json"), &schema); err != nil {
		t.Fatal(err)
	}
	delete(schema["properties"].(map[string]any), "global") // Helm's own
	want := slices.Sorted(maps.Keys(whole))
	if diff := cmp.Diff(want, schemaPaths("", schema, whole)); diff != "" {
		t.Errorf("(-values.yaml +values.schema.json)\n%s", diff)
	}
	closed("", schema, func(path string) { t.Errorf("%s takes any value below it", path) })
}

// closed calls open for every object with named fields that takes others too.
func closed(path string, schema map[string]any, open func(string)) {
	properties, _ := schema["properties"].(map[string]any)
	if len(properties) > 0 && schema["additionalProperties"] != false {
		open(path)
	}
	for name, field := range properties {
		closed(path+"."+name, field.(map[string]any), open)
	}
}

func TestValuesWithoutWordsAreSeen(t *testing.T) {
	if _, err := chart.Values([]byte("a:\n  # is\n  b: 1\n  c: 2\n")); err == nil || !strings.Contains(err.Error(), "a.c has no comment") {
		t.Errorf("a value without a comment: %v", err)
	}
	got, err := chart.Values([]byte("# about the file\n\n# is a\na: {b: [1]}\nc:\n  # is d,\n  # in two lines\n  d: x\n"))
	want := []chart.Value{{Path: "a", Default: `{"b":[1]}`, About: "is a"}, {Path: "c.d", Default: `"x"`, About: "is d, in two lines"}}
	if diff := cmp.Diff(want, must(t, got, err)); diff != "" {
		t.Error(diff)
	}
}

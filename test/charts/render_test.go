// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/internal/golden"
)

// generated reports whether an object is written out elsewhere: the definitions in
// api/crd, the guard in charts/valkey-reconciler/guard.yaml.
func generated(o *unstructured.Unstructured) bool {
	return o.GetKind() == "CustomResourceDefinition" || strings.HasPrefix(o.GetKind(), "ValidatingAdmissionPolicy")
}

// TestTemplates renders each case of testdata: its values, and what comes out.
func TestTemplates(t *testing.T) {
	for _, name := range []string{reconciler, cluster} {
		for _, called := range golden.Cases(t, filepath.Join("testdata", name)) {
			t.Run(name+"/"+called, func(t *testing.T) {
				t.Parallel()
				at := filepath.Join("testdata", name, called)
				text, err := os.ReadFile(filepath.Join(at, "values.yaml"))
				if err != nil {
					t.Fatal(err)
				}
				n := named{name: "cache", namespace: "shop"}
				if name == reconciler {
					n = named{name: reconciler, namespace: "valkey-system"}
				}
				r, err := n.template(t, load(t, name), values(t, string(text)))
				if err != nil {
					t.Fatal(err)
				}
				strict(t, append(r.objects, r.hooks...))
				var out bytes.Buffer
				for _, o := range append(r.objects, r.hooks...) {
					if generated(o) {
						continue
					}
					text, err := yaml.Marshal(o.Object)
					if err != nil {
						t.Fatal(err)
					}
					out.WriteString("---\n" + string(text))
				}
				golden.File(t, filepath.Join(at, "expected.yaml"), out.Bytes())
				golden.File(t, filepath.Join(at, "notes.txt"), []byte(strings.TrimSpace(r.notes)+"\n"))
				golden.Only(t, at, "values.yaml", "expected.yaml", "notes.txt")
			})
		}
	}
}

func TestLint(t *testing.T) {
	for _, name := range []string{reconciler, cluster} {
		for _, called := range golden.Cases(t, filepath.Join("testdata", name)) {
			text, err := os.ReadFile(filepath.Join("testdata", name, called, "values.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range lint.RunAll(directory(name), values(t, string(text)), "shop").Messages {
				// A chart without an icon is one all the same.
				if !strings.Contains(m.Err.Error(), "icon is recommended") {
					t.Errorf("%s/%s: %s", name, called, m)
				}
			}
		}
	}
}

func TestDefinitionsComeBeforeTheGuard(t *testing.T) {
	r, err := named{name: "valkey", namespace: "ops"}.template(t, load(t, reconciler), nil)
	if err != nil {
		t.Fatal(err)
	}
	last, first := -1, len(r.objects)
	for i, o := range r.objects {
		switch {
		case o.GetKind() == "CustomResourceDefinition":
			last = i
			if o.GetAnnotations()["helm.sh/resource-policy"] != "keep" {
				t.Errorf("%s goes with the release", o.GetName())
			}
		case strings.HasPrefix(o.GetKind(), "ValidatingAdmissionPolicy"):
			first = min(first, i)
		}
	}
	if last < 0 || first == len(r.objects) || last > first {
		t.Errorf("last definition %d, first policy %d of %d", last, first, len(r.objects))
	}
}

// TestTwoReleasesShareNoObject, whether in two namespaces or in one.
func TestTwoReleasesShareNoObject(t *testing.T) {
	const all = `
replicaCount: 2
crd: {enabled: false}
networkPolicy: {enabled: true}
metrics: {serviceMonitor: {enabled: true}, podMonitor: {enabled: true}, prometheusRule: {enabled: true}, dashboard: {enabled: true}}
`
	taken := map[string]named{}
	for _, scope := range []string{"cluster", "namespace"} {
		for _, n := range []named{{name: reconciler, namespace: "a"}, {name: reconciler, namespace: "b"}, {name: "b", namespace: "a"}, {name: "a", namespace: "b"}} {
			v := values(t, all+"rbac: {scope: "+scope+"}\nwatchNamespaces: [shop]\n")
			r, err := n.template(t, load(t, reconciler), v)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range r.objects {
				key := strings.Join([]string{scope, o.GetKind(), o.GetNamespace(), o.GetName()}, " ")
				if other, ok := taken[key]; ok {
					t.Errorf("%s is in the releases %v and %v", key, other, n)
				}
				taken[key] = n
			}
		}
	}
	if len(taken) < 100 {
		t.Errorf("only %d objects compared", len(taken))
	}
}

func TestNamesOfReleasesThatWouldBeCutAreRefused(t *testing.T) {
	for _, name := range []string{"a.b", strings.Repeat("r", 37), "7up"} {
		_, err := named{name: name, namespace: "a"}.template(t, load(t, reconciler), nil)
		if err == nil || !strings.Contains(err.Error(), "at most 36") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (named{name: strings.Repeat("r", 36), namespace: "a"}).template(t, load(t, reconciler), nil); err != nil {
		t.Error(err)
	}
}

// TestFlagsAreThoseOfTheProgram, by the page that is written from it.
func TestFlagsAreThoseOfTheProgram(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "valkey-reconciler.md"))
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, called := range golden.Cases(t, filepath.Join("testdata", reconciler)) {
		text, err := os.ReadFile(filepath.Join("testdata", reconciler, called, "expected.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, flag := range regexp.MustCompile(`(?m)^ +- '?(--[a-z-]+)`).FindAllStringSubmatch(string(text), -1) {
			used[flag[1]] = true
			if !regexp.MustCompile(`(?m)^ +` + flag[1] + ` `).Match(page) {
				t.Errorf("%s: the program has no flag %s", called, flag[1])
			}
		}
	}
	for _, flag := range []string{"--leader-elect", "--namespaces", "--shard-selector", "--metrics-cert-path", "--zap-encoder", "--job-image"} {
		if !used[flag] {
			t.Errorf("no case has %s", flag)
		}
	}
}

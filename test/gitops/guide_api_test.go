// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// definitions are the files of other projects that define what the guide shows, and
// the modules that they come with.
var definitions = []struct{ module, file, kind string }{
	{"github.com/argoproj/argo-cd/v3@v3.5.7", "manifests/crds/application-crd.yaml", "Application"},
	{"github.com/fluxcd/kustomize-controller@v1.9.6", "config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml", "Kustomization"},
}

// module is the directory of a module, which is downloaded where it is not cached.
func module(t *testing.T, called string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", called)
	cmd.Dir = t.TempDir()
	text, err := cmd.Output()
	got := struct{ Dir, Error string }{}
	if bad := json.Unmarshal(text, &got); bad != nil || err != nil || got.Error != "" {
		t.Fatalf("%s: %v %v %s", called, err, bad, got.Error)
	}
	return got.Dir
}

// shown are the YAML blocks of a page of the guide that have a kind of an API group.
func shown(t *testing.T, page, group, kind string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var out []*unstructured.Unstructured
	for _, block := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllSubmatch(text, -1) {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(block[1], &o.Object); err == nil && o.GetKind() == kind && strings.HasPrefix(o.GetAPIVersion(), group+"/") {
			out = append(out, o)
		}
	}
	return out
}

// TestAPIServerTakesTheManifestsOfTheGuide by the definitions of those whose kinds
// they are: every field exists and has the right type.
func TestAPIServerTakesTheManifestsOfTheGuide(t *testing.T) {
	pages, err := filepath.Glob("../../docs/guide/*.md")
	if err != nil || len(pages) < 2 {
		t.Fatal(pages, err)
	}
	for _, d := range definitions {
		t.Run(d.kind, func(t *testing.T) {
			r := newRig(t)
			text, err := os.ReadFile(filepath.Join(module(t, d.module), d.file))
			r.must(err)
			definition := documents(t, text)[0]
			group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
			r.Cleanup(func() { _ = r.client.Delete(context.Background(), definition) })
			r.must(r.client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(definition.DeepCopy()), client.FieldOwner("kubectl"), client.ForceOwnership))
			strict := client.WithFieldValidation(client.NewDryRunClient(r.client), metav1.FieldValidationStrict)
			found := 0
			for _, page := range pages {
				for _, o := range shown(t, page, group, d.kind) {
					found++
					o.SetNamespace(r.namespace)
					r.until(d.kind+" served", func() bool {
						return r.client.List(t.Context(), &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": o.GetAPIVersion(), "kind": d.kind + "List"}}) == nil
					})
					if err := strict.Create(t.Context(), o.DeepCopy()); err != nil {
						t.Errorf("%s: %v", page, err)
					}
					r.must(unstructured.SetNestedField(o.Object, "x", "spec", "mistyped"))
					if err := strict.Create(t.Context(), o); err == nil {
						t.Errorf("%s: a field that does not exist is taken", page)
					}
				}
			}
			if found == 0 {
				t.Errorf("no page of the guide shows one")
			}
		})
	}
}

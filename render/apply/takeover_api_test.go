// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// before is how somebody wrote a whole Service.
type before struct {
	manager   string
	operation metav1.ManagedFieldsOperationType
}

// write writes an object the way a tool does.
func (b before) write(t *testing.T, c client.Client, o *unstructured.Unstructured) {
	t.Helper()
	var err error
	switch {
	case b.manager == "before-first-apply":
		// What is older than managed fields has none, and the server gives them this
		// owner at the next apply.
		if err = c.Create(t.Context(), o, client.FieldOwner("ancient")); err == nil {
			patch := `[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]`
			err = c.Patch(t.Context(), o, client.RawPatch("application/json-patch+json", []byte(patch)))
		}
	case b.operation == metav1.ManagedFieldsOperationApply:
		err = c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner(b.manager))
	default:
		err = c.Create(t.Context(), o, client.FieldOwner(b.manager))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// owners are the managers of an object's fields, without subresources.
func owners(o *unstructured.Unstructured) []string {
	var out []string
	for _, e := range o.GetManagedFields() {
		if e.Subresource == "" {
			out = append(out, e.Manager+" "+string(e.Operation))
		}
	}
	slices.Sort(out)
	return out
}

// TestAPIServerTakesOver starts, for every entry of the list, from a Service that
// this manager wrote, with a field, a label and an annotation that are not rendered.
func TestAPIServerTakesOver(t *testing.T) {
	spec := clusterSpec("{topology: Standalone, resources: {limits: {memory: 1Gi}}}")
	for _, m := range takeover() {
		b := before{m.Name, m.OperationType}
		t.Run(m.Name+" "+string(m.OperationType), func(t *testing.T) {
			r := newRig(t)
			rest := find(t, rendered(t, r.namespace, spec)[0], "Service", "cache").DeepCopy()
			set := func(value any, path ...string) {
				if err := unstructured.SetNestedField(rest.Object, value, path...); err != nil {
					t.Fatal(err)
				}
			}
			set("10s", "metadata", "annotations", "old")
			for _, key := range leftovers() {
				set("{}", "metadata", "annotations", key)
			}
			set("chart-1", "metadata", "labels", "helm.sh/chart")
			set("ClientIP", "spec", "sessionAffinity")
			b.write(t, r.client, rest)

			planned := r.planned(spec, "Service", "cache")
			first := r.apply(spec)
			if !slices.Contains(summary(first), "Service/cache configured") {
				t.Errorf("%v", summary(first))
			}
			got := r.get("v1", "Service", "cache")
			if diff := cmp.Diff(compared(planned), compared(got)); diff != "" {
				t.Errorf("(-planned +done)\n%s", diff)
			}
			if want := []string{FieldManager + " Apply"}; !slices.Equal(owners(got), want) {
				t.Errorf("owned by %v", owners(got))
			}
			if affinity, _, _ := unstructured.NestedString(got.Object, "spec", "sessionAffinity"); affinity != "None" {
				t.Errorf("sessionAffinity is still %s", affinity)
			}
			text, _ := json.Marshal(got.Object["metadata"])
			for _, gone := range append(leftovers(), "helm.sh/chart", `"old"`) {
				if strings.Contains(string(text), gone) {
					t.Errorf("%s is still there: %s", gone, text)
				}
			}
			if again := summary(r.apply(spec)); len(again) != 0 {
				t.Errorf("the second apply: %v", again)
			}
		})
	}
}

// planned is what an object is to become.
func (r *rig) planned(spec, kind, called string) *unstructured.Unstructured {
	r.t.Helper()
	p, err := r.applier(Options{}).Plan(r.t.Context(), rendered(r.t, r.namespace, spec))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, c := range p.Results()[0].Changes {
		if c.Kind == kind && c.Name == called && c.Next != nil {
			return c.Next
		}
	}
	r.t.Fatalf("%s %s is not to be changed", kind, called)
	return nil
}

// TestAPIServerRefusesATakeoverBeforeAnythingIsWritten: what would go with those that
// are taken over from may be what the server does not let go.
func TestAPIServerRefusesATakeoverBeforeAnythingIsWritten(t *testing.T) {
	spec := clusterSpec("{topology: Standalone, resources: {limits: {memory: 1Gi}}}")
	r := newRig(t)
	set := find(t, rendered(t, r.namespace, spec)[0], "StatefulSet", "cache-0").DeepCopy()
	template := map[string]any{"metadata": map[string]any{"name": "old"}, "spec": map[string]any{
		"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}},
	}}
	set.Object["spec"].(map[string]any)["volumeClaimTemplates"] = []any{template}
	before{"helm", metav1.ManagedFieldsOperationUpdate}.write(t, r.client, set)
	_, err := r.try(r.applier(Options{}), spec)
	if err == nil || !IsRefusal(err) || !strings.Contains(err.Error(), "StatefulSet/"+r.namespace+"/cache-0: cannot be changed in place: spec.volumeClaimTemplates (live ") {
		t.Errorf("%v", err)
	}
	if r.exists("v1", "ConfigMap", "cache-inventory") || slices.Contains(owners(r.get("apps/v1", "StatefulSet", "cache-0")), FieldManager+" Apply") {
		t.Error("something was written")
	}
}

// TestAPIServerLeavesAlone: what asks for an action, what a controller writes, and
// other appliers stay.
func TestAPIServerLeavesAlone(t *testing.T) {
	spec := clusterSpec("{topology: Standalone, resources: {limits: {memory: 1Gi}}}")
	r := newRig(t)
	r.apply(spec)
	for _, manager := range []string{"kubectl-rollout", "kubectl-label", "kubectl-annotate", "some-controller", "argocd-controller"} {
		o := r.get("apps/v1", "StatefulSet", "cache-0")
		patch := `{"spec":{"template":{"metadata":{"annotations":{"from.` + manager + `":"x"}}}}}`
		if err := r.client.Patch(t.Context(), o, client.RawPatch("application/merge-patch+json", []byte(patch)), client.FieldOwner(manager)); err != nil {
			t.Fatal(err)
		}
	}
	if got := summary(r.apply(spec)); len(got) != 0 {
		t.Errorf("%v", got)
	}
	annotations, _, _ := unstructured.NestedStringMap(r.get("apps/v1", "StatefulSet", "cache-0").Object, "spec", "template", "metadata", "annotations")
	for _, manager := range []string{"kubectl-rollout", "kubectl-label", "kubectl-annotate", "some-controller", "argocd-controller"} {
		if annotations["from."+manager] != "x" {
			t.Errorf("the annotation of %s is gone", manager)
		}
	}
}

func TestAPIServerOfAnotherApplier(t *testing.T) {
	spec := clusterSpec("{topology: Standalone, resources: {limits: {memory: 1Gi}}}")
	r := newRig(t)
	for _, o := range rendered(t, r.namespace, spec)[0].Objects {
		if err := r.client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner("argocd-controller")); err != nil {
			t.Fatal(err)
		}
	}
	d := &diary{}
	got, err := r.try(r.applier(d.options()), spec)
	if err != nil {
		t.Fatal(err)
	}
	if len(summary(got)) != len(got[0].Changes) {
		t.Errorf("not all became ours: %v", summary(got))
	}
	if len(d.notes) != 1 || !strings.Contains(d.notes[0], "7 of 7 objects: argocd-controller applies it too") {
		t.Errorf("%q", d.notes)
	}
	if again := summary(r.apply(spec)); len(again) != 0 {
		t.Errorf("the second apply: %v", again)
	}
}

func TestAPIServerStrangersAreRefusedUnlessAdopted(t *testing.T) {
	spec := clusterSpec("{topology: Standalone, resources: {limits: {memory: 1Gi}}}")
	r := newRig(t)
	stranger := func(called string, labels map[string]string) {
		o := ID{"v1", "Service", r.namespace, called}.object()
		o.SetLabels(labels)
		o.Object["spec"] = map[string]any{"ports": []any{map[string]any{"name": "tcp", "port": int64(6379)}}, "selector": map[string]any{"app": "other"}}
		before{"helm", metav1.ManagedFieldsOperationUpdate}.write(t, r.client, o)
	}
	stranger("cache", nil)
	_, err := r.try(r.applier(Options{}), spec)
	if err == nil || !strings.Contains(err.Error(), "Service/"+r.namespace+"/cache: apply failed: refused: it exists and is not labelled as an object of ValkeyCluster/"+r.namespace+"/cache (written by helm)") || !IsRefusal(err) {
		t.Errorf("%v", err)
	}
	if r.exists("v1", "ConfigMap", "cache-inventory") || r.exists("valkey-render.dev/v1alpha1", "ValkeyCluster", "cache") {
		t.Error("something was written")
	}
	if _, err := r.try(r.applier(Options{Adopt: true}), spec); err != nil {
		t.Fatal(err)
	}
	service := r.get("v1", "Service", "cache")
	if app, found, _ := unstructured.NestedString(service.Object, "spec", "selector", "app"); found {
		t.Errorf("it still selects %s", app)
	}
	if ports, _, _ := unstructured.NestedSlice(service.Object, "spec", "ports"); len(ports) != 1 {
		t.Errorf("ports %v", ports)
	}

	stranger("other", map[string]string{"valkey-render.dev/cluster": "third"})
	_, err = r.try(r.applier(Options{Adopt: true}), strings.Replace(spec, "name: cache", "name: other", 1))
	if err == nil || !strings.Contains(err.Error(), "belongs to ValkeyCluster third") {
		t.Errorf("%v", err)
	}
}

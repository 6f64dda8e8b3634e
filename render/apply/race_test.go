// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// strangerSinceThePlan: what somebody else makes between a plan and its run is left
// to them.
func strangerSinceThePlan(t *testing.T, newRig maker) {
	r := newRig(t)
	p, err := r.applier(Options{}).Plan(t.Context(), rendered(t, r.namespace, clusterSpec(standalone)))
	if err != nil {
		t.Fatal(err)
	}
	stranger := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "cache"},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": "other"}, Ports: []corev1.ServicePort{{Port: 80}}},
	}
	if err := r.client.Create(t.Context(), stranger, client.FieldOwner("helm")); err != nil {
		t.Fatal(err)
	}
	_, err = p.Run(t.Context())
	if err == nil || !IsRefusal(err) || !strings.Contains(err.Error(), "/cache: apply failed: refused: it exists and is not labelled as an object of ValkeyCluster/") {
		t.Errorf("%v", err)
	}
	if app, _, _ := unstructured.NestedString(r.get("v1", "Service", "cache").Object, "spec", "selector", "app"); app != "other" {
		t.Errorf("it selects %q", app)
	}
	if r.exists("apps/v1", "StatefulSet", "cache-0") {
		t.Error("the next stages were applied")
	}
}

// bind gives a claim the status of one that is bound.
func (r *rig) bind(claim, capacity string) {
	r.t.Helper()
	o := r.get("v1", "PersistentVolumeClaim", claim)
	o.Object["status"] = map[string]any{"phase": "Bound", "capacity": map[string]any{"storage": capacity}}
	if err := r.client.Status().Update(r.t.Context(), o, client.FieldOwner("controller")); err != nil {
		r.t.Fatal(err)
	}
}

// resize asks for a size as a volume autoscaler does.
func (r *rig) resize(claim, size string) {
	r.t.Helper()
	o := ID{"v1", "PersistentVolumeClaim", r.namespace, claim}.object()
	patch := `{"spec":{"resources":{"requests":{"storage":"` + size + `"}}}}`
	if err := r.client.Patch(r.t.Context(), o, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("autoscaler")); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) claimSize(claim string) string {
	r.t.Helper()
	size := requested(r.get("v1", "PersistentVolumeClaim", claim))
	return size.String()
}

func sized(size string) string {
	return clusterSpec("topology: Standalone\nresources: {limits: {memory: 1Gi}}\nstorage: {size: " + size + "}\n")
}

func TestAClaimThatGrewSinceThePlanDoesNotShrink(t *testing.T) {
	r := newFake(t)
	r.apply(sized("1Gi"))
	r.bind("data-cache-0-0", "1Gi")
	p, err := r.applier(Options{}).Plan(t.Context(), rendered(t, r.namespace, sized("2Gi")))
	if err != nil {
		t.Fatal(err)
	}
	r.resize("data-cache-0-0", "4Gi")
	if _, err := p.Run(t.Context()); err != nil || r.claimSize("data-cache-0-0") != "4Gi" {
		t.Errorf("asks for %s, %v", r.claimSize("data-cache-0-0"), err)
	}
}

// meddling is a client that does something once, right before the first real write
// of an object of a kind.
type meddling struct {
	client.Client
	kind string
	do   func()
}

func (m *meddling) Patch(ctx context.Context, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if m.do != nil && o.GetObjectKind().GroupVersionKind().Kind == m.kind && !isDryRun(opts) {
		do := m.do
		m.do = nil
		do()
	}
	return m.Client.Patch(ctx, o, patch, opts...)
}

func TestAClaimThatGrowsDuringTheWriteDoesNotShrink(t *testing.T) {
	r := newFake(t)
	r.apply(sized("1Gi"))
	r.bind("data-cache-0-0", "1Gi")
	m := &meddling{Client: r.client, kind: "PersistentVolumeClaim", do: func() { r.resize("data-cache-0-0", "4Gi") }}
	results, err := r.try(New(m, Options{}), sized("2Gi"))
	if err != nil || m.do != nil || r.claimSize("data-cache-0-0") != "4Gi" {
		t.Errorf("asks for %s, %v, %v", r.claimSize("data-cache-0-0"), summary(results), err)
	}
}

// ownersSinceTheReading: a rewriting of the owners of fields is one of the object as
// it was read, and is made again when that has changed.
func ownersSinceTheReading(t *testing.T, newRig maker) {
	r := newRig(t)
	spec := clusterSpec(standalone)
	o := find(t, rendered(t, r.namespace, spec)[0], "Service", "cache").DeepCopy()
	if err := r.client.Create(t.Context(), o, client.FieldOwner("helm")); err != nil {
		t.Fatal(err)
	}
	label := func() {
		labelled := ID{"v1", "Service", r.namespace, "cache"}.object()
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"team":"x"}}}`))
		if err := r.client.Patch(t.Context(), labelled, patch, client.FieldOwner("kubectl-label")); err != nil {
			t.Fatal(err)
		}
	}
	m := &meddling{Client: r.connect(), kind: "Service", do: label}
	// One request at a time, so that the first Service is the one.
	if _, err := r.try(New(m, Options{Concurrency: 1}), spec); err != nil || m.do != nil {
		t.Fatal(err)
	}
	got := r.get("v1", "Service", "cache")
	if got.GetLabels()["team"] != "x" || !strings.Contains(strings.Join(owners(got), " "), "kubectl-label") || strings.Contains(strings.Join(owners(got), " "), "helm") {
		t.Errorf("%v %v", got.GetLabels(), owners(got))
	}
}

func TestAJSONPatchOfWhatHasChangedIsAConflict(t *testing.T) {
	r := newFake(t)
	o := ID{"v1", "ConfigMap", "shop", "x"}.object()
	o.SetAnnotations(map[string]string{"a": "1"})
	if err := r.client.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	steady := New(r.client, Options{}).client
	remove := client.RawPatch(types.JSONPatchType, []byte(`[{"op":"remove","path":"/metadata/annotations/a"}]`))
	stale := o.DeepCopy()
	if err := steady.Patch(t.Context(), o.DeepCopy(), remove); err != nil {
		t.Fatal(err)
	}
	o.SetAnnotations(map[string]string{"a": "2"})
	o.SetResourceVersion("")
	if err := r.client.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := steady.Patch(t.Context(), stale, remove); !apierrors.IsConflict(err) {
		t.Errorf("of an old reading: %v", err)
	}
	if r.get("v1", "ConfigMap", "x").GetAnnotations()["a"] != "2" {
		t.Error("it was patched")
	}
}

// aSecondRunOfARemoval is what a removal looks like whose first answer got lost.
func aSecondRunOfARemoval(t *testing.T, newRig maker) {
	r := newRig(t)
	o := ID{"v1", "ConfigMap", r.namespace, "x"}.object()
	if err := r.client.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	remove := client.RawPatch(types.JSONPatchType, []byte(`[{"op":"remove","path":"/metadata/annotations/a"}]`))
	if err := New(r.connect(), Options{}).client.Patch(t.Context(), o, remove); !apierrors.IsConflict(err) {
		t.Errorf("%v", err)
	}
}

func TestWhatIsBeingDeletedIsNotApplied(t *testing.T) {
	r := newFake(t)
	r.apply(clusterSpec(durable))
	for kind, called := range map[string]string{"Service": "cache", "PersistentVolumeClaim": "data-cache-0-0"} {
		o := r.get("v1", kind, called)
		o.SetFinalizers([]string{"example.com/stays"})
		if err := r.client.Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if err := r.client.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	d := &diary{}
	_, err := r.try(r.applier(d.options()), clusterSpec(durable))
	if err == nil || err.Error() != "Service/shop/cache: apply failed: refused: it is being deleted: apply again when it is gone" || !IsRefusal(err) {
		t.Errorf("%v", err)
	}
	if len(d.notes) != 1 || !strings.HasPrefix(d.notes[0], "PersistentVolumeClaim/shop/data-cache-0-0: is being deleted") {
		t.Errorf("%q", d.notes)
	}
}

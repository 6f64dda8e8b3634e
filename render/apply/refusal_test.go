// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const standalone = "{topology: Standalone, resources: {limits: {memory: 1Gi}}}"

func TestGroupRefusesWhatBelongsToNoCluster(t *testing.T) {
	objects := []*unstructured.Unstructured{
		parsed(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}"),
		parsed(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: shop}"),
		parsed(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop, labels: {valkey-render.dev/cluster: cache}}"),
		parsed(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop, labels: {valkey-render.dev/cluster: cache}}"),
	}
	clusters, err := Group(objects)
	want := "ConfigMap/a: has no namespace\nConfigMap/shop/b: has no label valkey-render.dev/cluster\nConfigMap/shop/c: is given twice"
	if err == nil || err.Error() != want || len(clusters) != 1 || clusters[0].Complete {
		t.Errorf("%v, %v", clusters, err)
	}
}

func TestStrangersAreRefused(t *testing.T) {
	r := newFake(t)
	for called, labels := range map[string]map[string]string{"cache": nil, "cache-nodes": {"valkey-render.dev/cluster": "other"}} {
		o := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: called, Labels: labels}}
		if err := r.client.Create(t.Context(), o, client.FieldOwner("helm")); err != nil {
			t.Fatal(err)
		}
	}
	_, err := r.try(r.applier(Options{}), clusterSpec(standalone))
	for _, want := range []string{
		"Service/shop/cache: apply failed: refused: it exists and is not labelled as an object of ValkeyCluster/shop/cache (written by ",
		"Service/shop/cache-nodes: apply failed: refused: it exists and belongs to ValkeyCluster other",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v", err)
		}
	}
	if r.exists("v1", "ConfigMap", "cache-inventory") {
		t.Error("something was written")
	}
	p, err := r.applier(Options{Adopt: true}).Plan(t.Context(), rendered(t, "shop", clusterSpec(standalone)))
	if err == nil || Count(p.Results())[Failed] != 1 {
		t.Errorf("adopted: %v", err)
	}
}

func TestClaimants(t *testing.T) {
	o := parsed(t, "apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: shop}")
	entry := func(manager string, operation metav1.ManagedFieldsOperationType, subresource string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, Subresource: subresource, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1("{}")}
	}
	o.SetManagedFields([]metav1.ManagedFieldsEntry{
		entry("helm", "Update", ""), entry("helm", "Apply", ""), entry("argocd-controller", "Apply", ""), entry("kubectl-rollout", "Update", ""),
		entry("kube-controller-manager", "Update", "status"), entry(FieldManager, "Apply", ""),
	})
	taken, others := claimants(o)
	if diff := cmp.Diff([][]string{{"helm"}, {"argocd-controller"}}, [][]string{taken, others}); diff != "" {
		t.Error(diff)
	}
	if !needsTakeover(o) || !isOwned(o) {
		t.Error("it is owned, and to be taken over")
	}
	o.SetKind("PersistentVolumeClaim")
	if taken, _ := claimants(o); needsTakeover(o) || len(taken) > 0 {
		t.Error("claims are left as they are")
	}
}

func TestAnInventoryThatCannotBeReadIsNotEmpty(t *testing.T) {
	own := map[string]string{"valkey-render.dev/cluster": "cache"}
	for name, c := range map[string]struct {
		labels map[string]string
		data   map[string]string
		want   string
	}{
		"of nobody": {nil, nil, "it is not an inventory: its label valkey-render.dev/cluster is \"\", not \"cache\""},
		"garbage":   {own, map[string]string{"objects": "v1 Service cache\nx\n", "pending": "a b\n"}, "\"x\" is not 'apiVersion kind name'\n\"a b\" is not 'apiVersion kind name': put it right by hand"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newFake(t)
			o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cache-inventory", Labels: c.labels}, Data: c.data}
			if err := r.client.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			_, err := r.try(r.applier(Options{}), clusterSpec(standalone))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestDeleteIsRefusedWithoutKnowingThatItIsAllowed(t *testing.T) {
	r := newFake(t)
	a := r.applier(Options{})
	whole := Cluster{Namespace: "shop", Name: "cache", Complete: true}
	refused := func(c Cluster, want string) {
		t.Helper()
		if _, err := a.Delete(t.Context(), c, DeleteOptions{}); err == nil || !IsRefusal(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v", err)
		}
	}
	refused(whole, "there is none, and no inventory of one")
	r.apply(clusterSpec(durable))
	refused(whole, "set spec.deletionPolicy to Allow and apply it first")
	// The ValkeyCluster is deleted by hand.
	if err := r.client.Delete(t.Context(), r.get("valkey-render.dev/v1alpha1", "ValkeyCluster", "cache")); err != nil {
		t.Fatal(err)
	}
	refused(whole, "there is no ValkeyCluster that says whether its data may go: name the spec with -f")
	allowed := rendered(t, "shop", clusterSpec(durable+"deletionPolicy: Allow\n"))[0]
	if _, err := a.Delete(t.Context(), allowed, DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if r.exists("apps/v1", "StatefulSet", "cache-0") || r.exists("v1", "ConfigMap", "cache-inventory") || !r.exists("v1", "PersistentVolumeClaim", "data-cache-0-0") {
		t.Error("it is not deleted, or too much is")
	}
	// Nothing is left, and that is no error for who names a spec.
	if _, err := a.Delete(t.Context(), rendered(t, "shop", clusterSpec(standalone))[0], DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/internal/apitest"
	"github.com/valkey-render/valkey-render/topologyjob/guard"
)

// definition is that of ValkeyClusters.
func definition() *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("apiextensions.k8s.io/v1")
	o.SetKind("CustomResourceDefinition")
	o.SetName("valkeyclusters.valkey-render.dev")
	return o
}

// withoutDefinition takes the definition away, which nothing may guard.
func withoutDefinition(t *testing.T) {
	t.Helper()
	c := apitest.Client(t)
	until(t, "allowed to delete the definition", func() bool { return client.NewDryRunClient(c).Delete(t.Context(), definition()) == nil })
	if err := c.Delete(t.Context(), definition()); err != nil {
		t.Fatal(err)
	}
	until(t, "rid of the definition", func() bool {
		o := definition()
		err := c.Get(context.Background(), client.ObjectKeyFromObject(o), o)
		return err != nil && client.IgnoreNotFound(err) == nil
	})
}

// unguardDefinition takes the one policy away that keeps the definition.
func unguardDefinition(t *testing.T) {
	t.Helper()
	for _, p := range guard.Policies(guard.Options{}) {
		if strings.HasSuffix(p.Binding.Name, "definition") {
			if err := apitest.Client(t).Delete(t.Context(), p.Binding); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// othersAreUntouched tries what other people do, in the namespace of a shard.
func othersAreUntouched(r *rig) {
	r.t.Helper()
	other(r)
	r.must(r.client.Create(r.t.Context(), r.secret("file-system")))
	r.must(madeClaim("data-other-0-0", nil)(r, r.client))
	for name, act := range map[string]func(*rig, client.Client) error{
		"change a StatefulSet":            patchSet("other", `{"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}}`),
		"scale a StatefulSet":             scale("other", 2),
		"scale a StatefulSet to zero":     scale("other", 0),
		"delete a StatefulSet":            del("other"),
		"delete a Secret":                 deleteSecret("file-system"),
		"delete a claim":                  deleteClaim("data-other-0-0"),
		"scale a shard by the scale path": scale("orders-0", 1),
	} {
		if err := act(r, client.NewDryRunClient(r.client)); err != nil {
			r.t.Errorf("%s: %v", name, err)
		}
	}
	elsewhere := newRig(r.t)
	other(elsewhere)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: elsewhere.namespace}}
	r.must(r.client.Delete(r.t.Context(), ns))
	r.gone(ns)
}

// cannotAsk recognizes how the server says that it cannot ask ValkeyClusters: as long
// as it remembers a definition that is gone it waits for objects of it, in vain.
func cannotAsk(message string) bool {
	return strings.Contains(message, "failed to find resource referenced by paramKind: 'valkey-render.dev/v1alpha1, Kind=ValkeyCluster'") ||
		strings.Contains(message, "Kind:ValkeyCluster,}` not yet synced to use for admission")
}

// TestAPIServerWithoutTheDefinitionLocksShardsAndNothingElse: the guard was loaded
// before the definition, or an API server started without it. Then the server cannot
// ask any ValkeyCluster about a shard, and lets nobody change or delete one. Two things
// end that, each by itself.
func TestAPIServerWithoutTheDefinitionLocksShardsAndNothingElse(t *testing.T) {
	for name, wayOut := range map[string]func(*testing.T){
		"until the definition is back": func(t *testing.T) { apitest.Install(t) },
		"until the guard is gone":      func(t *testing.T) { uninstall(t, manifest(t, guard.Options{})) },
	} {
		t.Run(name, func(t *testing.T) {
			apitest.Install(t)
			withoutDefinition(t)
			install(t, manifest(t, guard.Options{}))
			r := newRig(t)
			r.must(r.apply(r.client, orders(), "StatefulSet", "PersistentVolumeClaim"))
			r.settled(true, r.client, del("orders-0"))
			for what, act := range map[string]func(*rig, client.Client) error{
				"delete": del("orders-0"), "change": patchSet("orders-0", `{"metadata":{"annotations":{"a":"b"}}}`), "delete a claim": deleteClaim("data-orders-0-0"),
			} {
				if err := act(r, client.NewDryRunClient(r.client)); err == nil || !cannotAsk(err.Error()) {
					t.Errorf("%s: %v", what, err)
				}
			}
			othersAreUntouched(r)
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.namespace}}
			r.must(r.client.Delete(t.Context(), ns))
			until(t, "held up", func() bool {
				r.must(r.client.Get(t.Context(), client.ObjectKeyFromObject(ns), ns))
				return slices.ContainsFunc(ns.Status.Conditions, func(c corev1.NamespaceCondition) bool {
					return c.Type == corev1.NamespaceDeletionContentFailure && c.Status == corev1.ConditionTrue && cannotAsk(c.Message)
				})
			})
			begin := time.Now()
			wayOut(t)
			r.gone(ns)
			t.Logf("the namespace is gone %s later", time.Since(begin))
		})
	}
}

// TestAPIServerTheDefinitionIsTakenAway: with it go the ValkeyClusters, and with them
// the guard of their shards. That is why it is guarded itself.
func TestAPIServerTheDefinitionIsTakenAway(t *testing.T) {
	r := guarded(t, orders())
	unguardDefinition(t)
	withoutDefinition(t)
	r.settled(false, r.client, del("orders-0"))
	r.settled(false, r.client, deleteClaim("data-orders-0-0"))
	othersAreUntouched(r)
	begin := time.Now()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.namespace}}
	r.must(r.client.Delete(t.Context(), ns))
	r.gone(ns)
	t.Logf("the namespace is gone %s later", time.Since(begin))
	apitest.Install(t)
	again := newRig(t)
	again.live(orders())
	begin = time.Now()
	again.settled(true, again.client, del("orders-0"))
	t.Logf("a new cluster is guarded %s after it was made", time.Since(begin))
}

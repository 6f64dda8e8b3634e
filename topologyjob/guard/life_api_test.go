// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	admission "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/internal/apitest"
	"github.com/valkey-render/valkey-render/topologyjob/guard"
)

// guarded is a rig with a cluster and the guard in force.
func guarded(t *testing.T, spec string) *rig {
	t.Helper()
	apitest.Install(t)
	install(t, manifest(t, guard.Options{}))
	r := newRig(t)
	r.live(spec)
	r.settled(true, r.client, del("orders-0"))
	return r
}

// TestAPIServerFindsNothingWrongWithTheExpressions: the server's own check of types.
func TestAPIServerFindsNothingWrongWithTheExpressions(t *testing.T) {
	apitest.Install(t)
	install(t, manifest(t, guard.Options{}))
	c := apitest.Client(t)
	for _, p := range guard.Policies(guard.Options{}) {
		var live admission.ValidatingAdmissionPolicy
		until(t, p.Policy.Name+" checked", func() bool {
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(p.Policy), &live); err != nil {
				t.Fatal(err)
			}
			return live.Status.ObservedGeneration == live.Generation
		})
		if live.Status.TypeChecking != nil && len(live.Status.TypeChecking.ExpressionWarnings) > 0 {
			t.Errorf("%s: %v", p.Policy.Name, live.Status.TypeChecking.ExpressionWarnings)
		}
	}
}

func TestAPIServerNamespaceGoesWithAllThatIsGuarded(t *testing.T) {
	r := guarded(t, orders())
	begin := time.Now()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.namespace}}
	r.must(r.client.Delete(t.Context(), ns))
	r.gone(ns)
	t.Logf("gone after %s", time.Since(begin))
}

// TestAPIServerGarbageCollectionWaitsForTheGuard: an owner that goes takes a shard
// with it only once the guard lets it.
func TestAPIServerGarbageCollectionWaitsForTheGuard(t *testing.T) {
	for name, policy := range map[string]metav1.DeletionPropagation{
		"background": metav1.DeletePropagationBackground, "foreground": metav1.DeletePropagationForeground,
	} {
		t.Run(name, func(t *testing.T) {
			r := guarded(t, orders())
			owner := &corev1.ConfigMap{ObjectMeta: r.meta("owner")}
			r.must(r.client.Create(t.Context(), owner))
			block := fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":%q,"blockOwnerDeletion":true}]}}`, owner.UID)
			witness := &corev1.ConfigMap{ObjectMeta: r.meta("witness")}
			r.must(r.client.Create(t.Context(), witness))
			r.change(witness, block)
			r.change(r.set("orders-2"), block)
			r.must(r.client.Delete(t.Context(), owner, client.PropagationPolicy(policy)))
			r.gone(witness)
			for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
				if len(r.shards()) != 3 {
					t.Fatal("the shard is being deleted")
				}
			}
			r.drained("orders", "2")
			r.gone(r.set("orders-2"))
			r.gone(owner)
		})
	}
}

// TestAPIServerGarbageCollectionFollowsTheValkeyCluster: where the shards belong to
// their ValkeyCluster, deleting it deletes them, and nothing of others.
func TestAPIServerGarbageCollectionFollowsTheValkeyCluster(t *testing.T) {
	for name, policy := range map[string]metav1.DeletionPropagation{
		"background": metav1.DeletePropagationBackground, "foreground": metav1.DeletePropagationForeground,
	} {
		t.Run(name, func(t *testing.T) {
			r := guarded(t, valkeyCluster("orders", "{shards: 3, resources: {limits: {memory: 1Gi}}}"))
			r.live(valkeyCluster("other", durable))
			o := r.cluster("orders")
			r.must(r.client.Get(t.Context(), client.ObjectKeyFromObject(o), o))
			for _, called := range []string{"orders-0", "orders-1", "orders-2"} {
				r.change(r.set(called), fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"valkey-render.dev/v1alpha1","kind":"ValkeyCluster","name":"orders","uid":%q,"blockOwnerDeletion":true}]}}`, o.GetUID()))
			}
			r.must(r.client.Delete(t.Context(), r.cluster("orders"), client.PropagationPolicy(policy)))
			for _, called := range []string{"orders-0", "orders-1", "orders-2"} {
				r.gone(r.set(called))
			}
			r.gone(o)
			if len(r.shards()) != 3 {
				t.Errorf("of the other cluster there is %v", r.shards())
			}
		})
	}
}

// TestAPIServerClaimsGoWithADrainedShard: with reclaimPolicy Delete the claims of a
// StatefulSet are collected after it, past the finalizer that waits for its pods.
func TestAPIServerClaimsGoWithADrainedShard(t *testing.T) {
	r := guarded(t, valkeyCluster("orders", durable[:len(durable)-2]+", reclaimPolicy: Delete}}"))
	for _, called := range []string{"data-orders-2-0", "data-orders-2-1"} {
		claim := r.claim(called)
		until(t, called+" owned", func() bool {
			r.must(r.client.Get(t.Context(), client.ObjectKeyFromObject(claim), claim))
			return len(claim.OwnerReferences) > 0
		})
	}
	r.drained("orders", "2")
	r.settled(false, r.client, del("orders-2"))
	r.must(r.client.Delete(t.Context(), r.set("orders-2")))
	r.gone(r.set("orders-2"))
	r.gone(r.claim("data-orders-2-0"))
	r.gone(r.claim("data-orders-2-1"))
	var claims corev1.PersistentVolumeClaimList
	r.must(r.client.List(t.Context(), &claims, client.InNamespace(r.namespace)))
	if len(claims.Items) != 4 {
		t.Errorf("%d claims are left", len(claims.Items))
	}
}

// TestAPIServerOrphanedPodsAreAdoptedAgain is how an immutable field is changed: the
// StatefulSet goes without its pods and claims, and comes back.
func TestAPIServerOrphanedPodsAreAdoptedAgain(t *testing.T) {
	r := guarded(t, valkeyCluster("orders", durable[:len(durable)-2]+", reclaimPolicy: Delete}}"))
	pods := func() []string {
		var list corev1.PodList
		r.must(r.client.List(t.Context(), &list, client.InNamespace(r.namespace), client.MatchingLabels{"valkey-render.dev/shard": "2"}))
		var out []string
		for _, p := range list.Items {
			owner := ""
			if o := metav1.GetControllerOf(&p); o != nil {
				owner = string(o.UID)
			}
			out = append(out, string(p.UID)+" of "+owner)
		}
		slices.Sort(out)
		return out
	}
	set := r.set("orders-2")
	r.must(r.client.Get(t.Context(), client.ObjectKeyFromObject(set), set))
	until(t, "two pods", func() bool { return len(pods()) == 2 })
	old, before := string(set.UID), pods()
	r.must(r.client.Delete(t.Context(), set, client.PropagationPolicy(metav1.DeletePropagationOrphan)))
	r.gone(set)
	r.must(r.apply(r.client, orders(), "StatefulSet"))
	again := r.set("orders-2")
	r.must(r.client.Get(t.Context(), client.ObjectKeyFromObject(again), again))
	for i := range before {
		before[i] = before[i][:len(before[i])-len(old)] + string(again.UID)
	}
	until(t, "adopted", func() bool { return slices.Equal(before, pods()) })
	r.must(r.client.Get(t.Context(), client.ObjectKey{Namespace: r.namespace, Name: "data-orders-2-0"}, r.claim("data-orders-2-0")))
}

// TestAPIServerStatefulSetsWaitForTheRenderedClaims: applied in the order of Flux's
// engine, StatefulSets before claims, no claim is made from the template.
func TestAPIServerStatefulSetsWaitForTheRenderedClaims(t *testing.T) {
	r := guarded(t, orders())
	spec := valkeyCluster("late", "{profile: Durable, shards: 6, replicasPerShard: 1, resources: {limits: {memory: 1Gi}}, storage: {size: 7Gi}}")
	r.must(r.apply(r.client, spec, "StatefulSet"))
	until(t, "refused", func() bool {
		var events corev1.EventList
		r.must(r.client.List(t.Context(), &events, client.InNamespace(r.namespace)))
		return slices.ContainsFunc(events.Items, func(e corev1.Event) bool {
			return e.Reason == "FailedCreate" && e.InvolvedObject.Name == "late-5"
		})
	})
	r.must(r.apply(r.client, spec, "PersistentVolumeClaim"))
	until(t, "all pods there", func() bool {
		var pods corev1.PodList
		r.must(r.client.List(t.Context(), &pods, client.InNamespace(r.namespace), client.MatchingLabels{"valkey-render.dev/cluster": "late"}))
		return len(pods.Items) == 12
	})
	var claims corev1.PersistentVolumeClaimList
	r.must(r.client.List(t.Context(), &claims, client.InNamespace(r.namespace), client.MatchingLabels{"valkey-render.dev/cluster": "late"}))
	for _, c := range claims.Items {
		if size := c.Spec.Resources.Requests.Storage(); size.String() != "7Gi" || c.Labels["app.kubernetes.io/managed-by"] != "valkey-render" {
			t.Errorf("%s asks for %s: %v", c.Name, size, c.Labels)
		}
	}
	if len(claims.Items) != 12 {
		t.Errorf("%d claims", len(claims.Items))
	}
}

// TestAPIServerTwoReleasesGuardEachByItself: neither is in the way of the other, and
// one may go.
func TestAPIServerTwoReleasesGuardEachByItself(t *testing.T) {
	apitest.Install(t)
	values := map[string]any{"guard": map[string]any{"enabled": true}, "serviceAccount": map[string]any{"name": "valkey-reconciler"}}
	first, second := release(t, "ops", "valkey", values), release(t, "shop", "valkey", values)
	install(t, first)
	install(t, second)
	r := newRig(t)
	r.live(orders())
	pod(r)
	image := patchPod(`{"metadata":{"annotations":{"valkey-render.dev/valkey.conf":""}}}`)
	r.settled(true, user(t, "system:serviceaccount:ops:valkey-reconciler", "system:masters"), image)
	r.settled(true, user(t, "system:serviceaccount:shop:valkey-reconciler", "system:masters"), image)
	r.settled(false, user(t, "system:serviceaccount:other:valkey-reconciler", "system:masters"), image)
	uninstall(t, first)
	r.settled(false, user(t, "system:serviceaccount:ops:valkey-reconciler", "system:masters"), image)
	for range 20 {
		if err := del("orders-0")(r, r.client); err == nil {
			t.Fatal("the second release does not guard")
		}
	}
	uninstall(t, second)
	r.settled(false, r.client, del("orders-0"))
}

// TestAPIServerCostOfADelete reports how long the server takes for a delete that is
// denied, beside one cluster and beside 500 of them.
func TestAPIServerCostOfADelete(t *testing.T) {
	r := guarded(t, orders())
	measure := func() time.Duration {
		var took []time.Duration
		for range 30 {
			begin := time.Now()
			if err := del("orders-0")(r, r.client); err == nil {
				t.Fatal("it is gone")
			}
			took = append(took, time.Since(begin))
		}
		slices.Sort(took)
		return took[len(took)/2]
	}
	one := measure()
	for i := range 499 {
		o := r.cluster(fmt.Sprintf("c%d", i))
		o.Object["spec"] = map[string]any{"deletionPolicy": "Allow", "resources": map[string]any{"limits": map[string]any{"memory": "1Gi"}}}
		r.must(r.client.Create(t.Context(), o))
	}
	t.Logf("median of 30 denied deletes: %s beside no other cluster, %s beside 499", one, measure())
}

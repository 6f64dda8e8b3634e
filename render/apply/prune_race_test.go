// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/render/name"
)

// deleting is a client that does something once, after the first delete of a kind,
// or answers such deletes.
type deleting struct {
	client.Client
	kind   string
	after  func()
	answer error
}

func (d *deleting) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	of := o.GetObjectKind().GroupVersionKind().Kind == d.kind
	if of && d.answer != nil {
		return d.answer
	}
	err := d.Client.Delete(ctx, o, opts...)
	if of && d.after != nil {
		after := d.after
		d.after = nil
		after()
	}
	return err
}

// TestEachShardIsJudgedRightBeforeItGoes: another apply scales out again while this
// one prunes.
func TestEachShardIsJudgedRightBeforeItGoes(t *testing.T) {
	r := newFake(t)
	r.apply(clusterSpec(durable))
	again := func() {
		o := r.get("valkey-render.dev/v1alpha1", "ValkeyCluster", "cache")
		o.Object["spec"].(map[string]any)["shards"] = int64(2)
		if err := r.client.Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	c := &deleting{Client: r.client, kind: "StatefulSet", after: again}
	results, err := r.try(New(c, Options{}), clusterSpec(with(durable, "shards: 3", "shards: 1\ndeletionPolicy: Allow")))
	if err != nil || c.after != nil {
		t.Fatal(err)
	}
	got := summary(results)
	if !slices.Contains(got, "StatefulSet/cache-2 deleted") || !slices.Contains(got, "StatefulSet/cache-1 held") || !r.exists("apps/v1", "StatefulSet", "cache-1") {
		t.Errorf("%v", got)
	}
	last := results[0].Changes[slices.IndexFunc(results[0].Changes, func(c Change) bool { return c.Name == "cache-1" && c.Action == Held })]
	if last.Message != "ValkeyCluster/shop/cache has shard 1 again: another apply is at work" {
		t.Errorf("%q", last.Message)
	}
}

// TestAnEditedInventoryDeletesNothingElse: our labels are on what is never rendered
// too, such as the Secrets of the reconciler.
func TestAnEditedInventoryDeletesNothingElse(t *testing.T) {
	r := newFake(t)
	r.apply(clusterSpec(standalone))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cache-system", Labels: name.Labels("cache", name.ComponentCluster)}}
	if err := r.client.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	record := r.get("v1", "ConfigMap", "cache-inventory")
	data := record.Object["data"].(map[string]any)
	data[keyObjects] = data[keyObjects].(string) + "v1 Secret cache-system\n"
	if err := r.client.Update(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	if got := summary(r.apply(clusterSpec(standalone))); !slices.Equal(got, []string{"Secret/cache-system kept"}) {
		t.Errorf("%v", got)
	}
	if !r.exists("v1", "Secret", "cache-system") {
		t.Error("the Secret is gone")
	}
}

// finalized makes an object stay when it is deleted, until the function is called.
func (r *rig) finalized(apiVersion, kind, called string) (release func()) {
	r.t.Helper()
	set := func(finalizers ...string) {
		r.t.Helper()
		r.change("controller", apiVersion, kind, called, func(o *unstructured.Unstructured) { o.SetFinalizers(finalizers) })
	}
	set("example.com/stays")
	return func() { set() }
}

// staysRecordedUntilItIsGone: what only begins to go is recorded and waited for.
func staysRecordedUntilItIsGone(t *testing.T, newRig maker) {
	r := newRig(t)
	r.apply(clusterSpec(durable))
	release := r.finalized("apps/v1", "StatefulSet", "cache-2")
	p, err := r.applier(Options{}).Plan(t.Context(), rendered(t, r.namespace, clusterSpec(with(durable, "shards: 3", "shards: 2\ndeletionPolicy: Allow"))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(r.inventoryLines(), "apps/v1 StatefulSet cache-2") {
		t.Error("it is not recorded any more")
	}
	for range 3 {
		left, err := p.release(t.Context())
		if err != nil || len(left) != 1 || left[0].Message != "is being deleted" {
			t.Fatalf("%v, %v", left, err)
		}
	}
	if got := strings.Count(strings.Join(summary(p.Done()), "\n"), "StatefulSet/cache-2 deleted"); got != 1 {
		t.Errorf("it was deleted %d times: %v", got, summary(p.Done()))
	}
	release()
	if left, err := p.release(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	if slices.Contains(r.inventoryLines(), "apps/v1 StatefulSet cache-2") {
		t.Error("it is still recorded")
	}
}

func TestDeleteWithoutAnInventoryAsksForThePolicy(t *testing.T) {
	r := newFake(t)
	spec := clusterSpec(durable)
	// As another tool applies it.
	for _, o := range rendered(t, "shop", spec)[0].Objects {
		if o.GetKind() != "ValkeyCluster" {
			if err := r.client.Create(t.Context(), o.DeepCopy()); err != nil {
				t.Fatal(err)
			}
		}
	}
	a := r.applier(Options{})
	_, err := a.Delete(t.Context(), rendered(t, "shop", spec)[0], DeleteOptions{})
	if err == nil || !IsRefusal(err) || !strings.Contains(err.Error(), "there is no ValkeyCluster that says whether its data may go") {
		t.Errorf("%v", err)
	}
	if !r.exists("apps/v1", "StatefulSet", "cache-0") || r.exists("v1", "ConfigMap", "cache-inventory") {
		t.Error("something was written")
	}
	allowed := rendered(t, "shop", clusterSpec(durable+"deletionPolicy: Allow\n"))[0]
	if _, err := a.Delete(t.Context(), allowed, DeleteOptions{}); err != nil || r.exists("apps/v1", "StatefulSet", "cache-0") {
		t.Errorf("allowed: %v", err)
	}
}

// TestARefusedDeleteLeavesNoIntent: else the next one would not ask.
func TestARefusedDeleteLeavesNoIntent(t *testing.T) {
	denied := apierrors.NewForbidden(schema.GroupResource{Resource: "valkeyclusters"}, "cache", nil)
	for called, apply := range map[string]bool{"with an inventory": true, "without": false} {
		t.Run(called, func(t *testing.T) {
			r := newFake(t)
			spec := clusterSpec(durable + "deletionPolicy: Allow\n")
			if apply {
				r.apply(spec)
			} else if err := r.client.Create(t.Context(), find(t, rendered(t, "shop", spec)[0], "ValkeyCluster", "cache")); err != nil {
				t.Fatal(err)
			}
			a := New(&deleting{Client: r.client, kind: "ValkeyCluster", answer: denied}, Options{})
			_, err := a.Delete(t.Context(), Cluster{Namespace: "shop", Name: "cache", Complete: true}, DeleteOptions{})
			if err == nil || !strings.Contains(err.Error(), "ValkeyCluster/shop/cache: delete failed: ") {
				t.Errorf("%v", err)
			}
			if r.exists("v1", "ConfigMap", "cache-inventory") != apply {
				t.Error("the inventory came or went")
			}
			if apply {
				if again := summary(r.apply(spec)); len(again) > 0 || len(r.inventoryLines()) != 18 {
					t.Errorf("%v, %d lines", again, len(r.inventoryLines()))
				}
			}
		})
	}
}

// TestDeleteLooksAtThePolicyAgain: it is set to Guard while the delete is on its way.
func TestDeleteLooksAtThePolicyAgain(t *testing.T) {
	r := newFake(t)
	r.apply(clusterSpec(durable + "deletionPolicy: Allow\n"))
	lines := r.inventoryLines()
	a := r.applier(Options{})
	a.before = func(write string) error {
		if write == "write ConfigMap/shop/cache-inventory" && r.exists("apps/v1", "StatefulSet", "cache-0") {
			o := r.get("valkey-render.dev/v1alpha1", "ValkeyCluster", "cache")
			o.Object["spec"].(map[string]any)["deletionPolicy"] = "Guard"
			return r.client.Update(t.Context(), o)
		}
		return nil
	}
	_, err := a.Delete(t.Context(), Cluster{Namespace: "shop", Name: "cache", Complete: true}, DeleteOptions{})
	if err == nil || !IsRefusal(err) || !r.exists("valkey-render.dev/v1alpha1", "ValkeyCluster", "cache") || !r.exists("apps/v1", "StatefulSet", "cache-0") {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff(lines, r.inventoryLines()); diff != "" {
		t.Error(diff)
	}
}

// TestDeleteLeavesTheInventoryOfAnotherRun: one that has begun to apply again.
func TestDeleteLeavesTheInventoryOfAnotherRun(t *testing.T) {
	r := newFake(t)
	spec := clusterSpec(durable + "deletionPolicy: Allow\n")
	r.apply(spec)
	a := r.applier(Options{})
	a.before = func(write string) error {
		if write == "delete ConfigMap/shop/cache-inventory" {
			r.apply(spec)
		}
		return nil
	}
	if _, err := a.Delete(t.Context(), Cluster{Namespace: "shop", Name: "cache", Complete: true}, DeleteOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("%v", err)
	}
	if !r.exists("v1", "ConfigMap", "cache-inventory") || !r.exists("apps/v1", "StatefulSet", "cache-0") {
		t.Error("the other run has lost something")
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fluxcd/pkg/ssa"
)

const (
	allowOrders = "to give the data of the cluster up: kubectl -n NS patch valkeycluster orders --type merge -p '{\"spec\":{\"deletionPolicy\":\"Allow\"}}'"
	hasData     = "has the data of shard %d of ValkeyCluster/NS/orders, which is not drained: "
	cannotGo    = "StatefulSet/NS/orders-%d " + hasData + "lower spec.shards and wait until status.drainedShards lists the shard; " + allowOrders
	cannotStop  = "StatefulSet/NS/orders-%d " + hasData + "to stop the pods and keep the data: kubectl -n NS patch valkeycluster orders --type merge -p '{\"spec\":{\"hibernate\":true}}'; " + allowOrders
	noSlots     = "StatefulSet/NS/orders-%d " + hasData + allowOrders
)

func undrained(shard int) string { return fmt.Sprintf(cannotGo, shard, shard) }

func unstopped(shard int) string { return fmt.Sprintf(cannotStop, shard, shard) }

// del deletes a StatefulSet.
func del(called string, o ...client.DeleteOption) func(*rig, client.Client) error {
	return func(r *rig, c client.Client) error { return c.Delete(r.t.Context(), r.set(called), o...) }
}

// stop scales a StatefulSet to no pods.
func stop(called string) func(*rig, client.Client) error {
	return patchSet(called, `{"spec":{"replicas":0}}`)
}

func patchSet(called, text string) func(*rig, client.Client) error {
	return func(r *rig, c client.Client) error { return c.Patch(r.t.Context(), r.set(called), patch(text)) }
}

func allow(called string) func(*rig) {
	return func(r *rig) { r.change(r.cluster(called), `{"spec":{"deletionPolicy":"Allow"}}`) }
}

func hibernate(r *rig) { r.change(r.cluster("orders"), `{"spec":{"hibernate":true}}`) }

func drain(called, shards string) func(*rig) { return func(r *rig) { r.drained(called, shards) } }

// terminating is a ValkeyCluster that is being deleted, held by a finalizer.
func terminating(r *rig) {
	o := r.cluster("orders")
	r.change(o, `{"metadata":{"finalizers":["example.com/hold"]}}`)
	r.t.Cleanup(func() {
		_ = r.client.Patch(contextOf(r), r.cluster("orders"), patch(`{"metadata":{"finalizers":null}}`))
	})
	r.must(r.client.Delete(r.t.Context(), o))
}

// other is a StatefulSet that is none of ours.
func other(r *rig) {
	one, labels := int32(1), map[string]string{"app": "other"}
	r.must(r.client.Create(r.t.Context(), &appsv1.StatefulSet{ObjectMeta: r.meta("other"), Spec: appsv1.StatefulSetSpec{
		Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "none"}}}},
	}}))
}

func shardAttempts() []attempt {
	cache := []string{valkeyCluster("orders", "{shards: 3, resources: {limits: {memory: 1Gi}}}")}
	two := []string{orders(), valkeyCluster("dev", "{deletionPolicy: Allow, profile: Durable, resources: {limits: {memory: 1Gi}}, storage: {size: 1Gi}}")}
	guarded := []string{orders(), valkeyCluster("dev", durable)}
	replicated := []string{valkeyCluster("orders", "{topology: Replication, profile: Durable, resources: {limits: {memory: 1Gi}}, storage: {size: 1Gi}}")}
	sentinel := []string{valkeyCluster("orders", "{topology: Sentinel, resources: {limits: {memory: 1Gi}}}")}
	zero := int64(0)
	return []attempt{
		{name: "delete a shard", act: del("orders-2"), by: "shard", words: undrained(2)},
		{name: "delete a shard in the background", act: del("orders-2", client.PropagationPolicy(metav1.DeletePropagationBackground)), by: "shard", words: undrained(2)},
		{name: "delete a shard in the foreground", act: del("orders-2", client.PropagationPolicy(metav1.DeletePropagationForeground)), by: "shard", words: undrained(2)},
		{name: "replace a shard with force", act: del("orders-2", &client.DeleteOptions{GracePeriodSeconds: &zero}), by: "shard", words: undrained(2)},
		{name: "delete all shards at once", act: deleteShards, by: "shard", words: "StatefulSet/NS/orders-"},
		{name: "prune a shard by Flux's engine", act: prune, by: "shard", words: undrained(2)},
		{name: "delete a shard of a cache", specs: cache, act: del("orders-0"), by: "shard", words: undrained(0)},
		{name: "delete the pods of topology Replication", specs: replicated, act: del("orders-0"), by: "shard", words: fmt.Sprintf(noSlots, 0, 0)},
		{name: "delete a shard of a hibernating cluster", setup: hibernate, act: del("orders-0"), by: "shard", words: undrained(0)},
		{name: "delete another shard than the drained one", setup: drain("orders", "1"), act: del("orders-2"), by: "shard", words: undrained(2)},
		{name: "delete a shard that was drained and scaled out again", setup: drainedOnce, act: del("orders-2"), by: "shard", words: undrained(2)},
		{name: "delete a shard beside a cluster with policy Allow", specs: two, act: del("orders-0"), by: "shard", words: undrained(0)},
		{name: "delete a shard that is drained in another cluster", specs: guarded, setup: drainedElsewhere, act: del("orders-0"), by: "shard", words: undrained(0)},
		{name: "delete a shard that is labelled as another cluster's", specs: two, setup: relabel("cluster", `"dev"`), act: del("orders-0"), by: "shard", words: undrained(0)},
		{name: "delete a shard that is labelled as a drained one", setup: relabelledDrained, act: del("orders-0"), by: "shard", words: undrained(0)},
		{name: "delete a shard without its cluster's label", setup: relabel("cluster", "null"), act: del("orders-0"), by: "shard", words: undrained(0)},
		{name: "delete a shard as one who may not write the status", setup: cannotDrain, as: editor, act: del("orders-2"), by: "shard", words: undrained(2)},
		{name: "delete a shard whose orphaning has begun", setup: orphaning, act: del("orders-2"), by: "shard", words: undrained(2)},
		{name: "stop a shard by a patch", act: stop("orders-0"), by: "shard", words: unstopped(0)},
		{name: "stop a shard by an update", act: update, by: "shard", words: unstopped(0)},
		{name: "stop a shard by an apply of another manager", act: applyZero, by: "shard", words: unstopped(0)},
		{name: "stop a shard and take its label off at once", act: patchSet("orders-0", `{"metadata":{"labels":{"valkey-render.dev/shard":null}},"spec":{"replicas":0}}`), by: "shard", words: unstopped(0)},

		{name: "orphan the pods of a shard", act: del("orders-2", client.PropagationPolicy(metav1.DeletePropagationOrphan))},
		{name: "delete a drained shard", setup: drain("orders", "2"), act: del("orders-2")},
		{name: "delete a drained shard in the foreground", setup: drain("orders", "1,2"), act: del("orders-2", client.PropagationPolicy(metav1.DeletePropagationForeground))},
		{name: "stop a drained shard", setup: drain("orders", "2"), act: stop("orders-2")},
		{name: "delete a shard with policy Allow", setup: allow("orders"), act: del("orders-0")},
		{name: "delete all shards with policy Allow", setup: allow("orders"), act: deleteShards},
		{name: "stop a shard with policy Allow", setup: allow("orders"), act: stop("orders-0")},
		{name: "delete a shard of a cluster with policy Allow beside a guarded one", specs: two, act: del("dev-0")},
		{name: "delete a shard of a cluster that is being deleted", specs: cache, setup: terminating, act: del("orders-0")},
		{name: "delete a shard without a ValkeyCluster", specs: cache, setup: func(r *rig) { r.must(r.client.Delete(r.t.Context(), r.cluster("orders"))) }, act: del("orders-0")},
		{name: "stop a shard of a hibernating cluster", setup: hibernate, act: stop("orders-0")},
		{name: "apply a rendered hibernation, StatefulSets first", act: applyHibernation},
		{name: "scale a shard to fewer pods", act: patchSet("orders-0", `{"spec":{"replicas":1}}`)},
		{name: "change a shard's template", act: patchSet("orders-0", `{"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}}`)},
		{name: "delete the Sentinels", specs: sentinel, act: del("orders-sentinel")},
		{name: "stop the Sentinels", specs: sentinel, act: stop("orders-sentinel")},
		{name: "delete a StatefulSet that is none of ours", setup: other, act: del("other")},
		{name: "stop a StatefulSet that is none of ours", setup: other, act: stop("other")},
	}
}

func deleteShards(r *rig, c client.Client) error {
	return c.DeleteAllOf(r.t.Context(), &appsv1.StatefulSet{}, client.InNamespace(r.namespace), client.MatchingLabels{"valkey-render.dev/cluster": "orders"})
}

// prune is how kustomize-controller deletes what is no longer in its source.
func prune(r *rig, c client.Client) error {
	m := ssa.NewResourceManager(c, nil, ssa.Owner{Field: "kustomize-controller", Group: "kustomize.toolkit.fluxcd.io"})
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("apps/v1")
	o.SetKind("StatefulSet")
	o.SetNamespace(r.namespace)
	o.SetName("orders-2")
	_, err := m.Delete(r.t.Context(), o, ssa.DeleteOptions{PropagationPolicy: metav1.DeletePropagationBackground})
	return err
}

func update(r *rig, c client.Client) error {
	s, none := r.set("orders-0"), int32(0)
	r.must(c.Get(r.t.Context(), client.ObjectKeyFromObject(s), s))
	s.ResourceVersion, s.Spec.Replicas = "", &none
	return c.Update(r.t.Context(), s)
}

func applyZero(r *rig, c client.Client) error {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": int64(0)}}}
	o.SetAPIVersion("apps/v1")
	o.SetKind("StatefulSet")
	o.SetNamespace(r.namespace)
	o.SetName("orders-0")
	return c.Apply(r.t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("autoscaler"), client.ForceOwnership)
}

// applyHibernation is what Argo CD and Helm do: the ValkeyCluster would come last.
func applyHibernation(r *rig, c client.Client) error {
	return r.apply(c, valkeyCluster("orders", durable[:len(durable)-1]+", hibernate: true}"), "StatefulSet")
}

func relabel(label, value string) func(*rig) {
	return func(r *rig) {
		r.change(r.set("orders-0"), `{"metadata":{"labels":{"valkey-render.dev/`+label+`":`+value+`}}}`)
	}
}

func relabelledDrained(r *rig) {
	r.drained("orders", "2")
	r.settled(false, r.client, del("orders-2"))
	relabel("shard", `"2"`)(r)
}

func drainedOnce(r *rig) {
	r.drained("orders", "2")
	r.settled(false, r.client, del("orders-2"))
	r.drained("orders", "")
}

func drainedElsewhere(r *rig) {
	r.drained("dev", "0")
	r.settled(false, r.client, del("dev-0"))
}

// orphaning deletes a shard in a way that a finalizer holds up, so that it is there,
// half deleted, when it is deleted again with its pods.
func orphaning(r *rig) {
	r.change(r.set("orders-2"), `{"metadata":{"finalizers":["example.com/hold"]}}`)
	r.t.Cleanup(func() {
		_ = r.client.Patch(contextOf(r), r.set("orders-2"), patch(`{"metadata":{"finalizers":null}}`))
	})
	r.must(r.client.Delete(r.t.Context(), r.set("orders-2"), client.PropagationPolicy(metav1.DeletePropagationOrphan)))
}

// editor may do everything with ValkeyClusters and StatefulSets, and nothing with the
// status of the former.
func editor(r *rig) client.Client { return user(r.t, "editor") }

func cannotDrain(r *rig) {
	ctx := r.t.Context()
	r.must(r.client.Create(ctx, &rbacv1.Role{ObjectMeta: r.meta("editor"), Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"valkey-render.dev"}, Resources: []string{"valkeyclusters"}, Verbs: []string{"*"}},
		{APIGroups: []string{"apps"}, Resources: []string{"statefulsets"}, Verbs: []string{"*"}},
	}}))
	r.must(r.client.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: r.meta("editor"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "editor"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "editor"}},
	}))
	c, list := editor(r), `{"status":{"drainedShards":[2]}}`
	until(r.t, "allowed to edit", func() bool { return c.Patch(ctx, r.cluster("orders"), patch(list)) == nil })
	if err := c.Status().Patch(ctx, r.cluster("orders"), patch(list)); !apierrors.IsForbidden(err) {
		r.t.Errorf("the editor could write the status: %v", err)
	}
	o := r.cluster("orders")
	r.must(r.client.Get(ctx, client.ObjectKeyFromObject(o), o))
	if list, found, _ := unstructured.NestedSlice(o.Object, "status", "drainedShards"); found {
		r.t.Errorf("the editor drained %v", list)
	}
}

// scale sets the pods of a StatefulSet through its subresource.
func scale(called string, pods int32) func(*rig, client.Client) error {
	return func(r *rig, c client.Client) error {
		return c.SubResource("scale").Update(r.t.Context(), r.set(called), client.WithSubResourceBody(&autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: pods}}))
	}
}

func patchScale(r *rig, c client.Client) error {
	return c.SubResource("scale").Patch(r.t.Context(), r.set("orders-0"), patch(`{"spec":{"replicas":0}}`), client.WithSubResourceBody(&autoscalingv1.Scale{}))
}

func scaleAttempts() []attempt {
	two := []string{orders(), valkeyCluster("dev", "{deletionPolicy: Allow, profile: Durable, resources: {limits: {memory: 1Gi}}, storage: {size: 1Gi}}")}
	return []attempt{
		{name: "scale a shard to zero", act: scale("orders-0", 0), by: "scale", words: unstopped(0)},
		{name: "scale a shard to zero by a patch", act: patchScale, by: "scale", words: unstopped(0)},
		{name: "scale a shard without labels to zero", setup: func(r *rig) { r.change(r.set("orders-0"), `{"metadata":{"labels":null}}`) }, act: scale("orders-0", 0), by: "scale", words: unstopped(0)},
		{name: "scale another shard than the drained one to zero", setup: drain("orders", "1"), act: scale("orders-2", 0), by: "scale", words: unstopped(2)},
		{name: "scale a shard to zero beside a cluster with policy Allow", specs: two, act: scale("orders-0", 0), by: "scale", words: unstopped(0)},

		{name: "scale a drained shard to zero", setup: drain("orders", "2"), act: scale("orders-2", 0)},
		{name: "scale a shard of a hibernating cluster to zero", setup: hibernate, act: scale("orders-0", 0)},
		{name: "scale a shard with policy Allow to zero", setup: allow("orders"), act: scale("orders-0", 0)},
		{name: "scale a shard to one pod", act: scale("orders-0", 1)},
		{name: "scale a StatefulSet that is none of ours to zero", setup: other, act: scale("other", 0)},
	}
}

func labelAttempts() []attempt {
	lost := "StatefulSet/NS/orders-0 is a shard by its selector and has lost the label that its guard looks for: put it back, and ask again: kubectl -n NS label statefulset orders-0 valkey-render.dev/shard=0"
	unlabelled := relabel("shard", "null")
	return []attempt{
		{name: "delete a shard without its label", setup: unlabelled, act: del("orders-0"), by: "label", words: lost},
		{name: "delete a shard without labels", setup: func(r *rig) { r.change(r.set("orders-0"), `{"metadata":{"labels":null}}`) }, act: del("orders-0"), by: "label", words: lost},
		{name: "delete a drained shard without its label", setup: func(r *rig) { r.drained("orders", "0"); unlabelled(r) }, act: del("orders-0"), by: "label", words: lost},
		{name: "stop a shard without its label", setup: unlabelled, act: stop("orders-0"), by: "label", words: lost},
		{name: "orphan the pods of a shard without its label", setup: unlabelled, act: del("orders-0", client.PropagationPolicy(metav1.DeletePropagationOrphan))},
		{name: "take the label of a shard off", act: patchSet("orders-0", `{"metadata":{"labels":{"valkey-render.dev/shard":null}}}`)},
	}
}

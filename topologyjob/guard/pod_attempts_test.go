// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/topologyjob/guard"
)

// pod is a pod as a StatefulSet makes it.
func pod(r *rig) {
	no, yes, uid := false, true, int64(999)
	o := &corev1.Pod{ObjectMeta: r.meta("orders-9-0"), Spec: corev1.PodSpec{
		SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: &yes, RunAsUser: &uid, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
		Containers: []corev1.Container{{Name: "server", Image: "none", SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		}}},
	}}
	o.Labels = map[string]string{"valkey-render.dev/cluster": "orders", "valkey-render.dev/shard": "9", "valkey-render.dev/role": "replica"}
	o.Annotations = map[string]string{"valkey-render.dev/valkey.conf": "appendonly yes\n"}
	r.must(r.client.Create(r.t.Context(), o))
	r.t.Cleanup(func() { _ = r.client.Patch(contextOf(r), o, patch(`{"metadata":{"finalizers":null}}`)) })
}

// reconciler has every right, and the name of the reconciler's service account.
func reconciler(r *rig) client.Client { return user(r.t, guard.DefaultReconciler, "system:masters") }

func patchPod(text string) func(*rig, client.Client) error {
	return func(r *rig, c client.Client) error {
		return c.Patch(r.t.Context(), &corev1.Pod{ObjectMeta: r.meta("orders-9-0")}, patch(text))
	}
}

func podAttempts() []attempt {
	may := func(what string) string {
		return "Pod/NS/orders-9-0: the reconciler may change nothing of a pod but label valkey-render.dev/role and annotation valkey-render.dev/refresh, and tried " + what + ": a pod changes by its spec: valkey-render apply -f SPEC"
	}
	unlabelled := func(r *rig) {
		pod(r)
		r.must(patchPod(`{"metadata":{"labels":null}}`)(r, r.client))
	}
	as := func(a attempt) attempt {
		a.specs = []string{}
		if a.setup == nil {
			a.setup = pod
		}
		if a.as == nil {
			a.as = reconciler
		}
		return a
	}
	image := func(r *rig, c client.Client) error {
		strategic := client.RawPatch(types.StrategicMergePatchType, []byte(`{"spec":{"containers":[{"name":"server","image":"other"}]}}`))
		return c.Patch(r.t.Context(), &corev1.Pod{ObjectMeta: r.meta("orders-9-0")}, strategic)
	}
	return []attempt{
		as(attempt{name: "the reconciler changes an image", act: image, by: "pod", words: may("the spec")}),
		as(attempt{name: "the reconciler changes the configuration", act: patchPod(`{"metadata":{"annotations":{"valkey-render.dev/valkey.conf":""}}}`), by: "pod", words: may("annotations")}),
		as(attempt{name: "the reconciler removes the configuration", act: patchPod(`{"metadata":{"annotations":{"valkey-render.dev/valkey.conf":null}}}`), by: "pod", words: may("annotations")}),
		as(attempt{name: "the reconciler removes all annotations", act: patchPod(`{"metadata":{"annotations":null}}`), by: "pod", words: may("annotations")}),
		as(attempt{name: "the reconciler adds an annotation", act: patchPod(`{"metadata":{"annotations":{"example.com/a":"b"}}}`), by: "pod", words: may("annotations")}),
		as(attempt{name: "the reconciler moves a pod to another cluster", act: patchPod(`{"metadata":{"labels":{"valkey-render.dev/cluster":"other"}}}`), by: "pod", words: may("labels")}),
		as(attempt{name: "the reconciler adds a label", act: patchPod(`{"metadata":{"labels":{"a":"b"}}}`), by: "pod", words: may("labels")}),
		as(attempt{name: "the reconciler removes a label", act: patchPod(`{"metadata":{"labels":{"valkey-render.dev/shard":null}}}`), by: "pod", words: may("labels")}),
		as(attempt{name: "the reconciler adds a finalizer", act: patchPod(`{"metadata":{"finalizers":["example.com/hold"]}}`), by: "pod", words: may("owners or finalizers")}),
		as(attempt{name: "the reconciler adds an owner", act: patchPod(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":"b"}]}}`), by: "pod", words: may("owners or finalizers")}),
		as(attempt{name: "the reconciler labels a pod of no cluster", setup: unlabelled, act: patchPod(`{"metadata":{"labels":{"valkey-render.dev/role":"primary"}}}`), by: "pod", words: may("a pod that belongs to no cluster")}),

		as(attempt{name: "the reconciler sets a role", act: patchPod(`{"metadata":{"labels":{"valkey-render.dev/role":"primary"}}}`)}),
		as(attempt{name: "the reconciler removes a role", act: patchPod(`{"metadata":{"labels":{"valkey-render.dev/role":null}}}`)}),
		as(attempt{name: "the reconciler asks for a refresh", act: patchPod(`{"metadata":{"annotations":{"valkey-render.dev/refresh":"1"}}}`)}),
		as(attempt{name: "the reconciler sets both", act: patchPod(`{"metadata":{"labels":{"valkey-render.dev/role":"primary"},"annotations":{"valkey-render.dev/refresh":"2"}}}`)}),
		as(attempt{name: "the reconciler deletes a pod", act: func(r *rig, c client.Client) error {
			return c.Delete(r.t.Context(), &corev1.Pod{ObjectMeta: r.meta("orders-9-0")})
		}}),
		as(attempt{name: "somebody else changes an image", as: func(r *rig) client.Client { return r.client }, act: image}),
	}
}

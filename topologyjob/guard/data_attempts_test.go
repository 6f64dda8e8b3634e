// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// contextOf outlives the test, for what is cleaned up after it.
func contextOf(r *rig) context.Context { return context.WithoutCancel(r.t.Context()) }

func deleteCluster(o ...client.DeleteOption) func(*rig, client.Client) error {
	return func(r *rig, c client.Client) error { return c.Delete(r.t.Context(), r.cluster("orders"), o...) }
}

func clusterAttempts() []attempt {
	cache := func(fields string) []string {
		return []string{valkeyCluster("orders", "{resources: {limits: {memory: 1Gi}}"+fields+"}")}
	}
	guarded := "ValkeyCluster/NS/orders is guarded: set spec.deletionPolicy to Allow first, then delete: kubectl -n NS patch valkeycluster orders --type merge -p '{\"spec\":{\"deletionPolicy\":\"Allow\"}}'"
	all := func(r *rig, c client.Client) error {
		return c.DeleteAllOf(r.t.Context(), r.cluster(""), client.InNamespace(r.namespace))
	}
	return []attempt{
		{name: "delete a Durable ValkeyCluster without a policy", act: deleteCluster(), by: "cluster", words: guarded},
		{name: "delete a cache with policy Guard", specs: cache(", deletionPolicy: Guard"), act: deleteCluster(), by: "cluster", words: guarded},
		{name: "delete a ValkeyCluster and orphan the rest", act: deleteCluster(client.PropagationPolicy(metav1.DeletePropagationOrphan)), by: "cluster", words: guarded},
		{name: "delete a ValkeyCluster in the foreground", act: deleteCluster(client.PropagationPolicy(metav1.DeletePropagationForeground)), by: "cluster", words: guarded},
		{name: "delete all ValkeyClusters at once", act: all, by: "cluster", words: guarded},
		{name: "delete a hibernating ValkeyCluster", setup: hibernate, act: deleteCluster(), by: "cluster", words: guarded},

		{name: "delete a ValkeyCluster with policy Allow", setup: allow("orders"), act: deleteCluster()},
		{name: "delete a cache without a policy", specs: cache(""), act: deleteCluster()},
		{name: "change a ValkeyCluster", act: func(r *rig, c client.Client) error {
			return c.Patch(r.t.Context(), r.cluster("orders"), patch(`{"spec":{"shards":4}}`))
		}},
	}
}

// madeClaim is a claim as a StatefulSet controller makes it from the template, or as
// somebody else does.
func madeClaim(called string, labels map[string]string) func(*rig, client.Client) error {
	return func(r *rig, c client.Client) error {
		o := r.claim(called)
		o.Labels = labels
		o.Spec = corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}
		return c.Create(r.t.Context(), o)
	}
}

func labelClaim(labels string) func(*rig, client.Client) error {
	return func(r *rig, c client.Client) error {
		return c.Patch(r.t.Context(), r.claim("data-orders-0-0"), patch(`{"metadata":{"labels":`+labels+`}}`))
	}
}

func claimAttempts() []attempt {
	none := []string{}
	made := map[string]string{"app.kubernetes.io/component": "server", "valkey-render.dev/cluster": "orders", "valkey-render.dev/shard": "3"}
	rendered := map[string]string{"app.kubernetes.io/managed-by": "valkey-render", "valkey-render.dev/cluster": "orders", "valkey-render.dev/shard": "3"}
	notRendered := "PersistentVolumeClaim/NS/data-orders-3-0 is not the rendered one, which has the right size and the label app.kubernetes.io/managed-by: " +
		"apply that, from the file persistentvolumeclaim-data-orders-3-0.yaml or with: valkey-render apply -f SPEC; the StatefulSet then takes it by itself"
	keeps := "PersistentVolumeClaim/NS/data-orders-0-0 has to keep the label valkey-render.dev/cluster, by which its data is guarded: " +
		"change the other labels only; when its data may go, delete it: kubectl -n NS delete persistentvolumeclaim data-orders-0-0"
	return []attempt{
		{name: "make a claim from the template", specs: none, act: madeClaim("data-orders-3-0", made), by: "claim", words: notRendered},
		{name: "make a claim from the template beside rendered ones", act: madeClaim("data-orders-3-0", made), by: "claim", words: notRendered},
		{name: "take the label of a claim off", act: labelClaim(`{"valkey-render.dev/cluster":null}`), by: "claim", words: keeps},
		{name: "take all labels of a claim off", act: labelClaim(`null`), by: "claim", words: keeps},

		{name: "make the rendered claim", specs: none, act: madeClaim("data-orders-3-0", rendered)},
		{name: "make a claim that is none of ours", specs: none, act: madeClaim("data-orders-3-0", nil)},
		{name: "label a claim that is none of ours", specs: none, setup: func(r *rig) { r.must(madeClaim("data-orders-0-0", nil)(r, r.client)) }, act: labelClaim(`{"valkey-render.dev/cluster":"orders"}`)},
		{name: "change other labels of a claim", act: labelClaim(`{"team":"shop"}`)},
	}
}

func deleteClaim(called string) func(*rig, client.Client) error {
	return func(r *rig, c client.Client) error { return c.Delete(r.t.Context(), r.claim(called)) }
}

// ready is a status that says that the cluster is as its spec asks, or was as an
// older one did.
func ready(r *rig, lag int64) {
	o := r.cluster("orders")
	r.must(r.client.Get(r.t.Context(), client.ObjectKeyFromObject(o), o))
	r.status("orders", fmt.Sprintf(`{"conditions":[{"type":"Ready","status":"True","reason":"Ready","message":"","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":%d}]}`, o.GetGeneration()-lag))
}

// fewer asks for no replicas, and says whether the cluster is Ready without them.
func fewer(lag int64) func(*rig) {
	return func(r *rig) {
		r.change(r.cluster("orders"), `{"spec":{"replicasPerShard":0}}`)
		ready(r, lag)
	}
}

func dataAttempts() []attempt {
	holds := func(claim string, shard int) string {
		return fmt.Sprintf("PersistentVolumeClaim/NS/%s has data of shard %d of ValkeyCluster/NS/orders: it may go when status.drainedShards lists the shard, "+
			"or when the cluster is Ready with fewer pods in a shard; "+allowOrders, claim, shard)
	}
	two := []string{orders(), valkeyCluster("orders-eu", "{deletionPolicy: Allow, profile: Durable, resources: {limits: {memory: 1Gi}}, storage: {size: 1Gi}}")}
	cache := []string{valkeyCluster("orders", "{shards: 3, resources: {limits: {memory: 1Gi}}, storage: {size: 1Gi}}")}
	all := func(r *rig, c client.Client) error {
		return c.DeleteAllOf(r.t.Context(), &corev1.PersistentVolumeClaim{}, client.InNamespace(r.namespace), client.MatchingLabels{"app.kubernetes.io/instance": "orders"})
	}
	relabelled := func(r *rig) {
		r.must(labelClaim(`{"valkey-render.dev/cluster":"orders-eu","valkey-render.dev/shard":"9"}`)(r, r.client))
	}
	return []attempt{
		{name: "delete a claim", act: deleteClaim("data-orders-0-1"), by: "data", words: holds("data-orders-0-1", 0)},
		{name: "delete all claims at once", act: all, by: "data", words: "PersistentVolumeClaim/NS/data-orders-"},
		{name: "delete a claim of a hibernating cluster", setup: hibernate, act: deleteClaim("data-orders-0-0"), by: "data", words: holds("data-orders-0-0", 0)},
		{name: "delete a claim of another shard than the drained one", setup: drain("orders", "1"), act: deleteClaim("data-orders-2-0"), by: "data", words: holds("data-orders-2-0", 2)},
		{name: "delete a claim that is labelled as another cluster's", specs: two, setup: relabelled, act: deleteClaim("data-orders-0-0"), by: "data", words: holds("data-orders-0-0", 0)},
		{name: "delete the claim of a replica that was given up before the cluster is Ready", setup: fewer(1), act: deleteClaim("data-orders-0-1"), by: "data", words: holds("data-orders-0-1", 0)},
		{name: "delete the claim of a replica of a cluster that is Ready", setup: func(r *rig) { ready(r, 0) }, act: deleteClaim("data-orders-0-1"), by: "data", words: holds("data-orders-0-1", 0)},
		{name: "delete the claim of a primary where replicas were given up", setup: fewer(0), act: deleteClaim("data-orders-0-0"), by: "data", words: holds("data-orders-0-0", 0)},

		{name: "delete the claim of a replica that was given up", setup: fewer(0), act: deleteClaim("data-orders-0-1")},
		{name: "delete a claim of a drained shard", setup: drain("orders", "2"), act: deleteClaim("data-orders-2-1")},
		{name: "delete a claim with policy Allow", setup: allow("orders"), act: deleteClaim("data-orders-0-0")},
		{name: "delete a claim of a cluster whose name is longer", specs: two, act: deleteClaim("data-orders-eu-0-0")},
		{name: "delete a claim of a cluster that is being deleted", specs: cache, setup: terminating, act: deleteClaim("data-orders-0-0")},
		{name: "delete a claim without a ValkeyCluster", specs: cache, setup: func(r *rig) { r.must(r.client.Delete(r.t.Context(), r.cluster("orders"))) }, act: deleteClaim("data-orders-0-0")},
		{name: "delete a claim that is none of ours", setup: func(r *rig) { r.must(madeClaim("data-orders-7-0", nil)(r, r.client)) }, act: deleteClaim("data-orders-7-0")},
		{name: "delete a claim with our label and a name of its own", setup: func(r *rig) {
			r.must(madeClaim("backup-orders-0-0", map[string]string{"app.kubernetes.io/managed-by": "velero", "valkey-render.dev/cluster": "orders"})(r, r.client))
		}, act: deleteClaim("backup-orders-0-0")},
	}
}

func deleteSecret(called string) func(*rig, client.Client) error {
	return func(r *rig, c client.Client) error { return c.Delete(r.t.Context(), r.secret(called)) }
}

func secretAttempts() []attempt {
	needed := func(secret string) string {
		return "Secret/NS/" + secret + " has what the running servers of ValkeyCluster/NS/orders were started with, and nobody gets in without it: " +
			"delete the ValkeyCluster first, or give the data of the cluster up: kubectl -n NS patch valkeycluster orders --type merge -p '{\"spec\":{\"deletionPolicy\":\"Allow\"}}'"
	}
	cache := []string{valkeyCluster("orders", "{resources: {limits: {memory: 1Gi}}}")}
	own := func(secret string) []string {
		return []string{valkeyCluster("orders", "{resources: {limits: {memory: 1Gi}}, auth: {existingSecret: {name: "+secret+"}}}")}
	}
	two := []string{orders(), valkeyCluster("dev", "{deletionPolicy: Allow, resources: {limits: {memory: 1Gi}}}")}
	all := func(r *rig, c client.Client) error {
		return c.DeleteAllOf(r.t.Context(), &corev1.Secret{}, client.InNamespace(r.namespace), client.MatchingFields{"metadata.name": "orders-acl"})
	}
	return []attempt{
		{name: "delete the passwords of the system users", act: deleteSecret("orders-system"), by: "secret", words: needed("orders-system")},
		{name: "delete the ACL files", act: deleteSecret("orders-acl"), by: "secret", words: needed("orders-acl")},
		{name: "delete the ACL files by a collection", act: all, by: "secret", words: needed("orders-acl")},
		{name: "delete the default password", act: deleteSecret("orders-auth"), by: "secret", words: needed("orders-auth")},
		{name: "delete the passwords of a cache", specs: cache, act: deleteSecret("orders-system"), by: "secret", words: needed("orders-system")},
		{name: "delete a password of one's own of the default name", specs: own("orders-auth"), act: deleteSecret("orders-auth"), by: "secret", words: needed("orders-auth")},
		{name: "delete the passwords of a hibernating cluster", setup: hibernate, act: deleteSecret("orders-system"), by: "secret", words: needed("orders-system")},
		{name: "delete the passwords beside a cluster with policy Allow", specs: two, act: deleteSecret("orders-system"), by: "secret", words: needed("orders-system")},

		{name: "delete the passwords of a cluster with policy Allow", specs: two, act: deleteSecret("dev-system")},
		{name: "delete the default password that is not used", specs: own("mine"), act: deleteSecret("orders-auth")},
		{name: "delete the passwords of users", act: deleteSecret("orders-users")},
		{name: "delete the passwords without a ValkeyCluster", specs: cache, setup: func(r *rig) { r.must(r.client.Delete(r.t.Context(), r.cluster("orders"))) }, act: deleteSecret("orders-system")},
		{name: "delete the passwords of a cluster that is being deleted", specs: cache, setup: terminating, act: deleteSecret("orders-system")},
		{name: "delete a Secret that is none of ours", setup: func(r *rig) { r.must(r.client.Create(r.t.Context(), r.secret("file-system"))) }, act: deleteSecret("file-system")},
	}
}

func definitionAttempts() []attempt {
	// Never for real: it is the definition of the other tests too.
	del := func(called string) func(*rig, client.Client) error {
		return func(r *rig, c client.Client) error {
			o := &unstructured.Unstructured{}
			o.SetAPIVersion("apiextensions.k8s.io/v1")
			o.SetKind("CustomResourceDefinition")
			o.SetName(called)
			return client.NewDryRunClient(c).Delete(r.t.Context(), o)
		}
	}
	return []attempt{
		{name: "delete the definition of ValkeyClusters", specs: []string{}, act: del("valkeyclusters.valkey-render.dev"), by: "definition", words: "CustomResourceDefinition/valkeyclusters.valkey-render.dev takes every ValkeyCluster with it, and what guards their data: take the guard away first, with Helm or: " +
			"kubectl delete validatingadmissionpolicies,validatingadmissionpolicybindings -l app.kubernetes.io/part-of=valkey-render,app.kubernetes.io/component=guard"},
		{name: "delete another definition", specs: []string{}, act: del("certificates.cert-manager.io")},
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/render/name"
)

const durable = `
profile: Durable
shards: 3
replicasPerShard: 1
resources: {limits: {memory: 1Gi}}
storage: {size: 2Gi}
`

func stagesAndInventory(t *testing.T, newRig maker) {
	r := newRig(t)
	a, d := r.applier(Options{Concurrency: 4}), &diary{}
	a.before = d.before
	results, err := r.try(a, clusterSpec(durable))
	if err != nil {
		t.Fatal(err)
	}
	kinds := slices.Compact(func() (out []string) {
		for _, w := range d.writes {
			verb, id, _ := strings.Cut(w, " ")
			kind, _, _ := strings.Cut(id, "/")
			out = append(out, verb+" "+kind)
		}
		return out
	}())
	want := []string{
		"write ConfigMap", "apply ValkeyCluster", "apply ConfigMap", "apply Service", "apply PersistentVolumeClaim",
		"apply StatefulSet", "apply PodDisruptionBudget", "apply NetworkPolicy", "write ConfigMap",
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("writes (-want +got)\n%s", diff)
	}
	data, _, _ := unstructured.NestedStringMap(r.get("v1", "ConfigMap", "cache-inventory").Object, "data")
	var lines strings.Builder
	for _, c := range results[0].Changes {
		lines.WriteString(c.line() + "\n")
	}
	if diff := cmp.Diff(map[string]string{"objects": lines.String()}, data); diff != "" {
		t.Errorf("inventory (-want +got)\n%s", diff)
	}
	for i := range 6 {
		claim := name.Claim("cache", int32(i/2), int32(i%2))
		if size, _ := quantityAt(r.get("v1", "PersistentVolumeClaim", claim), requestPath()...); size.String() != "2Gi" {
			t.Errorf("%s asks for %s", claim, size.String())
		}
	}
}

func with(spec, from, to string) string { return strings.ReplaceAll(spec, from, to) }

// inventoryLines are the objects that the inventory lists.
func (r *rig) inventoryLines() []string {
	r.t.Helper()
	data, _, _ := unstructured.NestedStringMap(r.get("v1", "ConfigMap", "cache-inventory").Object, "data")
	if data[keyPending] != "" || data[keyIntent] != "" {
		r.t.Errorf("the inventory is not promoted: %v", data)
	}
	return strings.Split(strings.TrimSpace(data[keyObjects]), "\n")
}

func (r *rig) drained(shards ...any) {
	r.t.Helper()
	o := r.get("valkey-render.dev/v1alpha1", "ValkeyCluster", "cache")
	o.Object["status"] = map[string]any{"drainedShards": shards}
	if err := r.client.Status().Update(r.t.Context(), o, client.FieldOwner("valkey-reconciler")); err != nil {
		r.t.Fatal(err)
	}
}

func holdsAShardUntilItIsDrained(t *testing.T, newRig maker) {
	r := newRig(t)
	three, two := clusterSpec(durable), clusterSpec(with(durable, "shards: 3", "shards: 2"))
	r.apply(three)
	held := []string{
		"ValkeyCluster/cache configured", "PodDisruptionBudget/cache-2 held", "StatefulSet/cache-2 held",
		"PersistentVolumeClaim/data-cache-2-1 kept", "PersistentVolumeClaim/data-cache-2-0 kept",
	}
	if diff := cmp.Diff(held, summary(r.apply(two))); diff != "" {
		t.Errorf("the first apply of two shards (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(held[1:3], summary(r.apply(two))); diff != "" {
		t.Errorf("the second (-want +got)\n%s", diff)
	}
	if lines := r.inventoryLines(); !slices.Contains(lines, "apps/v1 StatefulSet cache-2") || slices.Contains(lines, "v1 PersistentVolumeClaim data-cache-2-0") {
		t.Errorf("inventory %v", lines)
	}
	r.drained(int64(1))
	if diff := cmp.Diff(held[1:3], summary(r.apply(two))); diff != "" {
		t.Errorf("with another shard drained (-want +got)\n%s", diff)
	}
	r.drained(int64(2))
	want := []string{"PodDisruptionBudget/cache-2 deleted", "StatefulSet/cache-2 deleted"}
	if diff := cmp.Diff(want, summary(r.apply(two))); diff != "" {
		t.Errorf("once drained (-want +got)\n%s", diff)
	}
	if slices.Contains(r.inventoryLines(), "apps/v1 StatefulSet cache-2") {
		t.Error("the inventory still lists the StatefulSet")
	}
	if got := summary(r.apply(two)); len(got) != 0 {
		t.Errorf("after that: %v", got)
	}
	if !r.exists("v1", "PersistentVolumeClaim", "data-cache-2-0") {
		t.Error("the claim is gone")
	}
	// Scaled out again, it finds its claims.
	if got := summary(r.apply(three)); slices.Contains(got, "PersistentVolumeClaim/data-cache-2-0 created") || !slices.Contains(got, "StatefulSet/cache-2 created") {
		t.Errorf("scaled out again: %v", got)
	}
}

func policyAllowLetsShardsGo(t *testing.T, newRig maker) {
	r := newRig(t)
	r.apply(clusterSpec(durable))
	got := summary(r.apply(clusterSpec(with(durable, "shards: 3", "shards: 2\ndeletionPolicy: Allow"))))
	if !slices.Contains(got, "StatefulSet/cache-2 deleted") {
		t.Errorf("%v", got)
	}
}

// whatAShardNoLongerHasGoes: of a shard that stays, only the StatefulSet has data. Of
// two budgets for a pod, the server takes neither when a node is drained.
func whatAShardNoLongerHasGoes(t *testing.T, newRig maker) {
	r := newRig(t)
	r.apply(clusterSpec(durable))
	got := summary(r.apply(clusterSpec(durable + "podDisruptionBudget: {mode: Cluster}\n")))
	want := []string{"PodDisruptionBudget/cache created", "PodDisruptionBudget/cache-0 deleted", "PodDisruptionBudget/cache-1 deleted", "PodDisruptionBudget/cache-2 deleted"}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("not %s: %v", line, got)
		}
	}
}

func prunesOnlyWhatIsRecordedAndLabelled(t *testing.T, newRig maker) {
	r := newRig(t)
	small := "topology: Standalone\nresources: {limits: {memory: 1Gi}}\n"
	tls := clusterSpec(small + "tls: {issuerRef: {name: ca}}\n")
	r.apply(tls)
	// One of the same labels that nobody recorded, and a recorded one whose label was
	// taken off.
	copied := r.get("v1", "ConfigMap", "cache-scripts")
	fresh := ID{"v1", "ConfigMap", r.namespace, "cache-extra"}.object()
	fresh.SetLabels(copied.GetLabels())
	if err := r.client.Create(t.Context(), fresh); err != nil {
		t.Fatal(err)
	}
	certificate := r.get("cert-manager.io/v1", "Certificate", "cache-tls")
	labels := certificate.GetLabels()
	delete(labels, "app.kubernetes.io/managed-by")
	certificate.SetLabels(labels)
	if err := r.client.Update(t.Context(), certificate, client.FieldOwner("somebody")); err != nil {
		t.Fatal(err)
	}
	// TLS of a Standalone may go.
	got := summary(r.apply(clusterSpec(small)))
	if !slices.Contains(got, "Certificate/cache-tls kept") {
		t.Errorf("%v", got)
	}
	if !r.exists("v1", "ConfigMap", "cache-extra") || !r.exists("cert-manager.io/v1", "Certificate", "cache-tls") {
		t.Error("one is gone")
	}
	if slices.Contains(r.inventoryLines(), "cert-manager.io/v1 Certificate cache-tls") {
		t.Error("what is not ours any more is still recorded")
	}
}

func anACLAloneRecordsAndPrunesNothing(t *testing.T, newRig maker) {
	r := newRig(t)
	cluster := clusterSpec("topology: Standalone\nresources: {limits: {memory: 1Gi}}")
	acl := "apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyACL\nmetadata: {name: app, namespace: shop}\n" +
		"spec: {clusterRef: {name: cache}, users: [{name: app, passwordSecret: {name: app}, commands: {allow: ['@read']}, keys: {readOnly: ['*']}}]}\n"
	r.apply(cluster)
	before := r.inventoryLines()
	if got := summary(r.apply(acl)); !slices.Equal(got, []string{"ValkeyACL/app created"}) {
		t.Errorf("%v", got)
	}
	if got := summary(r.apply(cluster)); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if diff := cmp.Diff(before, r.inventoryLines()); diff != "" {
		t.Error(diff)
	}
	a := r.applier(Options{})
	result, err := a.Delete(t.Context(), rendered(t, r.namespace, acl)[0], DeleteOptions{})
	if err != nil || !slices.Equal(summary([]Result{result}), []string{"ValkeyACL/app deleted"}) {
		t.Errorf("%v %v", result, err)
	}
	if !r.exists("apps/v1", "StatefulSet", "cache-0") {
		t.Error("the cluster went with it")
	}
}

func deletesAllButClaims(t *testing.T, newRig maker) {
	r := newRig(t)
	r.apply(clusterSpec(durable))
	a := r.applier(Options{})
	whole := Cluster{Namespace: r.namespace, Name: "cache", Complete: true}
	if _, err := a.Delete(t.Context(), whole, DeleteOptions{}); err == nil || !IsRefusal(err) || !strings.Contains(err.Error(), "set spec.deletionPolicy to Allow and apply it first") {
		t.Fatalf("%v", err)
	}
	r.apply(clusterSpec(durable + "deletionPolicy: Allow\n"))
	dry, err := a.Delete(t.Context(), whole, DeleteOptions{DryRun: true})
	if err != nil || !r.exists("valkey-render.dev/v1alpha1", "ValkeyCluster", "cache") {
		t.Fatalf("%v", err)
	}
	result, err := a.Delete(t.Context(), whole, DeleteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(summary([]Result{dry}), summary([]Result{result})); diff != "" {
		t.Errorf("(-dry run +real)\n%s", diff)
	}
	if first := result.Changes[0]; first.Kind != "ValkeyCluster" || first.Action != Deleted {
		t.Errorf("%v went first", first.ID)
	}
	if err := a.WaitGone(t.Context(), []Result{result}); err != nil {
		t.Error(err)
	}
	for _, kind := range []string{"StatefulSet", "Service"} {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(map[string]string{"StatefulSet": "apps/v1", "Service": "v1"}[kind])
		list.SetKind(kind + "List")
		if err := r.client.List(t.Context(), list, client.InNamespace(r.namespace)); err != nil || len(list.Items) > 0 {
			t.Errorf("%d of %s are left, %v", len(list.Items), kind, err)
		}
	}
	if r.exists("v1", "ConfigMap", "cache-inventory") {
		t.Error("the inventory is left")
	}
	if !r.exists("v1", "PersistentVolumeClaim", "data-cache-0-0") {
		t.Error("a claim is gone")
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// withSpec is what a spec with jobs: Rendered renders to, with the spec.
func withSpec(t testing.TB, policy v1alpha1.DeletionPolicy, text string) []Cluster {
	t.Helper()
	clusters := rendered(t, "shop", text)
	spec := &v1alpha1.ValkeyCluster{}
	spec.Namespace, spec.Name, spec.Spec.DeletionPolicy = "shop", "cache", policy
	spec.Spec.Jobs, spec.Spec.Topology = v1alpha1.JobsRendered, v1alpha1.TopologyStandalone
	spec.Default()
	for i := range clusters {
		clusters[i].Spec = spec
	}
	return clusters
}

const alone = "{topology: Standalone, jobs: Rendered, resources: {limits: {memory: 1Gi}}}"

// TestAJobThatIsReplacedGoes: the new one has another name, and the inventory knows
// the old one.
func TestAJobThatIsReplacedGoes(t *testing.T) {
	r := newFake(t)
	first := rendered(t, "shop", clusterSpec(alone))
	if len(first) != 1 || !first[0].Complete || first[0].spec() != nil {
		t.Fatalf("%v", first)
	}
	r.apply(clusterSpec(alone))
	results := r.apply(clusterSpec("{topology: Standalone, jobs: Rendered, resources: {limits: {memory: 1Gi}}, auth: {enabled: false}}"))
	var created, deleted, others []string
	for _, c := range results[0].Changes {
		switch {
		case c.Kind == "Job" && c.Action == Created:
			created = append(created, c.Name)
		case c.Kind == "Job" && c.Action == Deleted:
			deleted = append(deleted, c.Name)
		case c.Action != Unchanged:
			others = append(others, c.String())
		}
	}
	if len(created) != 1 || len(deleted) != 1 || created[0] == deleted[0] || strings.Join(others, " ") != "Role/shop/cache-secrets" {
		t.Errorf("created %v, deleted %v, others %v", created, deleted, others)
	}
}

// TestAShardOfRenderedJobsIsHeld: no status says that it is empty, and the annotation
// that keeps other tools away does not make the inventory forget it.
func TestAShardOfRenderedJobsIsHeld(t *testing.T) {
	r := newFake(t)
	r.apply(clusterSpec(alone))
	clusters := withSpec(t, "", clusterSpec(alone))
	set := find(t, clusters[0], "StatefulSet", "cache-0")
	for i, o := range clusters[0].Objects {
		if o == set {
			clusters[0].Objects = append(clusters[0].Objects[:i:i], clusters[0].Objects[i+1:]...)
			break
		}
	}
	for policy, want := range map[v1alpha1.DeletionPolicy]Action{"": Held, v1alpha1.DeletionAllow: Deleted} {
		clusters[0].Spec.Spec.DeletionPolicy = policy
		p, err := r.applier(Options{}).Plan(t.Context(), clusters)
		if err != nil {
			t.Fatal(err)
		}
		changes := p.Results()[0].Changes
		if last := changes[len(changes)-1]; last.Kind != "StatefulSet" || last.Action != want || want == Held && !strings.Contains(last.Message, "nobody moves it away") {
			t.Errorf("policy %q: %v: %s", policy, last, last.Message)
		}
	}
}

func TestRenderedJobsAreDeletedWithTheirSpec(t *testing.T) {
	r := newFake(t)
	r.apply(clusterSpec(alone))
	a := r.applier(Options{})
	if _, err := a.Delete(t.Context(), Cluster{Namespace: "shop", Name: "cache", Complete: true}, DeleteOptions{}); !IsRefusal(err) {
		t.Errorf("by name: %v", err)
	}
	if _, err := a.Delete(t.Context(), withSpec(t, v1alpha1.DeletionGuard, clusterSpec(alone))[0], DeleteOptions{}); !IsRefusal(err) || !strings.Contains(err.Error(), "its spec guards it") {
		t.Errorf("guarded: %v", err)
	}
	result, err := a.Delete(t.Context(), withSpec(t, "", clusterSpec(alone))[0], DeleteOptions{})
	if err != nil || r.exists("apps/v1", "StatefulSet", "cache-0") || r.exists("v1", "ConfigMap", "cache-inventory") {
		t.Errorf("%v, %v", result, err)
	}
}

// TestAJobThatWasDoneBeforeThePodsIsNoted: it forms no cluster of pods that come later.
func TestAJobThatWasDoneBeforeThePodsIsNoted(t *testing.T) {
	r := newFake(t)
	spec := clusterSpec("{jobs: Rendered, resources: {limits: {memory: 1Gi}}}")
	r.apply(spec)
	for _, id := range rendered(t, "shop", spec)[0].ids() {
		if id.Kind != "Job" {
			continue
		}
		o := r.get(id.APIVersion, id.Kind, id.Name)
		o.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Complete", "status": "True"}}}
		if err := r.client.Status().Update(t.Context(), o, client.FieldOwner("controller")); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{0, 1} {
		d := &diary{}
		if _, err := r.try(r.applier(d.options()), spec); err != nil {
			t.Fatal(err)
		}
		if len(d.notes) != want {
			t.Errorf("%q", d.notes)
		}
		for _, note := range d.notes {
			if !strings.HasPrefix(note, "Job/shop/cache-converge-") || !strings.Contains(note, ": it completed before StatefulSet/shop/cache-1 was made") {
				t.Error(note)
			}
		}
		if err := r.client.Delete(t.Context(), r.get("apps/v1", "StatefulSet", "cache-1")); err != nil {
			t.Fatal(err)
		}
	}
}

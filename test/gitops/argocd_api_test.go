// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/internal/apitest"
)

func TestAPIServerArgoCDAppliesTwentyShards(t *testing.T) {
	a := newArgo(newRig(t))
	a.guarded()
	a.nodes()
	a.noFailure(a.targets(durable(20, "2Gi", "")))
	a.until("all pods made", func() bool { return a.pods() == 40 })
	if diff := cmp.Diff(sized(20, "2Gi"), a.claims()); diff != "" {
		t.Errorf("claims (-want +got)\n%s", diff)
	}
	a.bound(40)
	a.noFailure(a.targets(durable(20, "3Gi", "")))
	if diff := cmp.Diff(sized(20, "3Gi"), a.claims()); diff != "" {
		t.Errorf("grown claims (-want +got)\n%s", diff)
	}
}

// TestAPIServerArgoCDPrunesAShardOnceItIsDrained: the commit is applied although its
// pruning is denied, each sync tries again, and the claims stay.
func TestAPIServerArgoCDPrunesAShardOnceItIsDrained(t *testing.T) {
	a := newArgo(newRig(t))
	a.guarded()
	a.nodes()
	a.noFailure(a.targets(durable(4, "2Gi", "")))
	less := durable(3, "2Gi", "")
	for range 2 {
		failed, _ := a.sync(a.targets(less))
		if len(failed) != 1 || !strings.Contains(failed["StatefulSet/cache-3"], "valkey-render-guard-") {
			t.Fatalf("failed: %v", failed)
		}
		if got := a.field(a.cluster(), "spec", "shards"); got != int64(3) {
			t.Errorf("spec.shards %v", got)
		}
	}
	a.drained("3")
	a.noFailure(a.targets(less))
	a.until("pruned", func() bool { return !a.exists(a.statefulSet(3)) })
	// Until now Argo CD took the claims for a part of the StatefulSet.
	var kept []string
	a.until("claims looked at", func() bool {
		kept = a.noFailure(a.targets(less))
		return len(kept) > 0
	})
	if diff := cmp.Diff([]string{"PersistentVolumeClaim/data-cache-3-0", "PersistentVolumeClaim/data-cache-3-1"}, kept); diff != "" {
		t.Errorf("kept (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(sized(4, "2Gi"), a.claims()); diff != "" {
		t.Errorf("claims (-want +got)\n%s", diff)
	}
}

// TestAPIServerArgoCDHoldsTheCommitBackWithoutPruneLast is what the annotation is for.
func TestAPIServerArgoCDHoldsTheCommitBackWithoutPruneLast(t *testing.T) {
	a := newArgo(newRig(t))
	a.guarded()
	a.nodes()
	a.noFailure(withoutPruneLast(a.targets(durable(4, "2Gi", ""))))
	failed, _ := a.sync(withoutPruneLast(a.targets(durable(3, "2Gi", ""))))
	if _, denied := failed["StatefulSet/cache-3"]; !denied {
		t.Errorf("failed: %v", failed)
	}
	if got := a.field(a.cluster(), "spec", "shards"); got != int64(4) {
		t.Errorf("spec.shards %v: the annotation is not needed", got)
	}
}

// TestAPIServerArgoCDFindsNoDifference: no `ignoreDifferences` is needed for anything
// that is rendered, whichever way is chosen to compare.
func TestAPIServerArgoCDFindsNoDifference(t *testing.T) {
	files, err := filepath.Glob("../../examples/*/cluster.yaml")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	ways := comparisons(newRig(t))
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			r := newRig(t)
			if t.Name() == "TestAPIServerArgoCDFindsNoDifference/ipv6" && !apitest.ServesIPv6(t) {
				t.Log("the server has one IP family")
				return
			}
			text, err := os.ReadFile(file)
			r.must(err)
			targets := r.rendered(string(text))
			for _, o := range targets {
				r.must(r.client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner(controller), client.ForceOwnership))
			}
			for _, way := range slices.Sorted(maps.Keys(ways)) {
				for _, o := range r.different(targets, ways[way]) {
					t.Errorf("%s: %s", way, o)
				}
			}
			changed := slices.IndexFunc(targets, func(o *unstructured.Unstructured) bool { return o.GetKind() == "StatefulSet" })
			r.must(unstructured.SetNestedField(targets[changed].Object, int64(7), "spec", "replicas"))
			for _, way := range slices.Sorted(maps.Keys(ways)) {
				if got := r.different(targets[changed:changed+1], ways[way]); len(got) != 1 {
					t.Errorf("%s finds no difference where there is one", way)
				}
			}
		})
	}
}

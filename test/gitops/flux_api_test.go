// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/ssa"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// flux applies and prunes with the calls and options of kustomize-controller.
type flux struct {
	*rig
	manager *ssa.ResourceManager
	// inventory is what the last sync applied.
	inventory []*unstructured.Unstructured
}

func newFlux(r *rig) *flux {
	return &flux{rig: r, manager: ssa.NewResourceManager(r.client, nil, ssa.Owner{
		Field: "kustomize-controller",
		Group: "kustomize.toolkit.fluxcd.io",
	})}
}

// apply applies in the order of the library, and returns what changed.
func (f *flux) apply(spec string) ([]string, error) {
	f.Helper()
	objects := f.rendered(spec)
	f.manager.SetOwnerLabels(objects, "cache", "flux-system")
	options := ssa.DefaultApplyOptions()
	options.ExclusionSelector = map[string]string{"kustomize.toolkit.fluxcd.io/reconcile": "disabled"}
	set, err := f.manager.ApplyAllStaged(f.Context(), objects, options)
	if err != nil {
		return nil, err
	}
	var changed []string
	for _, e := range set.Entries {
		if e.Action != ssa.UnchangedAction {
			changed = append(changed, e.String())
		}
	}
	f.inventory = append(f.inventory, objects...)
	return changed, nil
}

// prune deletes what is no longer rendered. What cannot be deleted stays in the
// inventory, as in kustomize-controller since 1.9.0.
func (f *flux) prune(spec string) error {
	f.Helper()
	keep := map[string]bool{}
	for _, o := range f.rendered(spec) {
		keep[o.GetKind()+"/"+o.GetName()] = true
	}
	var stale []*unstructured.Unstructured
	seen := map[string]bool{}
	for _, o := range f.inventory {
		id := o.GetKind() + "/" + o.GetName()
		if !keep[id] && !seen[id] {
			seen[id] = true
			stale = append(stale, o)
		}
	}
	options := ssa.DefaultDeleteOptions()
	options.Inclusions = f.manager.GetOwnerLabels("cache", "flux-system")
	options.Exclusions = map[string]string{
		"kustomize.toolkit.fluxcd.io/prune":     "disabled",
		"kustomize.toolkit.fluxcd.io/reconcile": "disabled",
	}
	_, err := f.manager.DeleteAll(f.Context(), stale, options)
	return err
}

// setsFirst applies the StatefulSets alone, as the library does, and waits until
// their controller has tried to make claims.
func (f *flux) setsFirst(spec string, tried func() bool) {
	f.Helper()
	for _, o := range f.rendered(spec) {
		if o.GetKind() == "StatefulSet" {
			_, err := f.manager.Apply(f.Context(), o, ssa.DefaultApplyOptions())
			f.must(err)
		}
	}
	f.until("claims of templates tried", tried)
}

// TestAPIServerFluxLosesTheRaceWithoutTheGuard is what the guard is for: claims of the
// nominal size are there before the rendered ones, and no apply ever succeeds.
func TestAPIServerFluxLosesTheRaceWithoutTheGuard(t *testing.T) {
	f := newFlux(newRig(t))
	spec := durable(2, "2Gi", "")
	f.setsFirst(spec, func() bool { return len(f.claims()) == 4 })
	if diff := cmp.Diff(sized(2, "1Gi"), f.claims()); diff != "" {
		t.Errorf("claims of templates (-want +got)\n%s", diff)
	}
	_, err := f.apply(spec)
	if err == nil || !strings.Contains(err.Error(), "spec is immutable after creation") {
		t.Errorf("apply: %v", err)
	}
}

// TestAPIServerFluxWinsWithTheGuard: the same start, and then all of it.
func TestAPIServerFluxWinsWithTheGuard(t *testing.T) {
	f := newFlux(newRig(t))
	f.guarded()
	spec := durable(2, "2Gi", "")
	f.setsFirst(spec, func() bool { return f.events("FailedCreate", "is not the rendered one") > 0 })
	if got := f.claims(); len(got) != 0 {
		t.Errorf("claims: %v", got)
	}
	if _, err := f.apply(spec); err != nil {
		t.Fatal(err)
	}
	f.until("all pods made", func() bool { return f.pods() == 4 })
	if diff := cmp.Diff(sized(2, "2Gi"), f.claims()); diff != "" {
		t.Errorf("claims (-want +got)\n%s", diff)
	}
}

func TestAPIServerFluxAppliesTwentyShards(t *testing.T) {
	f := newFlux(newRig(t))
	f.guarded()
	f.nodes()
	if _, err := f.apply(durable(20, "2Gi", "")); err != nil {
		t.Fatal(err)
	}
	f.until("all pods made", func() bool { return f.pods() == 40 })
	if diff := cmp.Diff(sized(20, "2Gi"), f.claims()); diff != "" {
		t.Errorf("claims (-want +got)\n%s", diff)
	}
	if changed, err := f.apply(durable(20, "2Gi", "")); err != nil || len(changed) != 0 {
		t.Errorf("the second apply: %v %v", changed, err)
	}
	f.bound(40)
	changed, err := f.apply(durable(20, "3Gi", ""))
	if err != nil || len(changed) != 41 { // the claims, and the ValkeyCluster
		t.Errorf("growth: %d changes, %v", len(changed), err)
	}
	if diff := cmp.Diff(sized(20, "3Gi"), f.claims()); diff != "" {
		t.Errorf("grown claims (-want +got)\n%s", diff)
	}
}

// TestAPIServerFluxPrunesAShardOnceItIsDrained: the commit is applied although its
// pruning is denied, and the claims stay.
func TestAPIServerFluxPrunesAShardOnceItIsDrained(t *testing.T) {
	f := newFlux(newRig(t))
	f.guarded()
	if _, err := f.apply(durable(4, "2Gi", "")); err != nil {
		t.Fatal(err)
	}
	less := durable(3, "2Gi", "")
	for range 2 {
		if _, err := f.apply(less); err != nil {
			t.Fatal(err)
		}
		if err := f.prune(less); err == nil || !strings.Contains(err.Error(), "cache-3") {
			t.Fatalf("pruning: %v", err)
		}
	}
	if got := f.field(f.cluster(), "spec", "shards"); got != int64(3) || !f.exists(f.statefulSet(3)) {
		t.Errorf("spec.shards %v", got)
	}
	f.drained("3")
	f.must(f.prune(less))
	f.until("pruned", func() bool { return !f.exists(f.statefulSet(3)) })
	if diff := cmp.Diff(sized(4, "2Gi"), f.claims()); diff != "" {
		t.Errorf("claims (-want +got)\n%s", diff)
	}
}

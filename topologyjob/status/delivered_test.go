// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

const byGit = cacheSpec + "delivery: GitOps\n"

// stamp gives every object the render hashes of a rendering.
func (w *world) stamp(rendering string) {
	for i := range w.o.Objects {
		w.o.Objects[i].RenderHash = rendering + w.o.Objects[i].Name
	}
	for i := range w.o.StatefulSets {
		w.o.StatefulSets[i].RenderHash = rendering + w.o.StatefulSets[i].Name
	}
}

// applied writes the ValkeyCluster of a rendering, which comes before its other objects.
func (w *world) applied(rendering string) {
	w.o.Rendering.Current, w.o.Rendering.Hash = true, rendering
	w.o.Rendering.Objects = name.ObjectsHash(w.c, func(o name.Object) string { return rendering + o.Name })
}

func delivered(t *testing.T, spec string) *world {
	w := healthy(t, spec)
	w.stamp("1")
	w.applied("1")
	if s := w.settle().Status; s.State != v1alpha1.StateReady || s.RenderHash != "1" {
		t.Fatalf("%s %s: %s, rendering %q", s.State, s.Reason, s.Message, s.RenderHash)
	}
	return w
}

func (w *world) waits(what string) {
	w.t.Helper()
	s := w.settle().Status
	if got := says(s.Conditions, v1alpha1.ConditionReady); s.State != v1alpha1.StateReconciling || got != "False Reconciling" || s.Message != messageAwaited || s.RenderHash != "1" {
		w.t.Errorf("%s: %s: %s, Ready: %s, rendering %q", what, s.State, s.Message, got, s.RenderHash)
	}
}

func (w *world) arrives(what, rendering string) {
	w.t.Helper()
	if s := w.settle().Status; s.State != v1alpha1.StateReady || s.RenderHash != rendering {
		w.t.Errorf("%s: %s %s: %s, rendering %q", what, s.State, s.Reason, s.Message, s.RenderHash)
	}
}

// TestNothingIsReadyBeforeItsObjectsAreApplied: the ValkeyCluster comes first, and everything
// else is well, and old.
func TestNothingIsReadyBeforeItsObjectsAreApplied(t *testing.T) {
	w := delivered(t, byGit)
	w.c.Generation = 2
	w.applied("2")
	w.waits("nothing is there yet")
	w.now = w.now.Add(time.Hour)
	w.waits("an apply that was stopped")
	for i := range w.o.Objects {
		w.o.Objects[i].RenderHash = "2" + w.o.Objects[i].Name
	}
	w.waits("all but the StatefulSets")
	w.stamp("2")
	w.arrives("all", "2")
}

// TestWhatARenderingAddsIsNotMissing while it is applied, and is when it has not come.
func TestWhatARenderingAddsIsNotMissing(t *testing.T) {
	w := delivered(t, byGit)
	four := int32(4)
	w.c.Spec.Shards, w.c.Generation = &four, 2
	w.applied("2")
	w.waits("nothing is there yet")
	w.now = w.now.Add(30 * time.Second)
	w.waits("half a minute later")
	w.now = w.now.Add(time.Hour)
	for range 3 {
		if s := w.settle().Status; says(s.Conditions, v1alpha1.ConditionReady) != "False PodDisruptionBudgetError" || s.RenderHash != "1" {
			t.Errorf("an hour later: %s %s: %s, rendering %q", s.State, s.Reason, s.Message, s.RenderHash)
		}
		w.now = w.now.Add(30 * time.Second)
	}
}

// TestWhatOthersDoToRenderedObjectsIsNotWaitedFor: nobody would end the wait.
func TestWhatOthersDoToRenderedObjectsIsNotWaitedFor(t *testing.T) {
	for called, change := range map[string]func(w *world){
		"an object more": func(w *world) {
			w.o.Objects = append(w.o.Objects, Object{Kind: name.KindConfigMap, Name: "c-inventory", Shard: -1}, Object{Kind: name.KindService, Name: "c-public", RenderHash: "x", Shard: -1})
		},
		"a shard that is yet to go": func(w *world) {
			w.o.Objects = append(w.o.Objects, Object{Kind: name.KindBudget, Name: "c-3", RenderHash: "0c-3", Shard: -1})
		},
		"an object by hand":   func(w *world) { w.o.Objects[0].RenderHash = "" },
		"an older renderer":   func(w *world) { w.o.Rendering.Objects = "" },
		"another renderer":    func(w *world) { w.o.Rendering.Hash = "2" },
		"delivery by itself":  func(w *world) { w.o.Rendering.Objects, w.c.Spec.Delivery = "", v1alpha1.DeliveryInCluster },
		"nothing":             func(*world) {},
		"another generation":  func(w *world) { w.c.Generation = 2 },
		"claims without hash": func(*world) {},
	} {
		t.Run(called, func(t *testing.T) {
			spec := byGit
			if strings.HasPrefix(called, "claims") {
				spec = durableSpec + "delivery: GitOps\n"
			}
			w := delivered(t, spec)
			change(w)
			w.arrives(called, w.o.Rendering.Hash)
		})
	}
}

// TestADeletedObjectIsNamed and not waited for, once all of the rendering were there.
func TestADeletedObjectIsNamed(t *testing.T) {
	for object, reason := range map[[2]string]string{
		{name.KindService, "c"}:        v1alpha1.ReasonServiceError,
		{name.KindConfigMap, "c-live"}: v1alpha1.ReasonConfigMapError,
		{name.KindBudget, "c-1"}:       v1alpha1.ReasonPodDisruptionBudgetError,
		{name.KindStatefulSet, "c-1"}:  v1alpha1.ReasonMissingShards,
	} {
		w := delivered(t, byGit)
		w.drop(object[0], object[1])
		if s := w.settle().Status; says(s.Conditions, v1alpha1.ConditionReady) != "False "+reason {
			t.Errorf("%v: %s %s: %s", object, s.State, s.Reason, s.Message)
		}
	}
}

// TestAClusterIsScaledByHandOnlyAfterItWasApplied: the StatefulSets follow the ValkeyCluster.
func TestAClusterIsScaledByHandOnlyAfterItWasApplied(t *testing.T) {
	w := delivered(t, byGit)
	two := int32(2)
	w.c.Spec.ReplicasPerShard, w.c.Generation = &two, 2
	w.applied("2")
	w.waits("the StatefulSets ask for as many as before")
	w.stamp("2")
	if s := w.settle().Status; s.State != v1alpha1.StateDegraded || s.Reason != v1alpha1.ReasonScaledByHand {
		t.Errorf("%s %s: %s", s.State, s.Reason, s.Message)
	}
}

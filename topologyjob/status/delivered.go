// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// applyGrace is how long it may take from when the ValkeyCluster of a new rendering was seen
// until all of its objects are there. What is missing then is told by its kind.
const applyGrace = time.Minute

// messageAwaited is what is said while a rendering is applied: the ValkeyCluster comes first.
const messageAwaited = "Waiting for the rendered objects to be applied"

type objectKey struct{ kind, name string }

// there are the objects that exist, with their render hashes.
func (x *computation) there() map[objectKey]string {
	there := map[objectKey]string{}
	for _, o := range x.o.Objects {
		there[objectKey{o.Kind, o.Name}] = o.RenderHash
	}
	for n, s := range x.sets {
		there[objectKey{name.KindStatefulSet, n}] = s.RenderHash
	}
	for _, c := range x.o.Claims {
		there[objectKey{name.KindClaim, c.Name}] = ""
	}
	return there
}

// missing are the objects that are to be there and are not, by kind. Patches may have taken
// some away; those are not known here, so a missing one is said and nothing else is done
// about it.
func (x *computation) missing() map[string][]string {
	there := x.there()
	missing := map[string][]string{}
	for _, o := range name.Rendered(x.c) {
		if _, exists := there[objectKey{o.Kind, o.Name}]; !exists {
			missing[o.Kind] = append(missing[o.Kind], o.Kind+" "+o.Name)
		}
	}
	return missing
}

// mixed is whether all objects are there, and some are of another rendering than the
// ValkeyCluster: it is being applied, or somebody has applied a part of it. One without a
// hash was made by somebody else, and then nothing can be told.
func (x *computation) mixed() bool {
	if x.o.Rendering.Objects == "" || len(x.missing()) > 0 {
		return false
	}
	there, known := x.there(), true
	got := name.ObjectsHash(x.c, func(o name.Object) string {
		hash := there[objectKey{o.Kind, o.Name}]
		known = known && hash != ""
		return hash
	})
	return known && got != x.o.Rendering.Objects
}

// arrived is whether everything is there that was rendered with the ValkeyCluster.
func (x *computation) arrived() bool { return len(x.missing()) == 0 && !x.mixed() }

// awaiting: the ValkeyCluster is of a rendering of which not everything was seen yet. What is
// missing later was deleted, and what says so names it.
func (x *computation) awaiting() *finding {
	fresh := x.o.Rendering.Objects != "" && x.o.Rendering.Hash != x.before.RenderHash
	late := fresh && len(x.missing()) > 0 && !x.after(x.unready(), applyGrace)
	switch {
	case !late && !x.mixed():
		return nil
	case !x.initialized && len(x.sets) == 0:
		return &finding{v1alpha1.ReasonMissingShards, v1alpha1.MessageMissingShards}
	}
	return &finding{v1alpha1.ReasonReconciling, messageAwaited}
}

// unready is since when the cluster is not ready, or since when something is in progress if
// that is later; now when this generation is seen for the first time.
func (x *computation) unready() time.Time {
	ready := find(x.before.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status != "False" || x.before.ObservedGeneration != x.c.Generation {
		return x.now.Time
	}
	since := ready.LastTransitionTime.Time
	if p := find(x.before.Conditions, v1alpha1.ConditionProgressing); p != nil && p.Status == "True" && p.LastTransitionTime.After(since) {
		since = p.LastTransitionTime.Time
	}
	return since
}

// awaited is whether what is missing, or old, may be about to be applied: for the first
// seconds, and until the cluster is formed for the first time.
func (x *computation) awaited() bool {
	switch {
	case x.awaiting() != nil:
		return true
	case len(x.missing()) == 0:
		return false
	case !x.initialized:
		return true
	}
	since := x.now.Time
	if old := find(x.before.Conditions, v1alpha1.ConditionReady); old != nil && old.Status == "False" {
		since = old.LastTransitionTime.Time
	}
	return !x.after(since, objectGrace)
}

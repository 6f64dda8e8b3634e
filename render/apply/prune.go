// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/order"
)

// guard is what decides whether shards may go.
type guard struct {
	cluster Cluster
	// found says that there is a ValkeyCluster.
	found   bool
	policy  string
	profile string
	drained map[string]bool
	// shards are how many the ValkeyCluster has, and rendered how many are rendered.
	shards, rendered int32
}

// readGuard reads the live ValkeyCluster. In a dry run, spec is what it is about
// to become; nil means that it stays.
func (a *Applier) readGuard(ctx context.Context, c Cluster, spec *unstructured.Unstructured) (guard, error) {
	g := guard{cluster: c, drained: map[string]bool{}}
	live := c.clusterID().object()
	err := a.client.Get(ctx, client.ObjectKeyFromObject(live), live)
	switch {
	case client.IgnoreNotFound(err) != nil && !isNotInstalled(err):
		return g, &ObjectError{ID: c.clusterID(), Verb: "read", Err: err}
	case err == nil:
		g.found = true
		shards, _, _ := unstructured.NestedSlice(live.Object, "status", "drainedShards")
		for _, s := range shards {
			g.drained[fmt.Sprint(s)] = true
		}
	}
	switch {
	case spec != nil:
	case g.found || c.Spec == nil:
		spec = live
	default:
		g.policy, g.profile = string(c.Spec.Spec.DeletionPolicy), string(c.Spec.Spec.Profile)
		return g, nil
	}
	g.policy, _, _ = unstructured.NestedString(spec.Object, "spec", "deletionPolicy")
	g.profile, _, _ = unstructured.NestedString(spec.Object, "spec", "profile")
	g.shards = shardCount(spec)
	g.rendered = g.shards
	if own := c.spec(); own != nil {
		g.rendered = shardCount(own)
	}
	return g, nil
}

// shardCount is how many shards a ValkeyCluster asks for; 0 where that is not known.
func shardCount(spec *unstructured.Unstructured) int32 {
	var c v1alpha1.ValkeyCluster
	fields, found, _ := unstructured.NestedMap(spec.Object, "spec")
	if !found || runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"spec": fields}, &c) != nil {
		return 0
	}
	return c.ShardCount()
}

// open is the guard of a cluster that is deleted: nothing of it is guarded any more.
func (g guard) open() guard {
	g.policy, g.shards, g.rendered = string(v1alpha1.DeletionAllow), 0, 0
	return g
}

// holds says why an object must stay for now, "" if it need not. What belongs to a
// shard goes when the shard has no data.
func (g guard) holds(live *unstructured.Unstructured) string {
	shard, belongs := shardOf(live)
	index, _ := strconv.ParseInt(shard, 10, 32)
	switch {
	case !belongs:
		return ""
	case index >= int64(g.rendered) && index < int64(g.shards):
		return fmt.Sprintf("%s has shard %s again: another apply is at work", g.cluster, shard)
	case index < int64(g.rendered) && live.GetKind() != "StatefulSet":
		// The shard stays, and no longer has such an object.
		return ""
	case g.policy == string(v1alpha1.DeletionAllow), g.drained[shard]:
		return ""
	case !g.found && g.cluster.Spec != nil:
		return fmt.Sprintf("shard %s may have data, and nobody moves it away: bring the shard back, or set spec.deletionPolicy to Allow", shard)
	case !g.found:
		return fmt.Sprintf("there is no %s to say that shard %s is drained", g.cluster, shard)
	}
	return fmt.Sprintf("shard %s may have data: it stays until status.drainedShards of %s lists it, or spec.deletionPolicy is Allow", shard, g.cluster)
}

// shardOf is the shard of an object, by the selector if it has one: labels can be
// edited, a StatefulSet's selector cannot.
func shardOf(live *unstructured.Unstructured) (string, bool) {
	if live.GetKind() == "StatefulSet" {
		shard, found, _ := unstructured.NestedString(live.Object, "spec", "selector", "matchLabels", name.LabelShard)
		return shard, found
	}
	shard, found := live.GetLabels()[name.LabelShard]
	if _, err := strconv.Atoi(shard); err != nil {
		return "", false
	}
	return shard, found
}

// keepers are annotations by which a person or the renderer says that an object
// outlives its rendering.
func keepers() map[string]string {
	return map[string]string{
		"kustomize.toolkit.fluxcd.io/prune": "disabled",
		"helm.sh/resource-policy":           "keep",
	}
}

// keeps says why an object stays for good, "" if it need not.
func keeps(c Cluster, live *unstructured.Unstructured) string {
	labels := live.GetLabels()
	if live.GetKind() == "PersistentVolumeClaim" {
		if ownedBy(live, "StatefulSet") {
			return "Kubernetes deletes it with its StatefulSet: spec.storage.reclaimPolicy is Delete"
		}
		return "claims are never deleted; kubectl delete is how"
	}
	if order.StageOf(live) == order.Other {
		// Whoever may edit an inventory would else delete by it what they may not: a
		// Secret of the reconciler has our labels too.
		return "objects of its kind are never rendered"
	}
	if labels[name.LabelManagedBy] != name.PartOf || labels[name.LabelCluster] != c.Name {
		return "its labels no longer say that it is an object of " + c.String()
	}
	if _, isShard := shardOf(live); isShard && live.GetKind() == "StatefulSet" {
		// Whether there is data in it decides, and it stays in the inventory.
		return ""
	}
	for key, value := range keepers() {
		if live.GetAnnotations()[key] == value {
			return "its annotation " + key + " asks for it"
		}
	}
	return ""
}

func ownedBy(o *unstructured.Unstructured, kind string) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.Kind == kind })
}

// judge says what is to become of an object that is no longer rendered. The
// action is empty when it is gone already.
func (a *Applier) judge(ctx context.Context, g guard, id ID) (Change, error) {
	c := Change{ID: id}
	live := id.object()
	err := a.client.Get(ctx, client.ObjectKeyFromObject(live), live)
	switch {
	case isNotInstalled(err), err != nil && client.IgnoreNotFound(err) == nil:
		return c, nil
	case err != nil:
		return c, &ObjectError{ID: id, Verb: "read", Err: err}
	}
	c.Live = live
	if why := keeps(g.cluster, live); why != "" {
		c.Action, c.Message = Kept, why
		return c, nil
	}
	if why := g.holds(live); why != "" {
		c.Action, c.Message = Held, why
		return c, nil
	}
	c.Action = Deleted
	if live.GetDeletionTimestamp() != nil {
		c.Message = "is being deleted"
	}
	return c, nil
}

// judgeAll judges what is no longer rendered, last applied first.
func (a *Applier) judgeAll(ctx context.Context, u *unit, spec *unstructured.Unstructured) ([]Change, guard, error) {
	if len(u.stale) == 0 {
		return nil, guard{}, nil
	}
	g, err := a.readGuard(ctx, u.cluster, spec)
	if err != nil {
		return nil, g, err
	}
	var out []Change
	for _, id := range slices.Backward(u.stale) {
		c, err := a.judge(ctx, g, id)
		if err != nil {
			return out, g, err
		}
		if c.Action != "" {
			out = append(out, c)
		}
	}
	return out, g, nil
}

// remove deletes what judge has said is to go: this very object, and nothing that
// took its name since. One that then stays, because something else is to be done
// first, has its live state in the change.
func (a *Applier) remove(ctx context.Context, c Change) Change {
	if c.Action != Deleted || c.Live.GetDeletionTimestamp() != nil {
		return c
	}
	if err := a.before("delete " + c.String()); err != nil {
		return failed(c.ID, err)
	}
	uid := c.Live.GetUID()
	err := a.deletePatiently(ctx, c.Live, uid)
	if client.IgnoreNotFound(err) != nil {
		return failedTo("delete", c.ID, err)
	}
	left := c.object()
	err = a.client.Get(ctx, client.ObjectKeyFromObject(left), left)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return failedTo("delete", c.ID, fmt.Errorf("it may still be there: %w", err))
	case err == nil && left.GetUID() == uid:
		c.Live, c.Message = left, "is being deleted"
	}
	return c
}

// A delete that the guard denies is tried again, within about two seconds: the API
// server hears a moment late of a ValkeyCluster that this run has deleted or set to
// Allow.
const (
	guardTries = 10
	guardPause = 200 * time.Millisecond
)

// deletePatiently deletes an object of this UID.
func (a *Applier) deletePatiently(ctx context.Context, live *unstructured.Unstructured, uid types.UID) error {
	for try := 1; ; try++ {
		err := a.client.Delete(ctx, live.DeepCopy(),
			client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &uid})
		if try == guardTries || !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "'"+name.GuardPrefix) {
			return err
		}
		if err := pause(ctx, a.options.Clock, guardPause); err != nil {
			return err
		}
	}
}

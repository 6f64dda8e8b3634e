// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// guard is what decides whether shards may go.
type guard struct {
	cluster Cluster
	// found says that there is a ValkeyCluster.
	found   bool
	policy  string
	profile string
	drained map[string]bool
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
	if spec == nil {
		spec = live
	}
	g.policy, _, _ = unstructured.NestedString(spec.Object, "spec", "deletionPolicy")
	g.profile, _, _ = unstructured.NestedString(spec.Object, "spec", "profile")
	return g, nil
}

// holds says why an object must stay for now, "" if it need not. What belongs to a
// shard goes when the shard has no data.
func (g guard) holds(live *unstructured.Unstructured) string {
	shard, belongs := shardOf(live)
	switch {
	case !belongs, g.policy == string(v1alpha1.DeletionAllow), g.drained[shard]:
		return ""
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
		return "claims are never deleted; kubectl delete is how"
	}
	if labels[name.LabelManagedBy] != name.PartOf || labels[name.LabelCluster] != c.Name {
		return "its labels no longer say that it is an object of " + c.String()
	}
	for key, value := range keepers() {
		if live.GetAnnotations()[key] == value {
			return "its annotation " + key + " asks for it"
		}
	}
	return ""
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
func (a *Applier) judgeAll(ctx context.Context, u *unit, spec *unstructured.Unstructured) ([]Change, error) {
	if len(u.stale) == 0 {
		return nil, nil
	}
	g, err := a.readGuard(ctx, u.cluster, spec)
	if err != nil {
		return nil, err
	}
	var out []Change
	for _, id := range slices.Backward(u.stale) {
		c, err := a.judge(ctx, g, id)
		if err != nil {
			return out, err
		}
		if c.Action != "" {
			out = append(out, c)
		}
	}
	return out, nil
}

// remove deletes what judge has said is to go: this very object, and nothing that
// took its name since.
func (a *Applier) remove(ctx context.Context, c Change) Change {
	if c.Action != Deleted || c.Live.GetDeletionTimestamp() != nil {
		return c
	}
	if err := a.before("delete " + c.String()); err != nil {
		return failed(c.ID, err)
	}
	uid := c.Live.GetUID()
	err := a.client.Delete(ctx, c.Live.DeepCopy(),
		client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &uid})
	if client.IgnoreNotFound(err) != nil {
		f := failed(c.ID, err)
		f.err = &ObjectError{ID: c.ID, Verb: "delete", Err: err}
		return f
	}
	return c
}

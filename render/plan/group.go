// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/order"
)

// pair is an object before and after; one of both is nil when it is new or gone.
type pair struct {
	before, after *unstructured.Unstructured
}

// either is the object as it is, or was.
func (p pair) either() *unstructured.Unstructured {
	if p.after != nil {
		return p.after
	}
	return p.before
}

func (p pair) kind() string { return p.either().GetKind() }
func (p pair) name() string { return p.either().GetName() }
func (p pair) added() bool  { return p.before == nil }
func (p pair) gone() bool   { return p.after == nil }

// changed reports whether it is there on both sides and differs.
func (p pair) changed() bool { return p.before != nil && p.after != nil && !p.equal() }

// equal tells of two objects that are both there whether they mean the same.
func (p pair) equal() bool {
	return p.sameContent() && reflect.DeepEqual(metadata(p.before), metadata(p.after))
}

// sameContent compares the top-level fields except metadata and status.
func (p pair) sameContent() bool {
	without := func(o *unstructured.Unstructured) map[string]any {
		out := make(map[string]any, len(o.Object))
		for key, value := range o.Object {
			if key != "metadata" && key != "status" {
				out[key] = value
			}
		}
		return out
	}
	return reflect.DeepEqual(without(p.before), without(p.after))
}

// metadata is an object's without what follows from the rest: the render hash.
func metadata(o *unstructured.Unstructured) map[string]any {
	meta, _ := o.Object["metadata"].(map[string]any)
	out := make(map[string]any, len(meta))
	for key, value := range meta {
		annotations, ok := value.(map[string]any)
		if key != "annotations" || !ok {
			out[key] = value
			continue
		}
		kept := make(map[string]any, len(annotations))
		for k, v := range annotations {
			if !slices.Contains(v1alpha1.HashAnnotations(), k) {
				kept[k] = v
			}
		}
		if len(kept) > 0 {
			out[key] = kept
		}
	}
	return out
}

// shard is the index on the label of what belongs to one shard.
func (p pair) shard() (int32, bool) {
	index, err := strconv.ParseInt(p.either().GetLabels()[name.LabelShard], 10, 32)
	return int32(index), err == nil
}

// ID is how effects call an object: Kind/namespace/name, or Kind/name without a
// namespace.
func ID(o *unstructured.Unstructured) string {
	if o.GetNamespace() == "" {
		return o.GetKind() + "/" + o.GetName()
	}
	return o.GetKind() + "/" + o.GetNamespace() + "/" + o.GetName()
}

// cluster is everything of one cluster that is there before or after.
type cluster struct {
	namespace, name string
	pairs           []pair
	// existed and exists tell whether anything is there before and after.
	existed, exists bool
	// old and now are the specs with their defaults; nil where there is none.
	old, now *v1alpha1.ValkeyCluster
}

type owner struct{ namespace, name string }

// ownerOf is the cluster that an object belongs to; its name is empty for an
// object that belongs to none.
func ownerOf(o *unstructured.Unstructured) owner {
	own := owner{namespace: o.GetNamespace()}
	switch o.GetKind() {
	case v1alpha1.KindCluster:
		own.name = o.GetName()
	case v1alpha1.KindACL:
		own.name, _, _ = unstructured.NestedString(o.Object, "spec", "clusterRef", "name")
	default:
		own.name = o.GetLabels()[name.LabelCluster]
	}
	return own
}

// group puts the objects of each cluster together, sorted.
func group(before, after []*unstructured.Unstructured) []*cluster {
	pairs := map[string]*pair{}
	var ids []string
	at := func(o *unstructured.Unstructured) *pair {
		id := ID(o)
		if pairs[id] == nil {
			pairs[id] = &pair{}
			ids = append(ids, id)
		}
		return pairs[id]
	}
	for _, o := range before {
		at(o).before = o
	}
	for _, o := range after {
		at(o).after = o
	}
	slices.SortFunc(ids, order.Natural)
	clusters := map[owner]*cluster{}
	var all []*cluster
	for _, id := range ids {
		p := *pairs[id]
		key := ownerOf(p.either())
		c := clusters[key]
		if c == nil {
			c = &cluster{namespace: key.namespace, name: key.name}
			clusters[key] = c
			all = append(all, c)
		}
		c.existed = c.existed || p.before != nil
		c.exists = c.exists || p.after != nil
		if p.kind() == v1alpha1.KindCluster {
			c.old, c.now = spec(p.before), spec(p.after)
		}
		c.pairs = append(c.pairs, p)
	}
	slices.SortFunc(all, func(a, b *cluster) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), order.Natural(a.name, b.name))
	})
	return all
}

func (c *cluster) title() string {
	if c.namespace == "" || c.name == "" {
		return c.name
	}
	return c.namespace + "/" + c.name
}

// effect is one on this cluster, with what it is the effect of.
func (c *cluster) effect(action Action, message string, from ...pair) Effect {
	e := Effect{Action: action, Cluster: c.title(), Message: message}
	for _, p := range from {
		e.Objects = append(e.Objects, ID(p.either()))
	}
	return e
}

// of are the pairs of a kind.
func (c *cluster) of(kind string) []pair {
	var out []pair
	for _, p := range c.pairs {
		if p.kind() == kind {
			out = append(out, p)
		}
	}
	return out
}

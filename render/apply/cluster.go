// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/order"
)

// Cluster is what was rendered for one ValkeyCluster.
type Cluster struct {
	// Namespace and Name are the ValkeyCluster's.
	Namespace, Name string
	// Objects in the order in which they are applied.
	Objects []*unstructured.Unstructured
	// Complete says that Objects are all there should be. Without it, as with a
	// ValkeyACL whose cluster is rendered elsewhere, nothing is recorded or pruned.
	Complete bool
	// Spec is the ValkeyCluster with its defaults, where Objects do not hold it: with
	// jobs: Rendered. Without it nothing of a shard is ever deleted.
	Spec *v1alpha1.ValkeyCluster
}

// String is the cluster as messages name it.
func (c Cluster) String() string { return v1alpha1.KindCluster + "/" + c.Namespace + "/" + c.Name }

// Group sorts rendered objects by the cluster they belong to, which their label
// names. A group with a ValkeyCluster or, with jobs: Rendered, its StatefulSets is
// complete.
func Group(objects []*unstructured.Unstructured) ([]Cluster, error) {
	type key struct{ namespace, name string }
	at := map[key]int{}
	seen := map[string]bool{}
	var out []Cluster
	var problems []error
	for _, o := range objects {
		k := key{o.GetNamespace(), o.GetLabels()[name.LabelCluster]}
		switch {
		case k.namespace == "":
			problems = append(problems, fmt.Errorf("%s/%s: has no namespace", o.GetKind(), o.GetName()))
			continue
		case k.name == "":
			problems = append(problems, fmt.Errorf("%s: has no label %s", idOf(o), name.LabelCluster))
			continue
		}
		if seen[idOf(o).key()] {
			problems = append(problems, fmt.Errorf("%s: is given twice", idOf(o)))
			continue
		}
		seen[idOf(o).key()] = true
		i, known := at[k]
		if !known {
			i = len(out)
			at[k] = i
			out = append(out, Cluster{Namespace: k.namespace, Name: k.name})
		}
		out[i].Objects = append(out[i].Objects, o)
		out[i].Complete = out[i].Complete || o.GetKind() == v1alpha1.KindCluster || o.GetKind() == "StatefulSet"
	}
	for _, c := range out {
		order.Sort(c.Objects)
	}
	slices.SortFunc(out, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out, errors.Join(problems...)
}

// clusterID is the ValkeyCluster itself.
func (c Cluster) clusterID() ID {
	return ID{v1alpha1.GroupVersion().String(), v1alpha1.KindCluster, c.Namespace, c.Name}
}

// spec is the rendered ValkeyCluster, nil if there is none.
func (c Cluster) spec() *unstructured.Unstructured {
	for _, o := range c.Objects {
		if o.GetKind() == v1alpha1.KindCluster {
			return o
		}
	}
	return nil
}

func (c Cluster) ids() []ID {
	out := make([]ID, len(c.Objects))
	for i, o := range c.Objects {
		out[i] = idOf(o)
	}
	return out
}

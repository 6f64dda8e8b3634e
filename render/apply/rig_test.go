// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// rig is a server, real or not, and a namespace on it.
type rig struct {
	t         testing.TB
	client    client.Client
	namespace string
	// connect makes a client for an Applier.
	connect func() client.Client
	// kills is how often a scenario with random kills repeats itself.
	kills int
	// controllers says that those of Kubernetes run.
	controllers bool
}

// maker makes rigs: newRig on a real server, newFake without one.
type maker func(testing.TB) *rig

func (r *rig) applier(o Options) *Applier {
	r.t.Helper()
	return New(r.connect(), o)
}

// try applies a spec.
func (r *rig) try(a *Applier, spec string) ([]Result, error) {
	r.t.Helper()
	p, err := a.Plan(r.t.Context(), rendered(r.t, r.namespace, spec))
	if err != nil {
		return p.Results(), err
	}
	return p.Run(r.t.Context())
}

func (r *rig) apply(spec string) []Result {
	r.t.Helper()
	results, err := r.try(r.applier(Options{}), spec)
	if err != nil {
		r.t.Fatal(err)
	}
	return results
}

func (r *rig) get(apiVersion, kind, called string) *unstructured.Unstructured {
	r.t.Helper()
	o := ID{apiVersion, kind, r.namespace, called}.object()
	if err := r.client.Get(r.t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		r.t.Fatal(err)
	}
	return o
}

// change edits an object as somebody does, again when a controller was faster.
func (r *rig) change(manager, apiVersion, kind, called string, edit func(*unstructured.Unstructured)) {
	r.t.Helper()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		o := r.get(apiVersion, kind, called)
		edit(o)
		return r.client.Update(r.t.Context(), o, client.FieldOwner(manager))
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) exists(apiVersion, kind, called string) bool {
	r.t.Helper()
	o := ID{apiVersion, kind, r.namespace, called}.object()
	err := r.client.Get(r.t.Context(), client.ObjectKeyFromObject(o), o)
	if client.IgnoreNotFound(err) != nil {
		r.t.Fatal(err)
	}
	return err == nil && o.GetDeletionTimestamp() == nil
}

// state is every object of a cluster with what says whether it was written.
func (r *rig) state(clusters []Cluster) map[string]string {
	r.t.Helper()
	out := map[string]string{}
	for _, c := range clusters {
		for _, id := range append(c.ids(), inventoryID(c.Namespace, c.Name)) {
			o := r.get(id.APIVersion, id.Kind, id.Name)
			// The status is its controllers' business.
			managed, _, _ := unstructured.NestedSlice(o.Object, "metadata", "managedFields")
			var ours []any
			for _, m := range managed {
				if m.(map[string]any)["manager"] == FieldManager {
					ours = append(ours, m)
				}
			}
			out[id.String()] = fmt.Sprint(o.GetUID(), o.GetGeneration(), ours)
		}
	}
	return out
}

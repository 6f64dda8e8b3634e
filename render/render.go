// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"runtime"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/job"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/render/order"
)

// Options of Build. The zero value is right for most callers.
type Options struct {
	// Workers is how many clusters are composed at the same time; 0 means one for
	// each processor. The result does not depend on it.
	Workers int
	// JobImage is the image of the programs that rendered Jobs run; empty is that of
	// builds that are no release, see render/job.
	JobImage string
}

// Result is what Build made of a set.
type Result struct {
	// Objects in the order in which they are written and applied (render/order).
	// Empty while Findings holds an error.
	Objects []*unstructured.Unstructured
	// Findings are the errors and warnings, sorted.
	Findings finding.List
}

// Build renders every cluster of the set with its ACLs. It changes nothing in the
// set. All violations are reported at once, each with its place in the source; those
// that load.Parse has found in the set are among them, and none is rendered either.
func Build(set load.Set, opts Options) Result {
	effective := withDefaults(set)
	findings := append(set.Unread(), check(effective)...)
	if findings.HasErrors() {
		return Result{Findings: findings.Sorted()}
	}
	units := plan(set, effective, cmp.Or(opts.JobImage, job.Image("")))
	composed := make([]outcome, len(units))
	eachOf(len(units), opts.Workers, func(i int) { composed[i] = units[i].compose() })
	var objects []*unstructured.Unstructured
	for _, o := range composed {
		objects = append(objects, o.objects...)
		findings = append(findings, o.findings...)
	}
	if findings.HasErrors() {
		return Result{Findings: findings.Sorted()}
	}
	order.Sort(objects)
	return Result{Objects: objects, Findings: findings.Sorted()}
}

// withDefaults returns a copy of the set in which every object has its defaults.
func withDefaults(set load.Set) load.Set {
	out := set
	out.Clusters = make([]load.Cluster, len(set.Clusters))
	for i, c := range set.Clusters {
		c.Object = c.Object.DeepCopy()
		c.Object.Default()
		if c.Origin.Object == "" {
			// Made by hand: findings name the object at least.
			c.Origin.Object = identity(v1alpha1.KindCluster, c.Object)
		}
		out.Clusters[i] = c
	}
	out.ACLs = make([]load.ACL, len(set.ACLs))
	for i, a := range set.ACLs {
		a.Object = a.Object.DeepCopy()
		a.Object.Default()
		if a.Origin.Object == "" {
			a.Origin.Object = identity(v1alpha1.KindACL, a.Object)
		}
		out.ACLs[i] = a
	}
	return out
}

// identity is Kind/namespace/name, or Kind/name without a namespace.
func identity(kind string, o metav1.Object) string {
	if o.GetNamespace() == "" {
		return kind + "/" + o.GetName()
	}
	return kind + "/" + o.GetNamespace() + "/" + o.GetName()
}

// eachOf calls do for 0..n-1 from several goroutines and waits for all.
func eachOf(n, workers int, do func(int)) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

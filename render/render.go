// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"runtime"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/advice"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/render/object"
	"github.com/valkey-render/valkey-render/render/order"
	"github.com/valkey-render/valkey-render/render/patch"
)

// Options of Build. The zero value is right for most callers.
type Options struct {
	// Workers is how many clusters are composed at the same time; 0 means one for
	// each processor. The result does not depend on it.
	Workers int
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
// set. All violations are reported at once, each with its place in the source.
func Build(set load.Set, opts Options) Result {
	set = withDefaults(set)
	findings := check(set)
	if findings.HasErrors() {
		return Result{Findings: findings.Sorted()}
	}
	acls := byCluster(set.ACLs)
	composed := make([]outcome, len(set.Clusters))
	eachOf(len(set.Clusters), opts.Workers, func(i int) {
		cluster := set.Clusters[i]
		composed[i] = compose(cluster, acls[keyOf(cluster.Object)])
	})
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

// outcome is what became of one cluster.
type outcome struct {
	objects  []*unstructured.Unstructured
	findings finding.List
}

// compose renders one cluster that is valid and has its defaults.
func compose(cluster load.Cluster, acls []*v1alpha1.ValkeyACL) outcome {
	origin := cluster.Origin.Finding()
	failed := func(err error) outcome {
		return outcome{findings: finding.List{origin.New(finding.Unchecked, "", err.Error())}}
	}
	objects, err := object.Compose(cluster.Object, acls)
	if err != nil {
		return failed(err)
	}
	var findings finding.List
	if patches := cluster.Object.Spec.Patches; len(patches) > 0 {
		// Stamped before as well, so that a patch can add an annotation to any
		// object: the path of a JSON 6902 operation must exist.
		if err := stamp(objects); err != nil {
			return failed(err)
		}
		patched, errs := patch.Apply(objects, patches)
		if len(errs) > 0 {
			return outcome{findings: finding.FromFieldErrors(origin, finding.PatchCode, errs)}
		}
		objects = patched
		findings = advise(origin, advice.Rendered(objects))
	}
	if err := stamp(objects); err != nil {
		return failed(err)
	}
	return outcome{objects: objects, findings: findings}
}

// withDefaults returns a copy of the set in which every object has its defaults.
func withDefaults(set load.Set) load.Set {
	out := set
	out.Clusters = make([]load.Cluster, len(set.Clusters))
	for i, c := range set.Clusters {
		c.Object = c.Object.DeepCopy()
		c.Object.Default()
		out.Clusters[i] = c
	}
	out.ACLs = make([]load.ACL, len(set.ACLs))
	for i, a := range set.ACLs {
		a.Object = a.Object.DeepCopy()
		a.Object.Default()
		out.ACLs[i] = a
	}
	return out
}

// key identifies a cluster in one run.
type key struct{ namespace, name string }

func keyOf(c *v1alpha1.ValkeyCluster) key { return key{c.Namespace, c.Name} }

// byCluster groups ACLs under the cluster they add users to.
func byCluster(acls []load.ACL) map[key][]*v1alpha1.ValkeyACL {
	groups := map[key][]*v1alpha1.ValkeyACL{}
	for _, acl := range acls {
		k := key{acl.Object.Namespace, acl.Object.Spec.ClusterRef.Name}
		groups[k] = append(groups[k], acl.Object)
	}
	return groups
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

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/cache"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/health"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync/common"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/tracing"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/internal/apitest"
)

const (
	// tracking is the annotation by which Argo CD knows the objects of an Application.
	tracking = "argocd.argoproj.io/tracking-id"
	// controller is the field manager of Argo CD.
	controller = "argocd-controller"
)

// argo syncs with the engine of Argo CD.
type argo struct {
	*rig
	cache   cache.ClusterCache
	kubectl *kube.KubectlCmd
}

func newKubectl() *kube.KubectlCmd {
	return &kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}
}

func newArgo(r *rig) *argo {
	r.Helper()
	known := cache.NewClusterCache(apitest.Config(r), cache.SetNamespaces([]string{r.namespace}), cache.SetLogr(logr.Discard()),
		cache.SetPopulateResourceInfoHandler(func(o *unstructured.Unstructured, _ bool) (any, bool) {
			id := o.GetAnnotations()[tracking]
			return id, id != ""
		}))
	r.must(known.EnsureSynced())
	r.Cleanup(func() { known.Invalidate() })
	return &argo{r, known, newKubectl()}
}

// targets are the objects of an Application.
func (a *argo) targets(spec string) []*unstructured.Unstructured {
	a.Helper()
	out := a.rendered(spec)
	for _, o := range out {
		annotations := o.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[tracking] = "shop:" + o.GetKind() + "/" + o.GetName()
		o.SetAnnotations(annotations)
	}
	return out
}

// sync is one operation, with pruning, as `automated: {prune: true}` and
// ServerSideApply=true start it: like Argo CD's controller it looks anew before each
// step. It returns what was not synced, and what was kept.
func (a *argo) sync(targets []*unstructured.Unstructured) (failed map[string]string, kept []string) {
	a.Helper()
	phase, message, results, start := common.OperationRunning, "", []common.ResourceSyncResult(nil), metav1.Now()
	for end := time.Now().Add(2 * patience); !phase.Completed(); {
		managed, err := a.cache.GetManagedLiveObjs(targets, func(r *cache.Resource) bool { return r.Info != nil && r.Info != "" })
		a.must(err)
		state := sync.Reconcile(targets, managed, a.namespace, a.cache)
		operation, cleanup, err := sync.NewSyncContext("revision", state, apitest.Config(a), apitest.Config(a), a.kubectl, a.namespace,
			sync.WithInitialState(phase, message, results, start), sync.WithPrune(true), sync.WithServerSideApply(true),
			sync.WithServerSideApplyManager(controller), sync.WithManifestValidation(true), sync.WithLogr(logr.Discard()))
		a.must(err)
		operation.Sync()
		phase, message, results = operation.GetState()
		cleanup()
		if time.Now().After(end) {
			a.Fatalf("sync: %s: %s", phase, message)
		}
		time.Sleep(100 * time.Millisecond)
	}
	failed = map[string]string{}
	for _, r := range results {
		called := r.ResourceKey.Kind + "/" + r.ResourceKey.Name
		switch r.Status {
		case common.ResultCodeSyncFailed:
			failed[called] = r.Message
		case common.ResultCodePruneSkipped:
			kept = append(kept, called)
		}
	}
	if phase != common.OperationSucceeded && len(failed) == 0 {
		a.Fatalf("sync: %s: %s", phase, message)
	}
	slices.Sort(kept)
	return failed, kept
}

// noFailure syncs, and everything has to succeed.
func (a *argo) noFailure(targets []*unstructured.Unstructured) []string {
	a.Helper()
	failed, kept := a.sync(targets)
	if len(failed) > 0 {
		a.Fatalf("failed: %v", failed)
	}
	return kept
}

// comparisons are the ways in which Argo CD may compare an Application with the
// cluster, none of them told to ignore anything.
func comparisons(r *rig) map[string][]diff.Option {
	r.Helper()
	kubectl := newKubectl()
	_, parser, err := kubectl.LoadOpenAPISchema(apitest.Config(r))
	r.must(err)
	applier, stop, err := kubectl.ManageServerSideDiffDryRuns(apitest.Config(r))
	r.must(err)
	r.Cleanup(stop)
	common := []diff.Option{diff.WithLogr(logr.Discard()), diff.WithManager(controller), diff.WithGVKParser(parser)}
	return map[string][]diff.Option{
		"in the client":            common,
		"ServerSideApply=true":     append(slices.Clone(common), diff.WithStructuredMergeDiff(true)),
		"with ServerSideDiff=true": append(slices.Clone(common), diff.WithServerSideDiff(true), diff.WithServerSideDryRunner(diff.NewK8sServerSideDryRunner(applier))),
	}
}

// different lists which objects differ from what is live.
func (r *rig) different(targets []*unstructured.Unstructured, options []diff.Option) []string {
	r.Helper()
	var out []string
	for _, target := range targets {
		live := object(target.GetAPIVersion(), target.GetKind(), target.GetNamespace(), target.GetName())
		if !r.exists(live) {
			r.Fatalf("%s/%s is gone", target.GetKind(), target.GetName())
		}
		d, err := diff.Diff(target, live, options...)
		if err != nil {
			r.Fatalf("%s/%s: %v", target.GetKind(), target.GetName(), err)
		}
		if d.Modified {
			out = append(out, fmt.Sprintf("%s/%s\nlive      %s\npredicted %s", target.GetKind(), target.GetName(), d.NormalizedLive, d.PredictedLive))
		}
	}
	return out
}

// TestArgoCDHealth is what the guide says of health, asked of Argo CD's code.
func TestArgoCDHealth(t *testing.T) {
	const set = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {generation: 2}, spec: {replicas: 2, updateStrategy: {type: %s}}, status: {observedGeneration: 2, replicas: 2, %s}}"
	for called, c := range map[string]struct {
		text string
		want health.HealthStatusCode
	}{
		"OnDelete, no pod ready":      {fmt.Sprintf(set, "OnDelete", "readyReplicas: 0, currentRevision: a, updateRevision: a"), health.HealthStatusProgressing},
		"OnDelete, no pod rolled":     {fmt.Sprintf(set, "OnDelete", "readyReplicas: 2, currentRevision: a, updateRevision: b"), health.HealthStatusHealthy},
		"RollingUpdate, one to roll":  {fmt.Sprintf(set, "RollingUpdate", "readyReplicas: 2, currentRevision: a, updateRevision: b"), health.HealthStatusProgressing},
		"a claim of a hibernated pod": {"{apiVersion: v1, kind: PersistentVolumeClaim, status: {phase: Pending}}", health.HealthStatusProgressing},
	} {
		t.Run(called, func(t *testing.T) {
			o := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(c.text), &o.Object); err != nil {
				t.Fatal(err)
			}
			got, err := health.GetResourceHealth(o, nil)
			if err != nil || got.Status != c.want {
				t.Errorf("%+v %v", got, err)
			}
		})
	}
	cluster := object("valkey-render.dev/v1alpha1", "ValkeyCluster", "shop", "cache")
	if got, err := health.GetResourceHealth(cluster, nil); got != nil || err != nil {
		t.Errorf("a ValkeyCluster: %+v %v", got, err)
	}
}

// withoutPruneLast takes the annotation away that the guide says is needed.
func withoutPruneLast(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	for _, o := range objects {
		if annotations := o.GetAnnotations(); strings.Contains(annotations["argocd.argoproj.io/sync-options"], "PruneLast=true") {
			delete(annotations, "argocd.argoproj.io/sync-options")
			o.SetAnnotations(annotations)
		}
	}
	return objects
}

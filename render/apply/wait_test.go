// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// settle gives objects the status that their controllers would.
func (r *rig) settle(c Cluster) {
	r.t.Helper()
	for _, id := range c.ids() {
		var status map[string]any
		switch id.Kind {
		case "StatefulSet":
			n, _ := number(find(r.t, c, id.Kind, id.Name), "spec", "replicas")
			status = map[string]any{"observedGeneration": int64(1), "replicas": n, "readyReplicas": n, "updatedReplicas": n}
		case "PersistentVolumeClaim":
			status = map[string]any{"phase": "Bound", "capacity": map[string]any{"storage": "10Gi"}}
		case "PodDisruptionBudget":
			status = map[string]any{"observedGeneration": int64(1)}
		default:
			continue
		}
		o := r.get(id.APIVersion, id.Kind, id.Name)
		o.Object["status"] = status
		if err := r.client.Status().Update(r.t.Context(), o, client.FieldOwner("controller")); err != nil {
			r.t.Fatal(err)
		}
	}
}

// ticking is a clock that calls do at each look, and moves on.
func ticking(t *testing.T, do func(look int)) *clocktesting.FakeClock {
	t.Helper()
	c := clocktesting.NewFakeClock(time.Unix(1_000_000, 0))
	ctx := t.Context()
	go func() {
		for look := 1; ctx.Err() == nil; {
			if c.HasWaiters() {
				do(look)
				look++
				c.Step(time.Minute)
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return c
}

func TestWaitUntilAllIsReady(t *testing.T) {
	r := newFake(t)
	spec := clusterSpec(durable)
	r.apply(spec)
	clusters := rendered(t, r.namespace, spec)
	var said []string
	a := r.applier(Options{
		OnWait: func(p Progress) {
			said = append(said, fmt.Sprintf("%d/%d, %d new", p.Ready, p.Total, len(p.Changed)))
		},
		Clock: ticking(t, func(look int) {
			if look == 2 {
				r.settle(clusters[0])
			}
		}),
	})
	statuses, err := a.Wait(t.Context(), clusters)
	if err != nil {
		t.Fatal(err)
	}
	// Claims, StatefulSets and budgets were waited for, and said so once.
	if diff := cmp.Diff([]string{"6/18, 13 new", "18/18, 12 new"}, said); diff != "" {
		t.Error(diff)
	}
	if statuses[0].State != Unwatched {
		t.Errorf("the ValkeyCluster is %s", statuses[0].State)
	}
}

func TestWaitGivesUp(t *testing.T) {
	r := newFake(t)
	spec := clusterSpec("{topology: Standalone, resources: {limits: {memory: 1Gi}}}")
	clusters := rendered(t, r.namespace, spec)
	ctx, cancel := context.WithCancel(t.Context())
	a := r.applier(Options{Clock: ticking(t, func(look int) {
		if look == 2 {
			cancel()
		}
	})})
	_, err := a.Wait(ctx, clusters)
	notReady, ok := errors.AsType[*NotReadyError](err)
	if !ok || !errors.Is(err, context.Canceled) || len(notReady.Pending) != 6 || !strings.Contains(err.Error(), "StatefulSet/shop/cache-0: waiting: does not exist") {
		t.Errorf("%v", err)
	}
	// Another rendering than the one that is live is not what is waited for.
	r.apply(spec)
	r.settle(clusters[0])
	changed := rendered(t, r.namespace, clusterSpec("{topology: Standalone, resources: {limits: {memory: 2Gi}}}"))
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	_, err = r.applier(Options{}).Wait(ctx, changed)
	if err == nil || !strings.Contains(err.Error(), "StatefulSet/shop/cache-0: waiting: is not yet what is rendered") {
		t.Errorf("%v", err)
	}
}

func TestClaimsOfAHibernatingClusterAreNotWaitedFor(t *testing.T) {
	r := newFake(t)
	spec := clusterSpec(durable + "hibernate: true\n")
	r.apply(spec)
	c := rendered(t, r.namespace, spec)[0]
	r.settle(c)
	for _, id := range c.ids() {
		if id.Kind == "PersistentVolumeClaim" {
			o := r.get(id.APIVersion, id.Kind, id.Name)
			o.Object["status"] = map[string]any{"phase": "Pending"}
			if err := r.client.Status().Update(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := r.applier(Options{}).Wait(t.Context(), []Cluster{c}); err != nil {
		t.Error(err)
	}
}

func TestTheValkeyClusterIsWaitedForWhereAReconcilerLooksAfterIt(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	spec := clusterSpec("{topology: Standalone, resources: {limits: {memory: 1Gi}}}")
	for called, c := range map[string]struct {
		age         time.Duration
		annotations map[string]string
		note        string
		want        State
	}{
		"fresh":               {age: time.Second, want: Waiting},
		"old":                 {time.Hour, nil, "no reconciler is running", Unwatched},
		"of its namespace":    {time.Second, map[string]string{v1alpha1.AnnotationNamespaces: "bank,shop"}, "", Waiting},
		"of others":           {time.Second, map[string]string{v1alpha1.AnnotationNamespaces: "bank,shopping"}, "other namespaces", Unwatched},
		"of its labels":       {time.Second, map[string]string{v1alpha1.AnnotationShardSelector: "fleet in (a,b)"}, "", Waiting},
		"of other labels":     {time.Second, map[string]string{v1alpha1.AnnotationShardSelector: "fleet=b"}, "other namespaces or labels", Unwatched},
		"of its labels alone": {time.Second, map[string]string{v1alpha1.AnnotationShardSelector: "fleet=a", v1alpha1.AnnotationNamespaces: "bank"}, "other namespaces or labels", Unwatched},
		"unreadable":          {time.Second, map[string]string{v1alpha1.AnnotationShardSelector: "!!"}, "", Waiting},
	} {
		t.Run(called, func(t *testing.T) {
			r := newFake(t)
			holder, seconds, renewed := "pod", int32(15), metav1.NewMicroTime(now.Add(-c.age))
			lease := &coordinationv1.Lease{
				ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "any", Labels: name.ReconcilerSelector(), Annotations: c.annotations},
				Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &renewed},
			}
			if err := r.client.Create(t.Context(), lease); err != nil {
				t.Fatal(err)
			}
			d := &diary{}
			o := d.options()
			o.Clock = clocktesting.NewFakeClock(now)
			a := r.applier(o)
			clusters := rendered(t, r.namespace, spec)
			clusters[0].spec().SetLabels(map[string]string{name.LabelCluster: clusters[0].Name, "fleet": "a"})
			a.CheckReconciler(t.Context(), clusters)
			if notes := strings.Join(d.notes, "\n"); (c.note == "") != (notes == "") || !strings.Contains(notes, c.note) {
				t.Errorf("%q", notes)
			}
			s, err := a.newWaiter(t.Context(), clusters).lookAt(t.Context(), clusters[0].clusterID())
			if err != nil || s.State != c.want {
				t.Errorf("%v, %v", s, err)
			}
		})
	}
}

// TestAValkeyClusterIsReadyOfItsOwnRendering: Ready of an earlier one, with the same spec,
// is none; and a cluster that was told to hibernate is done when it does.
func TestAValkeyClusterIsReadyOfItsOwnRendering(t *testing.T) {
	r := newFake(t)
	hibernating := clusterSpec(durable + "hibernate: true\n")
	for called, c := range map[string]struct {
		spec, hash, status, reason string
		want                       State
	}{
		"ready":                   {clusterSpec(durable), "", "True", v1alpha1.ReasonClusterHealthy, Ready},
		"ready of an earlier one": {clusterSpec(durable), "0123456789abcdef", "True", v1alpha1.ReasonClusterHealthy, Waiting},
		"hibernated":              {hibernating, "", "False", v1alpha1.ReasonHibernated, Ready},
		"hibernated before":       {hibernating, "0123456789abcdef", "False", v1alpha1.ReasonHibernated, Waiting},
		"hibernated, to wake":     {clusterSpec(durable), "", "False", v1alpha1.ReasonHibernated, Waiting},
		"not ready":               {hibernating, "", "False", v1alpha1.ReasonReconciling, Waiting},
	} {
		t.Run(called, func(t *testing.T) {
			clusters := rendered(t, r.namespace, c.spec)
			live := clusters[0].spec().DeepCopy()
			live.SetGeneration(3)
			hash := live.GetAnnotations()[v1alpha1.AnnotationRenderHash]
			if c.hash != "" {
				hash = c.hash
			}
			live.Object["status"] = map[string]any{"observedGeneration": int64(3), "renderHash": hash, "conditions": []any{
				map[string]any{"type": "Ready", "status": c.status, "reason": c.reason, "observedGeneration": int64(3)},
			}}
			w := r.applier(Options{}).newWaiter(t.Context(), clusters)
			if got := w.clusterState(live, StatusOf(live)); got.State != c.want {
				t.Errorf("%s: %s", got.State, got.Message)
			}
		})
	}
}

// waitsForADrain: with Wait, a held shard goes as soon as it is drained.
func waitsForADrain(t *testing.T, newRig maker) {
	r := newRig(t)
	r.apply(clusterSpec(durable))
	a := r.applier(Options{Interval: 10 * time.Millisecond})
	p, err := a.Plan(t.Context(), rendered(t, r.namespace, clusterSpec(with(durable, "shards: 3", "shards: 2"))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	held, err := p.release(t.Context())
	if err != nil || len(held) != 2 || held[1].Name != "cache-2" || !strings.Contains(held[1].Message, "shard 2 may have data") {
		t.Fatalf("%v, %v", held, err)
	}
	r.drained(int64(2))
	if held, err = p.release(t.Context()); err != nil || len(held) != 0 {
		t.Fatalf("%v, %v", held, err)
	}
	got := summary(p.Done())
	if !slices.Contains(got, "StatefulSet/cache-2 deleted") || slices.Contains(got, "StatefulSet/cache-2 held") {
		t.Errorf("%v", got)
	}
	if r.exists("apps/v1", "StatefulSet", "cache-2") || slices.Contains(r.inventoryLines(), "apps/v1 StatefulSet cache-2") {
		t.Error("it is still there")
	}
}

// TestWaitGivesTheSameAnswerOnce: a server that lets nobody in says so for each object.
func TestWaitGivesTheSameAnswerOnce(t *testing.T) {
	c := fakeServer().
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return apierrors.NewUnauthorized("no")
			},
		}).Build()
	_, err := New(c, Options{}).Wait(t.Context(), rendered(t, "shop", clusterSpec(durable)))
	if err == nil || strings.Count(err.Error(), "credentials") != 1 || !strings.HasSuffix(err.Error(), "more objects)") {
		t.Errorf("%v", err)
	}
}

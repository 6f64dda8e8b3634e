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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
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

func TestWaitEndsWhenNothingCanBecomeReady(t *testing.T) {
	r := newFake(t)
	job := parsed(t, "apiVersion: batch/v1\nkind: Job\nmetadata: {name: cache-x, namespace: shop, labels: {valkey-render.dev/cluster: cache}}")
	_, err := r.applier(Options{}).Wait(t.Context(), []Cluster{{Namespace: "shop", Name: "cache", Objects: []*unstructured.Unstructured{job}}})
	if notReady, ok := errors.AsType[*NotReadyError](err); !ok || notReady.Err != nil || !strings.Contains(err.Error(), "Job/shop/cache-x: failed: is gone, and nobody has seen it complete") {
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

func TestTheValkeyClusterIsWaitedForWhereAReconcilerRuns(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	lease := func(age time.Duration) *coordinationv1.Lease {
		holder, seconds, renewed := "pod", int32(15), metav1.NewMicroTime(now.Add(-age))
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: LeaseName},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &renewed},
		}
	}
	spec := clusterSpec("{topology: Standalone, resources: {limits: {memory: 1Gi}}}")
	for name, c := range map[string]struct {
		age  time.Duration
		note int
		want State
	}{"fresh": {time.Second, 0, Waiting}, "old": {time.Hour, 1, Unwatched}} {
		t.Run(name, func(t *testing.T) {
			r := newFake(t)
			if err := r.client.Create(t.Context(), lease(c.age)); err != nil {
				t.Fatal(err)
			}
			d := &diary{}
			o := d.options()
			o.Clock = clocktesting.NewFakeClock(now)
			a := r.applier(o)
			clusters := rendered(t, r.namespace, spec)
			a.CheckReconciler(t.Context(), clusters)
			if len(d.notes) != c.note {
				t.Errorf("%q", d.notes)
			}
			s, err := a.newWaiter(t.Context(), clusters).lookAt(t.Context(), clusters[0].clusterID())
			if err != nil || s.State != c.want {
				t.Errorf("%v, %v", s, err)
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

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/render/name"
)

// pods sets how many pods of a StatefulSet are ready.
func (r *rig) pods(called string, ready int64) {
	r.t.Helper()
	o := r.get("apps/v1", "StatefulSet", called)
	n, _ := number(o, "spec", "replicas")
	o.Object["status"] = map[string]any{"observedGeneration": int64(1), "replicas": n, "readyReplicas": ready, "updatedReplicas": n}
	if err := r.client.Status().Update(r.t.Context(), o, client.FieldOwner("controller")); err != nil {
		r.t.Fatal(err)
	}
}

func TestWaitWantsAllToBeReadyAtOnce(t *testing.T) {
	r := newFake(t)
	spec := clusterSpec("shards: 3\nreplicasPerShard: 1\nresources: {limits: {memory: 1Gi}}\n")
	r.apply(spec)
	clusters := rendered(t, r.namespace, spec)
	r.settle(clusters[0])
	r.pods("cache-1", 1)
	var looks atomic.Int32
	a := r.applier(Options{Clock: ticking(t, func(look int) {
		looks.Store(int32(look))
		switch look {
		case 1:
			// One becomes ready, and another that was ready stops to be.
			r.pods("cache-1", 2)
			r.pods("cache-0", 1)
		case 2:
			r.pods("cache-0", 2)
		}
	})})
	if _, err := a.Wait(t.Context(), clusters); err != nil || looks.Load() < 2 {
		t.Errorf("it ended after %d looks: %v", looks.Load(), err)
	}
}

// away is a client of a server that answers, or does not, as the test wants.
type away struct {
	client.Client
	err atomic.Pointer[error]
}

func (a *away) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if err := a.err.Load(); err != nil {
		return *err
	}
	return a.Client.Get(ctx, key, o, opts...)
}

func TestWaitOutlastsAServerThatIsAway(t *testing.T) {
	r := newFake(t)
	spec := clusterSpec(standalone)
	r.apply(spec)
	clusters := rendered(t, r.namespace, spec)
	c := &away{Client: r.client}
	var said []string
	a := New(c, Options{
		OnWait: func(p Progress) {
			for _, s := range p.Changed {
				said = append(said, s.String()+": "+s.Message)
			}
		},
		Clock: ticking(t, func(look int) {
			switch look {
			case 1:
				c.err.Store(ptr.To(lost()))
			case 40:
				// Longer than a request is made again.
				c.err.Store(nil)
				r.settle(clusters[0])
			}
		}),
	})
	if _, err := a.Wait(t.Context(), clusters); err != nil {
		t.Error(err)
	}
	if !slices.Contains(said, "StatefulSet/shop/cache-0: the API server does not answer") {
		t.Errorf("%q", said)
	}
	forbidden := error(apierrors.NewForbidden(statefulSets(), "cache-0", errors.New("no")))
	c.err.Store(&forbidden)
	if _, err := a.Wait(t.Context(), clusters); !IsRefusal(err) {
		t.Errorf("a refusal: %v", err)
	}
	c.err.Store(ptr.To(lost()))
	if _, err := New(c, Options{}).Wait(t.Context(), clusters); err == nil || !strings.Contains(err.Error(), "the API server does not answer") {
		t.Errorf("a server that never was there: %v", err)
	}
}

func TestAClaimGrowsAsSoonAsItIsBound(t *testing.T) {
	r := newFake(t)
	r.apply(sized("1Gi"))
	p, err := r.applier(Options{}).Plan(t.Context(), rendered(t, r.namespace, sized("2Gi")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context()); err != nil || r.claimSize("data-cache-0-0") != "1Gi" {
		t.Fatalf("asks for %s, %v", r.claimSize("data-cache-0-0"), err)
	}
	if _, err := p.release(t.Context()); err != nil || r.claimSize("data-cache-0-0") != "1Gi" {
		t.Fatalf("not bound, it asks for %s, %v", r.claimSize("data-cache-0-0"), err)
	}
	r.bind("data-cache-0-0", "1Gi")
	claim := inventoryID("shop", "cache")
	claim.Kind, claim.Name = "PersistentVolumeClaim", "data-cache-0-0"
	s, err := p.applier.newWaiter(t.Context(), rendered(t, r.namespace, sized("2Gi"))).lookAt(t.Context(), claim)
	if err != nil || s.State != Waiting || s.Message != "asks for 1Gi, and 2Gi is rendered: to be applied again" {
		t.Errorf("%v, %v", s, err)
	}
	if _, err := p.release(t.Context()); err != nil || r.claimSize("data-cache-0-0") != "2Gi" {
		t.Errorf("bound, it asks for %s, %v", r.claimSize("data-cache-0-0"), err)
	}
	if got := summary(p.Done()); !slices.Contains(got, "PersistentVolumeClaim/data-cache-0-0 configured") {
		t.Errorf("%v", got)
	}
	if again := summary(r.apply(sized("2Gi"))); len(again) > 0 {
		t.Errorf("%v", again)
	}
}

func TestWaitGoneWaitsForPods(t *testing.T) {
	r := newFake(t)
	r.apply(clusterSpec(standalone))
	set := r.get("apps/v1", "StatefulSet", "cache-0")
	pod := func(called string, owner client.Object) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: called, Labels: name.Labels("cache", name.ComponentServer)}}
		if owner != nil {
			p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GetObjectKind().GroupVersionKind())}
		}
		if err := r.client.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	set.SetUID("of-the-set")
	own := pod("cache-0-0", set)
	pod("orphan", nil)
	result := Result{Namespace: "shop", Name: "cache", Changes: []Change{{ID: idOf(set), Action: Deleted, Live: set}}}
	if err := r.client.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	var looks atomic.Int32
	a := r.applier(Options{Clock: ticking(t, func(look int) {
		if looks.Store(int32(look)); look == 2 {
			if err := r.client.Delete(t.Context(), own); err != nil {
				t.Error(err)
			}
		}
	})})
	if err := a.WaitGone(t.Context(), []Result{result}); err != nil || looks.Load() < 2 {
		t.Errorf("it ended after %d looks: %v", looks.Load(), err)
	}
}

// TestATimeoutOfTheNetworkIsNotThatOfTheCommand: package net says of both that they
// are context.DeadlineExceeded.
func TestATimeoutOfTheNetworkIsNotThatOfTheCommand(t *testing.T) {
	dial := func(ctx context.Context) error {
		_, err := (&net.Dialer{Timeout: time.Nanosecond}).DialContext(ctx, "tcp", "127.0.0.1:1")
		return err
	}
	if err := dial(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("it does not say so any more: %v", err)
	}
	steady := New(newFake(t).client, Options{}).client.(*steadyClient)
	err := steady.try(t.Context(), func() error { return dial(t.Context()) })
	if errors.Is(err, context.DeadlineExceeded) || IsRefusal(err) || !isLost(err) || !strings.HasPrefix(explain(err), "the API server does not answer: dial tcp 127.0.0.1:1: i/o timeout") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if err := steady.try(ctx, func() error { return dial(ctx) }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("of the command: %v", err)
	}
}

// counting counts lists.
type counting struct {
	client.Client
	lists int
}

func (c *counting) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	c.lists++
	return c.Client.List(ctx, list, opts...)
}

func TestTheReconcilerIsLookedForOnce(t *testing.T) {
	r := newFake(t)
	c := &counting{Client: r.client}
	d := &diary{}
	one := rendered(t, r.namespace, clusterSpec(standalone))[0]
	New(c, d.options()).CheckReconciler(t.Context(), []Cluster{{Namespace: "shop", Name: "acl"}, one, one, one})
	if c.lists != 1 || len(d.notes) != 1 || !strings.HasPrefix(d.notes[0], "ValkeyCluster/shop/cache and 2 more: no reconciler is running") {
		t.Errorf("%d lists, %q", c.lists, d.notes)
	}
}

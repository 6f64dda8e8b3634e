// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// jobCluster is a cluster of a Job and, if wanted, a claim that nobody makes.
func jobCluster(t *testing.T, claim bool) Cluster {
	t.Helper()
	c := Cluster{Namespace: "shop", Name: "cache", Objects: []*unstructured.Unstructured{
		parsed(t, "apiVersion: batch/v1\nkind: Job\nmetadata: {name: cache-x, namespace: shop, labels: {valkey-render.dev/cluster: cache}}"),
	}}
	if claim {
		c.Objects = append(c.Objects, parsed(t, "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data-cache-0-0, namespace: shop}"))
	}
	return c
}

// TestWaitEndsWhenSomethingFailedForGood: what else may become ready makes no whole.
func TestWaitEndsWhenSomethingFailedForGood(t *testing.T) {
	r := newFake(t)
	c := jobCluster(t, true)
	job := c.Objects[0].DeepCopy()
	job.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}}}
	if err := r.client.Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	_, err := r.applier(Options{}).Wait(t.Context(), []Cluster{c})
	notReady, ok := errors.AsType[*NotReadyError](err)
	if !ok || notReady.Err != nil || len(notReady.Pending) != 2 || !strings.Contains(err.Error(), "Job/shop/cache-x: failed: BackoffLimitExceeded") {
		t.Errorf("%v", err)
	}
}

// TestAJobThatIsNotThere was deleted, or nobody has applied it yet.
func TestAJobThatIsNotThere(t *testing.T) {
	r := newFake(t)
	c := jobCluster(t, false)
	w := r.applier(Options{}).newWaiter(t.Context(), []Cluster{c})
	for applied, want := range map[bool]Status{
		false: {State: Waiting, Message: "does not exist"},
		true:  {State: Stuck, Message: "is gone, and nobody has seen it complete"},
	} {
		w.applied = applied
		want.ID = c.ids()[0]
		if s, err := w.lookAt(t.Context(), c.ids()[0]); err != nil || s != want {
			t.Errorf("applied %v: %+v, %v", applied, s, err)
		}
	}
}

// TestWaitSaysWhyPodsDoNotStart: while it waits, once, and when it gives up.
func TestWaitSaysWhyPodsDoNotStart(t *testing.T) {
	r := newFake(t)
	spec := clusterSpec("{topology: Standalone, resources: {limits: {memory: 1Gi}}}")
	r.apply(spec)
	warn := func(called, kind, about, message string, at time.Time) {
		t.Helper()
		err := r.client.Create(t.Context(), &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: called}, Type: corev1.EventTypeWarning,
			InvolvedObject: corev1.ObjectReference{Kind: kind, Name: about}, Reason: "FailedMount", Message: message, LastTimestamp: metav1.NewTime(at),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	start := time.Unix(1_000_000, 0)
	warn("old", "Pod", "cache-0-0", "no volume", start.Add(-time.Hour))
	warn("now", "Pod", "cache-0-0", "secret\n\"cache-acl\" not found", start.Add(30*time.Minute))
	warn("other", "Pod", "cache-0-0-0", "not ours", start.Add(31*time.Minute))
	warn("another", "StatefulSet", "cache", "not ours", start.Add(31*time.Minute))
	ctx, cancel := context.WithCancel(t.Context())
	var said []string
	a := r.applier(Options{
		OnWait: func(p Progress) {
			for _, s := range p.Changed {
				if strings.Contains(s.Message, ";") {
					said = append(said, s.Message)
				}
			}
		},
		Clock: ticking(t, func(look int) {
			if look == 35 {
				cancel()
			}
		}),
	})
	_, err := a.Wait(ctx, rendered(t, r.namespace, spec))
	const cause = "; Pod cache-0-0: FailedMount: secret \"cache-acl\" not found"
	if err == nil || !strings.Contains(err.Error(), cause) || strings.Contains(err.Error(), "not ours") {
		t.Errorf("%v", err)
	}
	if len(said) != 1 || !strings.HasSuffix(said[0], cause) {
		t.Errorf("%q", said)
	}
}

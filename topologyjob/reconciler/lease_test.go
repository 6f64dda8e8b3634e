// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"maps"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubernetesfake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// TestTheLeaseSaysWhomTheReconcilerLooksAfter, also when it looked after others before.
func TestTheLeaseSaysWhomTheReconcilerLooksAfter(t *testing.T) {
	c := fake.NewClientBuilder().Build()
	for _, step := range []struct {
		scope Scope
		want  map[string]string
	}{
		{Scope{Own: "system", Namespaces: []string{"shop", "bank"}}, map[string]string{v1alpha1.AnnotationNamespaces: "shop,bank"}},
		{Scope{Own: "system"}, nil},
		{Scope{Own: "system", Shard: "fleet=a"}, map[string]string{v1alpha1.AnnotationShardSelector: "fleet=a"}},
		{Scope{Own: "system", Shard: "fleet=b"}, map[string]string{v1alpha1.AnnotationShardSelector: "fleet=b"}},
	} {
		h := &Heartbeat{Live: c, Client: c, Scope: step.scope, Identity: "pod", Clock: clocktesting.NewFakeClock(time.Unix(1_000_000, 0))}
		for range 2 {
			if err := h.beat(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		l := step.scope.lease()
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(l), l); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(l.Annotations, step.want) || !maps.Equal(l.Labels, name.ReconcilerSelector()) || *l.Spec.HolderIdentity != "pod" {
			t.Errorf("%+v: %+v", step.scope, l)
		}
	}
	var all coordinationv1.LeaseList
	if err := c.List(t.Context(), &all); err != nil || len(all.Items) != 3 {
		t.Errorf("%v, %d Leases: reconcilers that share a fleet by labels have one each", err, len(all.Items))
	}
}

// TestALeaderSaysWhomItLooksAfter: one that looks after others takes over.
func TestALeaderSaysWhomItLooksAfter(t *testing.T) {
	leases := kubernetesfake.NewClientset().CoordinationV1()
	for _, namespaces := range []string{"shop", "bank"} {
		lock := election(leases, Scope{Own: "system", Namespaces: []string{namespaces}}, "pod of "+namespaces)
		record := resourcelock.LeaderElectionRecord{HolderIdentity: lock.Identity(), LeaseDurationSeconds: 15}
		_, _, err := lock.Get(t.Context())
		if err != nil {
			err = lock.Create(t.Context(), record)
		} else {
			err = lock.Update(t.Context(), record)
		}
		if err != nil {
			t.Fatal(err)
		}
		l, err := leases.Leases("system").Get(t.Context(), name.ReconcilerLease(""), metav1.GetOptions{})
		if err != nil || l.Annotations[v1alpha1.AnnotationNamespaces] != namespaces || !maps.Equal(l.Labels, name.ReconcilerSelector()) {
			t.Errorf("%v, %+v", err, l)
		}
	}
}

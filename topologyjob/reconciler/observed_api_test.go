// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// TestAPIServerTheCertificateThatIsServedShowsInTheStatus once a Job has proved it.
func TestAPIServerTheCertificateThatIsServedShowsInTheStatus(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.nodes()
	key := r.cluster("cache", 1, func(s *v1alpha1.ValkeyClusterSpec) { s.TLS = &v1alpha1.TLSSpec{} })
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "cache-tls"},
		Data:       map[string][]byte{"ca.crt": []byte("a"), "tls.crt": []byte("b"), "tls.key": []byte("c")},
	}
	if err := r.admin.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	r.reconcile(r.limited(), 0)
	r.until("the fingerprint", func() error {
		if s := r.seen(key); s.LastTLSCertFingerprint != servedFingerprint {
			return fmt.Errorf("%q; %s %s: %s", s.LastTLSCertFingerprint, s.State, s.Reason, s.Message)
		}
		return nil
	})
}

// TestAPIServerAQuotaOfPodsShowsInTheStatus, which only events of the StatefulSet tell.
func TestAPIServerAQuotaOfPodsShowsInTheStatus(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.nodes()
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "small"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/pods": resource.MustParse("1")}},
	}
	if err := r.admin.Create(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	// Its controller counts first; before, nothing is let in.
	r.until("the count of the quota", func() error {
		if err := r.admin.Get(t.Context(), client.ObjectKeyFromObject(quota), quota); err != nil {
			return err
		}
		if len(quota.Status.Hard) == 0 {
			return errors.New("not counted yet")
		}
		return nil
	})
	key := r.cluster("cache", 1)
	r.reconcile(r.limited(), 0)
	r.until("the quota", func() error {
		s := r.seen(key)
		if s.State != v1alpha1.StateDegraded || s.Reason != v1alpha1.ReasonQuotaExceeded || !strings.Contains(s.Message, "exceeded quota: small") {
			return fmt.Errorf("%s %s: %s", s.State, s.Reason, s.Message)
		}
		return nil
	})
	if err := r.admin.Delete(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	// The controller tries again only after a while.
	r.until("pods without a quota", func() error {
		set := &appsv1.StatefulSet{}
		if err := r.admin.Get(t.Context(), client.ObjectKey{Namespace: r.namespace, Name: "cache-0"}, set); err != nil || set.Status.Replicas == 2 {
			return err
		}
		if set.Annotations == nil {
			set.Annotations = map[string]string{}
		}
		set.Annotations["test/wakes"] = time.Now().String()
		_ = r.admin.Update(t.Context(), set)
		return fmt.Errorf("%d pods", set.Status.Replicas)
	})
	r.state(key, v1alpha1.StateReady)
}

// TestAPIServerAnOrphanShowsInTheStatus of another cluster of its namespace, until it is gone. One
// that needs no ValkeyCluster is none.
func TestAPIServerAnOrphanShowsInTheStatus(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.nodes()
	key := r.cluster("cache", 1)
	r.cluster("data", 1)
	for cluster, jobs := range map[string]string{"old": "Reconciler", "free": "Rendered"} {
		r.set(cluster, 0)
		set := &appsv1.StatefulSet{}
		if err := r.admin.Get(t.Context(), client.ObjectKey{Namespace: r.namespace, Name: cluster + "-0"}, set); err != nil {
			t.Fatal(err)
		}
		next := set.DeepCopy()
		next.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: name.EnvJobs, Value: jobs}}
		if err := r.admin.Patch(t.Context(), next, client.MergeFrom(set)); err != nil {
			t.Fatal(err)
		}
	}
	r.reconcile(r.limited(), 0)
	r.until("the orphan", func() error {
		s := r.seen(key)
		if s.State != v1alpha1.StateDegraded || s.Reason != v1alpha1.ReasonOrphaned || !strings.Contains(s.Message, "old-0") || strings.Contains(s.Message, "free") {
			return fmt.Errorf("%s %s: %s", s.State, s.Reason, s.Message)
		}
		return nil
	})
	r.state(client.ObjectKey{Namespace: r.namespace, Name: "data"}, v1alpha1.StateReady)
	if err := r.admin.Delete(t.Context(), &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "old-0"}}); err != nil {
		t.Fatal(err)
	}
	r.state(key, v1alpha1.StateReady)
}

// TestAPIServerTheGuardIsSought by its labels, with the right to list and no other; without the
// right nothing is known.
func TestAPIServerTheGuardIsSought(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	config := r.limited()
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	live, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	if known := NewGuarded(live, clock.RealClock{}).installed(t.Context()); known != nil {
		t.Errorf("without the right: %t", *known)
	}
	for _, o := range []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: r.namespace}, Rules: GuardRights()},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: r.namespace},
			Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: "rbac.authorization.k8s.io", Name: r.namespace}},
			RoleRef:    rbacv1.RoleRef{Kind: "ClusterRole", APIGroup: "rbac.authorization.k8s.io", Name: r.namespace},
		},
	} {
		if err := r.admin.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.admin.Delete(context.Background(), o) })
	}
	// Other tests may have installed one.
	r.until("an answer", func() error {
		if NewGuarded(live, clock.RealClock{}).installed(t.Context()) == nil {
			return errors.New("nothing is known")
		}
		return nil
	})
}

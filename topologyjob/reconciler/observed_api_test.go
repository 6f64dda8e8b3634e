// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
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
		if err := r.admin.Get(t.Context(), client.ObjectKeyFromObject(quota), quota); err != nil || len(quota.Status.Hard) == 0 {
			return fmt.Errorf("not counted yet: %v", err)
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

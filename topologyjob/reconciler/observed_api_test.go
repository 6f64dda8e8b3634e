// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

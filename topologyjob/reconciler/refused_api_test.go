// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// TestAPIServerAQuotaShowsInTheStatus as long as it keeps Jobs from being created, and the
// cluster is formed soon after it is gone.
func TestAPIServerAQuotaShowsInTheStatus(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.nodes()
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "jobs"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/jobs.batch": resource.MustParse("0")}},
	}
	if err := r.admin.Create(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	key := r.cluster("cache", 1)
	r.reconcile(r.limited(), 0)
	r.until("the quota", func() error {
		if s := r.seen(key); s.State != v1alpha1.StateFailed || s.Reason != v1alpha1.ReasonQuotaExceeded {
			return fmt.Errorf("%s %s: %s", s.State, s.Reason, s.Message)
		}
		return nil
	})
	if err := r.admin.Delete(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	r.state(key, v1alpha1.StateReady)
}

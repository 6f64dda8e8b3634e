// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/internal/apitest"
)

// TestAPIServerAdminsOfANamespaceApplyRoles: they may bind only what they hold, which
// the server finds out by looking at the Role.
func TestAPIServerAdminsOfANamespaceApplyRoles(t *testing.T) {
	r := newRig(t)
	err := r.client.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "admin"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: r.namespace + "-admin"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.connect = func() client.Client {
		config := apitest.Config(t)
		config.Impersonate = rest.ImpersonationConfig{UserName: r.namespace + "-admin", Groups: []string{"system:authenticated"}}
		c, err := NewClient(config)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	// The server sees a binding a moment after it is made.
	for {
		_, err := r.applier(Options{}).Plan(t.Context(), rendered(t, r.namespace, clusterSpec(alone)))
		if !apierrors.IsForbidden(err) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	r.apply(clusterSpec(alone))
	if got := r.apply(clusterSpec(alone)); len(summary(got)) != 0 || !r.exists("rbac.authorization.k8s.io/v1", "RoleBinding", "cache-secrets") {
		t.Errorf("%v", summary(got))
	}
}

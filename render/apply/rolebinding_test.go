// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestARoleBindingWaitsForItsRole: the server sees the Role a moment after it is made,
// and in a dry run never. A Role that nobody makes is an error.
func TestARoleBindingWaitsForItsRole(t *testing.T) {
	for name, c := range map[string]struct {
		tries int64
		role  bool
		want  string
	}{"seen late": {3, true, ""}, "never seen": {1000, true, "\"cache-secrets\" not found"}, "not rendered": {0, false, "\"cache-secrets\" not found"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newFake(t)
			var made atomic.Int64
			server := interceptor.NewClient(r.client.(client.WithWatch), interceptor.Funcs{
				Patch: func(ctx context.Context, server client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
					role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cache-secrets"}}
					if o.GetObjectKind().GroupVersionKind().Kind == "RoleBinding" &&
						(server.Get(ctx, client.ObjectKeyFromObject(role), role) != nil || made.Add(1) <= c.tries) {
						return apierrors.NewNotFound(schema.GroupResource{Group: rbacv1.GroupName, Resource: "roles"}, "cache-secrets")
					}
					return server.Patch(ctx, o, patch, opts...)
				},
			})
			clusters := rendered(t, "shop", clusterSpec(alone))
			if !c.role {
				clusters[0].Objects = slices.DeleteFunc(clusters[0].Objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Role" })
			}
			p, err := New(server, Options{}).Plan(t.Context(), clusters)
			if err == nil {
				_, err = p.Run(t.Context())
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v", err)
			}
		})
	}
}

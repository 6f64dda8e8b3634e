// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// newFake is a server that is not there: it stores objects and owners of fields,
// and knows no defaults, no rules and no controllers.
func newFake(t testing.TB) *rig {
	t.Helper()
	cluster := ID{"valkey-render.dev/v1alpha1", "ValkeyCluster", "", ""}.object()
	c := fakeServer().WithReturnManagedFields().WithStatusSubresource(cluster).
		WithIndex(&corev1.Event{}, "type", func(o client.Object) []string { return []string{o.(*corev1.Event).Type} }).
		WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				o.SetUID(uuid.NewUUID())
				return c.Create(ctx, o, opts...)
			},
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
				var options client.PatchOptions
				options.ApplyOptions(opts)
				if slices.Contains(options.DryRun, metav1.DryRunAll) {
					return dryRun(ctx, c, o.(*unstructured.Unstructured), patch, options.FieldManager)
				}
				return c.Patch(ctx, o, patch, opts...)
			},
		}).Build()
	return &rig{t: t, client: c, namespace: "shop", kills: 2, connect: func() client.Client { return c }}
}

// fakeServer tells nothing of the schemas of kinds, so lists are replaced whole.
func fakeServer() *fake.ClientBuilder {
	return fake.NewClientBuilder().WithTypeConverters(managedfields.NewDeducedTypeConverter())
}

// dryRun patches a copy of what is there, elsewhere.
func dryRun(ctx context.Context, c client.Client, o *unstructured.Unstructured, patch client.Patch, owner string) error {
	live := idOf(o).object()
	err := c.Get(ctx, client.ObjectKeyFromObject(o), live)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	scratch := fakeServer().WithReturnManagedFields().WithObjects(live).Build()
	if patch.Type() != types.ApplyPatchType {
		return scratch.Patch(ctx, o, patch, client.FieldOwner(owner))
	}
	return scratch.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.ForceOwnership, client.FieldOwner(owner))
}

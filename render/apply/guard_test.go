// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestADeleteThatTheGuardDeniesIsTriedAgain: the server hears late of what this run
// has allowed. What it goes on denying is a refusal, and nobody else's no is doubted.
func TestADeleteThatTheGuardDeniesIsTriedAgain(t *testing.T) {
	guarded := apierrors.NewForbidden(statefulSets(), "cache-0", errors.New("ValidatingAdmissionPolicy 'valkey-render-guard-shard.a.b' with binding 'valkey-render-guard-shard.a.b' denied request: not drained"))
	for name, c := range map[string]struct {
		err   error
		times int
		tries int
		ok    bool
	}{
		"for a moment": {guarded, 2, 3, true},
		"for good":     {guarded, 1000, guardTries, false},
		"by a right":   {apierrors.NewForbidden(statefulSets(), "cache-0", errors.New("User \"ci\" cannot delete")), 1000, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newFake(t)
			r.apply(clusterSpec("{topology: Standalone, deletionPolicy: Allow, resources: {limits: {memory: 1Gi}}}"))
			tries := 0
			denier := interceptor.NewClient(r.client.(client.WithWatch), interceptor.Funcs{
				Delete: func(ctx context.Context, next client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
					if o.GetObjectKind().GroupVersionKind().Kind == "StatefulSet" {
						if tries++; tries <= c.times {
							return c.err
						}
					}
					return next.Delete(ctx, o, opts...)
				},
			})
			_, err := New(denier, Options{}).Delete(t.Context(), Cluster{Namespace: r.namespace, Name: "cache", Complete: true}, DeleteOptions{})
			if (err == nil) != c.ok || tries != c.tries || !c.ok && !IsRefusal(err) {
				t.Errorf("%d tries: %v", tries, err)
			}
		})
	}
}

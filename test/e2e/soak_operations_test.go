// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// operation is something that is asked of a cluster; one without a name is nothing. It has
// been done when it was accepted: what it leads to is waited for after all faults.
type operation struct {
	name string
	do   func(context.Context) error
}

// operation draws one, for the Cluster twice as often.
func (s *soak) operation(random *rand.Rand) (*subject, operation) {
	sub := s.subjects[random.IntN(3)/2]
	draw := random.IntN(8)
	o := operation{do: func(context.Context) error { return nil }}
	switch {
	case draw < 2:
		return sub, o
	case draw < 4:
		o = operation{"roll", func(ctx context.Context) error { sub.backlog++; return sub.applies(ctx) }}
	case draw < 5:
		o = operation{"rotation", sub.rotates}
	case sub.shards == 0:
		o = operation{"roll", func(ctx context.Context) error { sub.backlog++; return sub.applies(ctx) }}
	case sub.shards == 3:
		o = operation{"scale out", func(ctx context.Context) error { sub.shards = 4; return sub.applies(ctx) }}
	default:
		o = operation{"scale in", func(ctx context.Context) error { sub.shards = 3; return sub.applies(ctx) }}
	}
	s.counted(sub.name + " " + o.name)
	return sub, o
}

// rotates replaces the passwords. The writer is told of the new one while both are valid,
// which ends early then.
func (s *subject) rotates(ctx context.Context) error {
	s.token = fmt.Sprint(time.Now().UnixNano())
	if err := s.announces(ctx, "1h"); err != nil {
		return err
	}
	if err := s.rotation(ctx, func(a v1alpha1.ActionStatus) bool { return a.Progress == "Switched" }); err != nil {
		return err
	}
	secret := &corev1.Secret{}
	err := persistently(ctx, func(ctx context.Context) error {
		return s.api.Get(ctx, types.NamespacedName{Namespace: s.namespace, Name: "cache-auth"}, secret)
	})
	if err != nil {
		return err
	}
	s.writer.logsIn(string(secret.Data["password"]))
	if err := s.announces(ctx, "0s"); err != nil {
		return err
	}
	return s.rotation(ctx, func(a v1alpha1.ActionStatus) bool { return a.Result == v1alpha1.ActionSucceeded })
}

// announces asks for the rotation with the last token, with so much time for clients.
func (s *subject) announces(ctx context.Context, overlap string) error {
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, v1alpha1.AnnotationRotatePassword,
		fmt.Sprintf(`{"token":%q,"overlap":%q}`, s.token, overlap))
	return persistently(ctx, func(ctx context.Context) error {
		c := &v1alpha1.ValkeyCluster{}
		c.Namespace, c.Name = s.namespace, "cache"
		return s.valkey.Patch(ctx, c, client.RawPatch(types.MergePatchType, []byte(patch)))
	})
}

// rotation waits until the status says something of the last one.
func (s *subject) rotation(ctx context.Context, is func(v1alpha1.ActionStatus) bool) error {
	return persistently(ctx, func(ctx context.Context) error {
		c, err := s.status(ctx)
		if err != nil {
			return err
		}
		for _, a := range c.Status.Actions {
			if a.Token == s.token && is(a) {
				return nil
			}
		}
		return fmt.Errorf("rotation %s: %+v", s.token, c.Status.Actions)
	})
}

// persistently tries until it succeeds or the context ends.
func persistently(ctx context.Context, try func(context.Context) error) error {
	for {
		once, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := try(once)
		cancel()
		if err == nil {
			return nil
		}
		if ended := pause(ctx, 300*time.Millisecond); ended != nil {
			return fmt.Errorf("%w: %w", ended, err)
		}
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestProofThatIsNotSeen: patience that ends is a proof that was not seen, also while a
// server is being asked; another error is that error.
func TestProofThatIsNotSeen(t *testing.T) {
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		seen     func(ctx context.Context) (bool, error)
		deadline time.Duration
		unproven bool
		want     error
	}{
		"never":                       {func(context.Context) (bool, error) { return false, nil }, time.Hour, true, nil},
		"a server that hangs":         {func(ctx context.Context) (bool, error) { <-ctx.Done(); return false, ctx.Err() }, time.Hour, true, nil},
		"a server that refuses":       {func(context.Context) (bool, error) { return false, refused }, time.Hour, false, refused},
		"the Job's deadline":          {func(ctx context.Context) (bool, error) { <-ctx.Done(); return false, ctx.Err() }, time.Second, false, context.DeadlineExceeded},
		"seen":                        {func(context.Context) (bool, error) { return true, nil }, time.Hour, false, nil},
		"the Job's deadline, in time": {func(context.Context) (bool, error) { return false, nil }, time.Second, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.deadline)
				defer cancel()
				e := Env{Patience: 20 * time.Second, Sleep: func(ctx context.Context, d time.Duration) error {
					select {
					case <-time.After(d):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				}}
				err := e.until(ctx, peer{}, "it", c.seen)
				if _, unproven := errors.AsType[*UnprovenError](err); unproven != c.unproven || !c.unproven && !errors.Is(err, c.want) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

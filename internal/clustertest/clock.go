// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustertest

import (
	"context"
	"time"
)

// Clock is the real time.
type Clock struct{}

// Now is the time.
func (Clock) Now() time.Time { return time.Now() }

// Sleep waits, or returns the context's error.
func (Clock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustertest

import (
	"fmt"
	"testing"
	"time"
)

// Lap is what was written since the last one, or since the begin.
type Lap struct {
	Acknowledged int
	// Rate is how many of them in a second.
	Rate float64
	// Stall is the longest time that one client waited for an acknowledgement.
	Stall time.Duration
}

func (l Lap) String() string {
	return fmt.Sprintf("%d writes acknowledged, %.0f/s, longest stall %s", l.Acknowledged, l.Rate, l.Stall.Round(time.Millisecond))
}

// Lap waits until every client has written something more, so that no stall is left out
// that goes on, and returns what was written. A client that cannot fails the test.
func (w *Writer) Lap(tb testing.TB) Lap {
	tb.Helper()
	for _, k := range w.all {
		k.goesOn(tb)
	}
	now := time.Now()
	var lap Lap
	for _, k := range w.all {
		writes, longest := k.lap()
		lap.Acknowledged += writes
		lap.Stall = max(lap.Stall, longest)
	}
	lap.Rate = float64(lap.Acknowledged) / now.Sub(w.began).Seconds()
	w.began = now
	return lap
}

// goesOn waits for a write that begins from now on.
func (k *writing) goesOn(tb testing.TB) {
	tb.Helper()
	k.mu.Lock()
	before := k.writes
	k.mu.Unlock()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		k.mu.Lock()
		writes := k.writes
		k.mu.Unlock()
		if writes >= before+2 {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("client %s: no write is acknowledged any more", k.name)
		}
	}
}

func (k *writing) lap() (writes int, longest time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	writes, longest = k.writes, k.longest
	k.writes, k.longest = 0, 0
	return writes, longest
}

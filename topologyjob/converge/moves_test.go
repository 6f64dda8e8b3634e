// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"testing"
	"testing/synctest"

	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// TestSlotThatDoesNotMoveKeepsNoOthers: a slot that its target cannot get is in every step of a
// move. What is wrong with it is what a run ends with, once all others have moved.
func TestSlotThatDoesNotMoveKeepsNoOthers(t *testing.T) {
	for _, version := range []string{"8.1.1", "9.1.2"} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, pods := pairOf(version)
				from, to := w.Servers()[0], w.Servers()[1]
				key := slotKey(t, from)
				n := slot.OfKey(key)
				to.Put(key, 1)
				asked := slot.Ranges{{First: n, Last: n + 64}}
				desired := plan.Desired{Shards: 2, Initialized: true, BatchSlots: 4, Reshard: &plan.Reshard{From: 0, To: 1, Slots: asked}}
				out := converges(t.Context(), &wire{world: w}, pods, converge.Reshard, desired)
				if left := asked.Minus(to.Owns()); out.Result != converge.Stuck || out.Reason != converge.MoveFailed || left.Count() != 1 || !left.Contains(n) {
					t.Errorf("slots %s are left: %+v", left, out)
				}
			})
		})
	}
}

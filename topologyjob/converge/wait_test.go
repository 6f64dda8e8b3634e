// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/slot"
)

// TestARunThatDoesNotWait ends when there is nothing to do but to wait, and says for what. One
// that has something to do does that, and gives servers the time to agree.
func TestARunThatDoesNotWait(t *testing.T) {
	moved := slot.Ranges{{First: 7, Last: 7}}
	for _, away := range []bool{true, false} {
		t.Run(fmt.Sprintf("a pod is away %v", away), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, pods := pair()
				if away {
					w.Servers()[1].Stop()
				}
				began := time.Now()
				out := runs(t.Context(), &wire{world: w}, converge.Options{
					Kind: converge.Reshard, Pods: pods,
					Desired: plan.Desired{Shards: 2, Initialized: true, Durable: true, Reshard: &plan.Reshard{From: 0, To: 1, Slots: moved}},
				})
				switch took := time.Since(began); {
				case !away && (out.Result != converge.Converged || !w.Servers()[1].Owns().Covers(moved)):
					t.Errorf("%+v", out)
				case away && (out.Result != converge.Unfinished || out.Exit() == 0 || !strings.Contains(out.Message, "c-1-0") || took > 30*time.Second):
					t.Errorf("after %s: %+v", took, out)
				}
			})
		})
	}
}

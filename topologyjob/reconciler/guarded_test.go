// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"slices"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"github.com/valkey-render/valkey-render/topologyjob/guard"
)

// TestAGuardIsWhole: all policies and bindings of one release, or of none, are there.
func TestAGuardIsWhole(t *testing.T) {
	of := func(ending string) (policies, bindings map[string]bool) {
		policies, bindings = map[string]bool{}, map[string]bool{}
		for _, p := range guard.Policies(guard.Options{Suffix: ending}) {
			policies[p.Policy.Name], bindings[p.Binding.Name] = true, true
		}
		return policies, bindings
	}
	for _, ending := range []string{"", ".valkey-system.valkey-reconciler"} {
		policies, bindings := of(ending)
		if !guardIn(policies, bindings) {
			t.Errorf("%q is not found", ending)
		}
		if guardIn(policies, map[string]bool{}) {
			t.Errorf("%q holds without bindings", ending)
		}
		for n := range policies {
			left, bound := of(ending)
			delete(left, n)
			if guardIn(left, bound) {
				t.Errorf("%q is whole without %s", ending, n)
			}
		}
	}
	policies, _ := of(".a.b")
	_, bindings := of(".c.d")
	if guardIn(policies, bindings) || guardIn(nil, nil) {
		t.Error("parts of two, or nothing, make one")
	}
}

// TestAnOrphanIsTold when it has been one for a while without a break.
func TestAnOrphanIsTold(t *testing.T) {
	clock := testclock.NewFakePassiveClock(time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC))
	o := NewOrphans(clock, time.Minute)
	see := func(after time.Duration, namespace string, sets []string, want ...string) {
		t.Helper()
		clock.SetTime(clock.Now().Add(after))
		if got := o.see(namespace, sets); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	see(0, "shop", []string{"a-0"})
	see(time.Minute, "shop", []string{"b-0", "a-0"}, "a-0")
	see(0, "other", []string{"a-0"})
	see(time.Minute, "shop", []string{"b-0", "a-0"}, "a-0", "b-0")
	see(0, "shop", nil)
	see(time.Hour, "shop", []string{"a-0"})
}

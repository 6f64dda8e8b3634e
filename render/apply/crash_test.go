// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// killed is how a process that is killed looks from inside: nothing works any more.
var errKilled = errors.New("killed")

// mortal dies at its n-th write, and counts.
type mortal struct {
	mu     sync.Mutex
	writes int
	at     int
}

func (m *mortal) before(string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	if m.at > 0 && m.writes >= m.at {
		return errKilled
	}
	return nil
}

// contents is what exists of a cluster: what apply could have made, by name.
func (r *rig) contents(specs ...string) map[string]bool {
	r.t.Helper()
	out := map[string]bool{}
	for _, spec := range specs {
		for _, c := range rendered(r.t, r.namespace, spec) {
			for _, id := range c.ids() {
				out[id.Kind+"/"+id.Name] = r.exists(id.APIVersion, id.Kind, id.Name)
			}
		}
	}
	return out
}

// killedAnywhereGoesOn kills applies of a growing, a shrinking and a
// reverted cluster at random writes, and runs them again.
func killedAnywhereGoesOn(t *testing.T, newRig maker) {
	base := "replicasPerShard: 1\nresources: {limits: {memory: 1Gi}}\nstorage: {size: 2Gi}\ndeletionPolicy: Allow\n"
	small := clusterSpec(base + "shards: 1")
	large := clusterSpec(base + "shards: 2\nmetrics: {enabled: true, podMonitor: {}}\nnetworkPolicy: {enabled: true}")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, c := range []struct {
		name     string
		from, to string
	}{
		{"first apply", "", large}, {"growing", small, large}, {"shrinking", large, small},
	} {
		t.Run(c.name, func(t *testing.T) {
			// What an apply that nobody kills ends in, and how many writes it takes.
			r := newRig(t)
			if c.from != "" {
				r.apply(c.from)
			}
			whole := &mortal{}
			a := r.applier(Options{})
			a.before = whole.before
			if _, err := r.try(a, c.to); err != nil {
				t.Fatal(err)
			}
			want, lines := r.contents(small, large), r.inventoryLines()
			for range r.kills {
				at := 1 + random.IntN(whole.writes)
				r := newRig(t)
				if c.from != "" {
					r.apply(c.from)
				}
				a := r.applier(Options{Concurrency: 1})
				a.before = (&mortal{at: at}).before
				if _, err := r.try(a, c.to); err == nil || !strings.Contains(err.Error(), "killed") {
					t.Fatalf("killed at write %d: %v", at, err)
				}
				if half := at/2 + 1; random.IntN(2) == 0 {
					// And the next run dies as well.
					a.before = (&mortal{at: half}).before
					_, _ = r.try(a, c.to)
				}
				r.apply(c.to)
				if diff := cmp.Diff(want, r.contents(small, large)); diff != "" {
					t.Errorf("killed at write %d: objects (-want +got)\n%s", at, diff)
				}
				if diff := cmp.Diff(lines, r.inventoryLines()); diff != "" {
					t.Errorf("killed at write %d: inventory (-want +got)\n%s", at, diff)
				}
				if again := summary(r.apply(c.to)); len(again) != 0 {
					t.Errorf("killed at write %d: one more apply: %v", at, again)
				}
			}
		})
	}
}

// killedAndReverted: what a killed apply had made goes when its
// commit is reverted, because it was recorded before it was made.
func killedAndReverted(t *testing.T, newRig maker) {
	base := "replicasPerShard: 1\nresources: {limits: {memory: 1Gi}}\ndeletionPolicy: Allow\n"
	small, large := clusterSpec(base+"shards: 1"), clusterSpec(base+"shards: 3")
	for at := 2; at <= 8; at += 2 {
		r := newRig(t)
		r.apply(small)
		want, lines := r.contents(large), r.inventoryLines()
		a := r.applier(Options{Concurrency: 1})
		a.before = (&mortal{at: at}).before
		if _, err := r.try(a, large); err == nil && at < 7 {
			t.Fatalf("killed at write %d: it went through", at)
		}
		r.apply(small)
		if diff := cmp.Diff(want, r.contents(large)); diff != "" {
			t.Errorf("killed at write %d: objects (-want +got)\n%s", at, diff)
		}
		if diff := cmp.Diff(lines, r.inventoryLines()); diff != "" {
			t.Errorf("killed at write %d: inventory (-want +got)\n%s", at, diff)
		}
	}
}

func killedDeleteGoesOn(t *testing.T, newRig maker) {
	spec := clusterSpec("shards: 1\nprofile: Durable\nresources: {limits: {memory: 1Gi}}\nstorage: {size: 1Gi}\ndeletionPolicy: Allow\n")
	for at := 1; at <= 9; at += 2 {
		r := newRig(t)
		r.apply(spec)
		whole := Cluster{Namespace: r.namespace, Name: "cache", Complete: true}
		a := r.applier(Options{})
		a.before = (&mortal{at: at}).before
		if _, err := a.Delete(t.Context(), whole, DeleteOptions{}); err == nil {
			t.Fatalf("killed at write %d: it went through", at)
		}
		if _, err := r.applier(Options{}).Delete(t.Context(), whole, DeleteOptions{}); err != nil {
			t.Errorf("killed at write %d: %v", at, err)
		}
		for id, there := range r.contents(spec) {
			if there != strings.HasPrefix(id, "PersistentVolumeClaim/") {
				t.Errorf("killed at write %d: %s: %v", at, id, there)
			}
		}
		if r.exists("v1", "ConfigMap", "cache-inventory") {
			t.Errorf("killed at write %d: the inventory is left", at)
		}
	}
}

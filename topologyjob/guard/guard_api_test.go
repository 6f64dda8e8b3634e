// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"os"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/internal/apitest"
)

// attempt is something that somebody asks of the server, and its answer.
type attempt struct {
	name string
	// specs are clusters that are there, one named orders by default.
	specs []string
	// setup comes before, and the server has noticed it when act runs.
	setup func(*rig)
	// as is who asks, the administrator by default.
	as func(*rig) client.Client
	// act asks. It is called again until the server has noticed what setup did.
	act func(*rig, client.Client) error
	// by is the policy that denies it and with what words, NS being the namespace;
	// none when it is allowed.
	by, words string
}

// durable is a cluster of three shards with claims.
const durable = "{profile: Durable, shards: 3, replicasPerShard: 1, resources: {limits: {memory: 1Gi}}, storage: {size: 1Gi}}"

func orders() string { return valkeyCluster("orders", durable) }

// attempts are all of them.
func attempts() []attempt {
	return slices.Concat(shardAttempts(), scaleAttempts(), labelAttempts(), clusterAttempts(), claimAttempts(), dataAttempts(), secretAttempts(), podAttempts(), ownAttempts(), jobAttempts(), definitionAttempts())
}

// TestAPIServerGuard loads the file that people apply and tries everything, once with
// the guard and, what was denied, once without.
func TestAPIServerGuard(t *testing.T) {
	apitest.Install(t)
	file, err := os.ReadFile(plainFile)
	if err != nil {
		t.Fatal(err)
	}
	install(t, string(file))
	all := attempts()
	// Those that are denied wait until the policies are in force.
	slices.SortStableFunc(all, func(a, b attempt) int { return order(a) - order(b) })
	t.Run("with the guard", func(t *testing.T) {
		for _, a := range all {
			t.Run(a.name, func(t *testing.T) {
				t.Parallel()
				a.guarded(t)
			})
		}
	})
	uninstall(t, string(file))
	t.Run("without it", func(t *testing.T) {
		for _, a := range all {
			if a.by == "" {
				continue
			}
			t.Run(a.name, func(t *testing.T) {
				t.Parallel()
				r, c := a.begin(t)
				r.settled(false, c, a.act)
				if err := a.act(r, c); err != nil {
					t.Errorf("it is not the guard that denies it: %v", err)
				}
			})
		}
	})
}

func order(a attempt) int {
	if a.by == "" {
		return 1
	}
	return 0
}

// begin makes what there is before the attempt.
func (a attempt) begin(t *testing.T) (*rig, client.Client) {
	t.Helper()
	r := newRig(t)
	specs := a.specs
	if specs == nil {
		specs = []string{orders()}
	}
	for _, s := range specs {
		r.live(s)
	}
	if a.setup != nil {
		a.setup(r)
	}
	c := r.client
	if a.as != nil {
		c = a.as(r)
	}
	return r, c
}

func (a attempt) guarded(t *testing.T) {
	r, c := a.begin(t)
	r.settled(a.by != "", c, a.act)
	before := r.shards()
	err := a.act(r, c)
	if a.by == "" {
		if err != nil {
			t.Errorf("denied: %v", err)
		}
		return
	}
	r.isDenied(err, a.by, a.words)
	if after := r.shards(); len(after) == 0 && len(before) > 0 || !sameShards(before, after) {
		t.Errorf("StatefulSets were %v and are %v", before, after)
	}
	// What the message says to do lets it pass, if only in the end: a shard that has its
	// label back is still a guarded shard.
	for range 3 {
		if err == nil || !r.wayOut(err.Error()) {
			return
		}
		first := err.Error()
		until(t, "another answer than "+first, func() bool {
			err = a.act(r, client.NewDryRunClient(c))
			return err == nil || err.Error() != first
		})
	}
	if err != nil {
		t.Errorf("three ways out later: %v", err)
	}
}

// shards are the StatefulSets that are not being deleted, with their pods.
func (r *rig) shards() map[types.UID]int32 {
	r.t.Helper()
	var list appsv1.StatefulSetList
	r.must(r.client.List(r.t.Context(), &list, client.InNamespace(r.namespace)))
	out := map[types.UID]int32{}
	for _, s := range list.Items {
		if s.DeletionTimestamp == nil {
			out[s.UID] = *s.Spec.Replicas
		}
	}
	return out
}

func sameShards(a, b map[types.UID]int32) bool {
	for uid, pods := range a {
		if b[uid] != pods {
			return false
		}
	}
	return len(a) == len(b)
}

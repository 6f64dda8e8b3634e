// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"fmt"
	"os"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

func (r *runbook) look() {
	r.Helper()
	if got, want := r.does("Get the password", 0), r.password("cache-auth", "password"); got != want || len(got) < 16 {
		r.Errorf("password: %d characters, the Secret has %d", len(got), len(want))
	}
	out := r.does("Look at topology and lag", 0)
	r.shows(out, 3, 1)
	for _, want := range []string{"valkeynode.valkey-render.dev/", "role:master", "connected_slaves:1", "lag InSync"} {
		if !strings.Contains(out, want) {
			r.Errorf("no %q:\n%s", want, out)
		}
	}
}

// live: every server has the directive, and none was restarted.
func (r *runbook) live() {
	r.Helper()
	before := r.servers()
	if out := r.does("Change a directive", 0); !strings.HasSuffix(out, "slowlog-log-slower-than\n5000\n") {
		r.Errorf("slowlog-log-slower-than: %s", out)
	}
	password := r.password("cache-auth", "password")
	for pod := range before {
		if out := r.inside(pod, password, "valkey-cli CONFIG GET slowlog-log-slower-than"); !strings.HasSuffix(out, "5000") {
			r.Errorf("pod %s: %s", pod, out)
		}
	}
	r.same(before)
}

// rotation: both passwords log in at every server while they overlap, and the new one alone
// after that; the exporters are told.
func (r *runbook) rotation() {
	r.Helper()
	before, old := r.servers(), r.password("cache-auth", "password")
	r.does("Rotate the generated password", 0)
	fresh := r.password("cache-auth", "password")
	if previous := r.password("cache-auth", "password.previous"); fresh == old || previous != old {
		r.Errorf("the password is another one: %t, the previous one is the old: %t", fresh != old, previous == old)
	}
	for pod := range before {
		for _, password := range []string{old, fresh} {
			if err := r.takes(pod, password, true); err != nil {
				r.Error(err)
			}
		}
	}
	if os.Getenv("LOCALCLUSTER") != "" {
		r.until(patience, func() error { return r.reloaded(before) })
	}
	r.does("Rotate the generated password", 1)
	for pod := range before {
		if err := r.takes(pod, fresh, true); err != nil {
			r.Error(err)
		}
		if err := r.takes(pod, old, false); err != nil {
			r.Error(err)
		}
	}
	if _, has := get(r.place, "cache-auth", &corev1.Secret{}).Data["password.previous"]; has {
		r.Error("the Secret still has a previous password")
	}
	r.same(before)
	r.reads()
}

// reloaded is nil when the exporter of every pod was asked to read its password again.
func (r *runbook) reloaded(pods map[string]types.UID) error {
	for pod := range pods {
		if out := r.logs(pod, "exporter"); !strings.Contains(out, "reload") {
			return fmt.Errorf("the exporter of pod %s was not asked to reload: %q", pod, out)
		}
	}
	return nil
}

func (r *runbook) failover() {
	r.Helper()
	was := r.shard(0)
	out := r.does("Make a replica the primary", 0, "SHARD=0")
	if !strings.Contains(out, "failover Succeeded: ") {
		r.Error(out)
	}
	if is := r.shard(0); is.Primary != was.Replicas[0] {
		r.Errorf("the primary is %s, want %s", is.Primary, was.Replicas[0])
	}
	r.until(patience, func() error { return r.whole(3, 1) })
	r.reads()
}

// crash: the primary's pod is deleted by force, and every key is there again.
func (r *runbook) crash() {
	r.Helper()
	primary := r.shard(1).Primary
	old := r.pod(primary)
	if err := r.api.Delete(r.Context(), old, client.GracePeriodSeconds(0)); err != nil {
		r.Fatal(err)
	}
	r.until(patience, func() error {
		pod, err := r.newer(primary, old.UID)
		if err == nil && !ready(pod) {
			err = fmt.Errorf("pod %s is not ready", primary)
		}
		return err
	})
	r.does("A primary crashes", 0)
	r.until(patience, func() error { return r.whole(3, 1) })
	r.reads()
}

// whole is nil when the cluster is Ready, and every shard has so many replicas in sync.
func (r *runbook) whole(shards, replicas int) error {
	c := r.cluster()
	if c.Status.State != v1alpha1.StateReady || c.Status.ObservedGeneration != c.Generation || len(c.Status.ShardDetails) != shards {
		return fmt.Errorf("%s %s: %s", c.Status.State, c.Status.Reason, c.Status.Message)
	}
	for _, s := range c.Status.ShardDetails {
		if len(s.Replicas) != replicas || !s.InSync {
			return fmt.Errorf("shard %d: %d replicas, in sync: %t", s.Index, len(s.Replicas), s.InSync)
		}
	}
	return nil
}

// restarts: of one shard the pods of that alone are new, then all are.
func (r *runbook) restarts() {
	r.Helper()
	before := r.servers()
	if out := r.does("Restart one shard", 0, "SHARD=2"); !strings.Contains(out, "restart-shard Succeeded: 2 pods") {
		r.Error(out)
	}
	after := r.servers()
	for pod, uid := range before {
		if is, want := after[pod] != uid, strings.HasPrefix(pod, "cache-2-"); is != want {
			r.Errorf("pod %s is new: %t, want %t", pod, is, want)
		}
	}
	before = after
	if out := r.does("Restart all pods in order", 0); !strings.Contains(out, "restart Succeeded: 6 pods") {
		r.Error(out)
	}
	after = r.servers()
	for pod, uid := range before {
		if after[pod] == uid {
			r.Errorf("pod %s is the same", pod)
		}
	}
	r.reads()
}

func (r *runbook) replicas() {
	r.Helper()
	before := r.servers()
	r.shows(r.does("More or fewer replicas", 0), 3, 2)
	r.same(before)
	r.does("More or fewer replicas", 1)
	r.until(patience, func() error { return r.count(name.ComponentServer, 6) })
	r.until(patience, func() error { return r.whole(3, 1) })
	r.same(before)
	if claim := r.claim("data-cache-0-2"); claim.DeletionTimestamp != nil {
		r.Error("the claim of a replica that is gone is deleted")
	}
	r.reads()
}

func (r *runbook) reshard() {
	r.Helper()
	from, to := r.shard(0).SlotCount, r.shard(1).SlotCount
	out := r.does("Move slots by hand", 0)
	if !strings.Contains(out, "reshard Succeeded: ") {
		r.Error(out)
	}
	if r.shard(0).SlotCount != from-100 || r.shard(1).SlotCount != to+100 {
		r.Errorf("shard 0 has %d slots and had %d, shard 1 %d and %d", r.shard(0).SlotCount, from, r.shard(1).SlotCount, to)
	}
	r.reads()
}

func (r *runbook) storage() {
	r.Helper()
	before := r.servers()
	r.does("Expand storage", 0)
	r.until(patience, func() error {
		for pod := range before {
			if has := storage(r.claim("data-" + pod).Status.Capacity); has != "2Gi" {
				return fmt.Errorf("the claim of pod %s has %s", pod, has)
			}
		}
		return nil
	})
	r.same(before)
}

// recovers: a look says that all is well, and a retry disturbs nobody.
func (r *runbook) recovers() {
	r.Helper()
	before := r.servers()
	if out := r.does("Recover from Failed", 0); !strings.HasPrefix(out, "Ready ClusterHealthy: ") {
		r.Error(out)
	}
	if out := r.does("Recover from Failed", 1); !strings.Contains(out, "retry Succeeded: ") {
		r.Error(out)
	}
	r.same(before)
}

func (r *runbook) hibernation() {
	r.Helper()
	r.does("Hibernate and wake", 0)
	if n := len(r.servers()); n > 0 {
		r.Errorf("%d pods", n)
	}
	r.shows(r.does("Hibernate and wake", 1), 3, 1)
	r.reads()
}

// deletion: what was deleted without its data and made anew has its keys.
func (r *runbook) deletion() {
	r.Helper()
	password := r.password("cache-auth", "password")
	r.does("Delete a cluster and keep its data", 0)
	if n := len(r.servers()); n > 0 {
		r.Errorf("%d pods", n)
	}
	r.shows(r.does("Create a cluster", 0), 3, 1)
	if r.password("cache-auth", "password") != password {
		r.Error("the password is another one")
	}
	r.reads()
}

// destruction: nothing is left of what was deleted with its data.
func (r *runbook) destruction() {
	r.Helper()
	r.does("Delete a cluster and keep its data", 0)
	r.does("Delete a cluster and its data", 0)
	of := []client.ListOption{client.InNamespace(r.namespace), client.MatchingLabels{name.LabelCluster: "cache"}}
	r.until(patience, func() error {
		for _, list := range []client.ObjectList{
			&corev1.PersistentVolumeClaimList{}, &corev1.SecretList{}, &corev1.ConfigMapList{}, &corev1.ServiceList{}, &appsv1.StatefulSetList{},
		} {
			if err := r.api.List(r.Context(), list, of...); err != nil {
				return err
			}
			if n := meta.LenList(list); n > 0 {
				return fmt.Errorf("%d of %T", n, list)
			}
		}
		return nil
	})
}

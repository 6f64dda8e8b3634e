// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// condition is one of a cluster, as status/reason.
func condition(c *v1alpha1.ValkeyCluster, kind string) string {
	for _, condition := range c.Status.Conditions {
		if condition.Type == kind {
			return string(condition.Status) + "/" + condition.Reason
		}
	}
	return "absent"
}

// TestClusterReconcilerFormsRollsAndScales: a Cluster from nothing, a roll with a handover
// in each shard, one more shard and one less, and every key is there at the end.
func TestClusterReconcilerFormsRollsAndScales(t *testing.T) {
	p := newPlace(t)
	p.reconciles()
	const small = `replicasPerShard: 1, delivery: GitOps, resources: {requests: {cpu: 10m, memory: 32Mi}, limits: {memory: 64Mi}}`
	p.applied(`{shards: 3, ` + small + `}`)
	formed := p.isReadyCluster(nil)
	for i := range 30 {
		if out, err := p.asks("cache-0-0", "set", fmt.Sprintf("key:%d", i), "value"); err != nil || out != "OK" {
			t.Fatalf("set: %v %s", err, out)
		}
	}
	p.applied(`{shards: 3, config: {tcp-backlog: "600"}, ` + small + `}`)
	rolled := p.isReadyCluster(p.rolled)
	p.applied(`{shards: 4, config: {tcp-backlog: "600"}, ` + small + `}`)
	out := p.isReadyCluster(func(c *v1alpha1.ValkeyCluster) error { return slotsOf(c, 4, 4096) })
	p.applied(`{shards: 3, config: {tcp-backlog: "600"}, ` + small + `}`)
	in := p.isReadyCluster(func(c *v1alpha1.ValkeyCluster) error {
		if n := len(p.pods(name.LabelComponent, name.ComponentServer)); n != 6 {
			return fmt.Errorf("%d pods", n)
		}
		return slotsOf(c, 3, 5461)
	})
	t.Logf("formed in %s, rolled in %s, out in %s, in in %s", formed, rolled, out, in)
	if err := p.has(30); err != nil {
		t.Error(err)
	}
	p.withoutAReconciler()
}

// has is nil when so many keys are read.
func (p *place) has(keys int) error {
	p.Helper()
	for i := range keys {
		if out, err := p.asks("cache-0-0", "get", fmt.Sprintf("key:%d", i)); err != nil || out != "value" {
			return fmt.Errorf("get key:%d: %w %q", i, err, out)
		}
	}
	return nil
}

// withoutAReconciler: while nobody reconciles, a primary ends, and the servers go on with its
// replica. The reconciler that comes back tells the truth, starts no Job and restarts no pod.
func (p *place) withoutAReconciler() {
	p.Helper()
	p.until(patience, p.idle)
	p.goes()
	primary := p.cluster().Status.ShardDetails[1].Primary
	// The connection ends with the server, which is no answer.
	_, _ = p.asks(primary, "shutdown", "nosave", "now", "force")
	p.until(patience, func() error {
		pod := p.pod(primary)
		if restarts(pod) == 0 || !ready(pod) {
			return fmt.Errorf("pod %s: %d restarts, ready: %t", primary, restarts(pod), ready(pod))
		}
		return nil
	})
	p.until(patience, func() error { return p.has(30) })
	before := p.identities()
	p.comes()
	p.isReadyCluster(func(c *v1alpha1.ValkeyCluster) error {
		if is := c.Status.ShardDetails[1]; is.Primary == primary || !is.InSync {
			return fmt.Errorf("shard 1: %+v", is)
		}
		return nil
	})
	for of, uid := range p.identities() {
		if before[of] != uid {
			p.Errorf("%s is new", of)
		}
	}
}

// idle is nil when every Job has ended, and the servers know of nobody but each other.
func (p *place) idle() error {
	var jobs batchv1.JobList
	if err := p.api.List(p.Context(), &jobs, client.InNamespace(p.namespace)); err != nil {
		return err
	}
	for _, job := range jobs.Items {
		if job.Status.CompletionTime == nil {
			return fmt.Errorf("Job %s has not completed", job.Name)
		}
	}
	servers := len(p.pods(name.LabelComponent, name.ComponentServer))
	out, err := p.asks("cache-0-0", "cluster", "nodes")
	if err == nil && strings.Count(out, "\n")+1 != servers {
		err = fmt.Errorf("%d servers, and they know\n%s", servers, out)
	}
	return err
}

// identities are the UIDs of the cluster's Jobs and data pods.
func (p *place) identities() map[string]types.UID {
	p.Helper()
	uids := map[string]types.UID{}
	for _, pod := range p.pods(name.LabelComponent, name.ComponentServer) {
		uids["pod "+pod.Name] = pod.UID
	}
	var jobs batchv1.JobList
	if err := p.api.List(p.Context(), &jobs, client.InNamespace(p.namespace)); err != nil {
		p.Fatal(err)
	}
	for _, job := range jobs.Items {
		uids["Job "+job.Name] = job.UID
	}
	return uids
}

// slotsOf is nil when that many shards have about as many slots each.
func slotsOf(c *v1alpha1.ValkeyCluster, shards int, each int32) error {
	if len(c.Status.ShardDetails) != shards {
		return fmt.Errorf("%d shards", len(c.Status.ShardDetails))
	}
	for _, s := range c.Status.ShardDetails {
		if s.SlotCount < each-1 || s.SlotCount > each+1 {
			return fmt.Errorf("shard %d has %d slots", s.Index, s.SlotCount)
		}
	}
	return nil
}

// TestClusterReconcilerReplacesAPrimary: a Replication is made of nothing but its
// ValkeyCluster, its primary's pod is deleted by force, the next primary hangs, and writes go
// on through the Service of the primary. All of it goes with the ValkeyCluster.
func TestClusterReconcilerReplacesAPrimary(t *testing.T) {
	p := newPlace(t)
	p.reconciles()
	c := &v1alpha1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "cache"}}
	c.Spec = v1alpha1.ValkeyClusterSpec{Topology: v1alpha1.TopologyReplication, Replicas: new(int32(3)), Config: map[string]string{"busy-reply-threshold": "0"}}
	if err := p.nodesAPI().Create(p.Context(), c); err != nil {
		t.Fatal(err)
	}
	formed := p.isReadyCluster(nil)
	v := p.visitor()
	password := p.password("cache-auth", "password")
	v.soon("cache-primary", password, "OK", "set", "before", "1")
	first := p.cluster().Status.Primary
	if out, err := p.asks(first, "wait", "2", "5000"); err != nil || out != "2" {
		t.Fatalf("wait: %v %s", err, out)
	}
	pod := p.pod(first)
	if err := p.api.Delete(p.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	replaced := p.isReplaced(first)
	v.soon("cache-primary", password, "OK", "set", "after", "1")
	v.soon("cache-primary", password, "1", "get", "before")
	p.isReadyCluster(nil)
	second := p.cluster().Status.Primary
	old := p.pod(second).UID
	slept := make(chan error, 1)
	go func() {
		_, err := p.exec(second, password+"\n", "sh", "-c", `read -r VALKEYCLI_AUTH; export VALKEYCLI_AUTH; exec valkey-cli eval "while true do end" 0`)
		slept <- err
	}()
	hung := p.isReplaced(second)
	v.soon("cache-primary", password, "1", "get", "after")
	p.isReadyCluster(nil)
	// The exec ends with the pod that it was in.
	if now := p.pod(second); now.UID == old {
		t.Errorf("pod %s, which hung, is still there", second)
	}
	t.Logf("the script without end: %v", <-slept)
	t.Logf("formed in %s, replaced in %s, and in %s when it hung", formed, replaced, hung)
	if err := p.nodesAPI().Delete(p.Context(), c); err != nil {
		t.Fatal(err)
	}
	p.until(patience, func() error { return p.count(name.ComponentServer, 0) })
}

// isReplaced waits until the status has another primary than a pod, and returns how long
// that took.
func (p *place) isReplaced(primary string) time.Duration {
	p.Helper()
	begun := time.Now()
	p.until(patience, func() error {
		if now := p.cluster().Status.Primary; now == "" || now == primary {
			return fmt.Errorf("the primary is %q", now)
		}
		return nil
	})
	return time.Since(begun)
}

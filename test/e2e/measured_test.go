// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/traffic"
	"github.com/valkey-render/valkey-render/render/name"
)

// measured is a cluster whose times are measured: what is waited for is looked at often, by
// one client.
type measured struct {
	*place
	b      *testing.B
	valkey client.Client
}

// Specs of clusters that are measured.
const (
	sharded    = `{shards: 3, replicasPerShard: 1, delivery: GitOps, resources: {requests: {cpu: 10m, memory: 64Mi}, limits: {memory: 128Mi}}`
	replicated = `{topology: Replication, replicas: 3, delivery: GitOps, resources: {requests: {cpu: 10m, memory: 64Mi}, limits: {memory: 128Mi}}`
)

// newMeasured makes a place whose reconciler is at work. What runs there is gone at the end,
// so that the next one is measured alone.
func newMeasured(b *testing.B) *measured {
	b.Helper()
	m := &measured{b: b}
	b.Cleanup(func() { m.gone() })
	m.place = newPlace(b)
	m.valkey = m.nodesAPI()
	m.reconciles()
	m.until(patience, func() error {
		lease := &coordinationv1.Lease{}
		return m.api.Get(b.Context(), types.NamespacedName{Namespace: m.namespace, Name: name.ReconcilerLease("")}, lease)
	})
	return m
}

// gone waits until nothing of the namespace is left. It runs when the context has ended.
func (m *measured) gone() {
	if m.place == nil {
		return
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		err := m.api.Get(context.Background(), types.NamespacedName{Name: m.namespace}, &corev1.Namespace{})
		if apierrors.IsNotFound(err) {
			return
		}
	}
	m.b.Errorf("namespace %s is not gone", m.namespace)
}

// takes waits until something holds of the cluster, which is Ready of its newest
// generation, and returns how long ago it was begun.
func (m *measured) takes(begun time.Time, holds func(*v1alpha1.ValkeyCluster) error) time.Duration {
	m.Helper()
	var last error
	for end := time.Now().Add(2 * patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		c := &v1alpha1.ValkeyCluster{}
		if last = m.valkey.Get(m.Context(), types.NamespacedName{Namespace: m.namespace, Name: "cache"}, c); last != nil {
			continue
		}
		took := time.Since(begun)
		if last = readyAnd(c, holds); last == nil {
			return took
		}
	}
	m.Fatalf("after %s still: %v", 2*patience, last)
	return 0
}

// readyAnd is nil when the status says Ready of the newest generation and something holds.
func readyAnd(c *v1alpha1.ValkeyCluster, holds func(*v1alpha1.ValkeyCluster) error) error {
	if s := c.Status; s.State != v1alpha1.StateReady || s.ObservedGeneration != c.Generation {
		return fmt.Errorf("%s %s: %s", s.State, s.Reason, s.Message)
	}
	return holds(c)
}

// formed applies a spec and waits until it is Ready.
func (m *measured) formed(spec string) time.Duration {
	m.Helper()
	begun := time.Now()
	m.applied(spec + "}")
	return m.takes(begun, func(c *v1alpha1.ValkeyCluster) error {
		if want := c.Status.Shards; c.Status.ReadyShards != want || want == 0 {
			return fmt.Errorf("%d of %d shards are ready", c.Status.ReadyShards, want)
		}
		return nil
	})
}

// rolled is nil when every data pod is of the newest revision of its StatefulSet.
func (p *place) rolled(c *v1alpha1.ValkeyCluster) error {
	for _, pod := range p.pods(name.LabelComponent, name.ComponentServer) {
		shard := pod.Name[:strings.LastIndexByte(pod.Name, '-')]
		if want := p.set(shard).Status.UpdateRevision; pod.Labels["controller-revision-hash"] != want {
			return fmt.Errorf("pod %s is not of revision %s", pod.Name, want)
		}
	}
	if got := condition(c, v1alpha1.ConditionConfigApplied); got != "True/"+v1alpha1.ReasonApplied {
		return errors.New(got)
	}
	return nil
}

// spread is whether so many shards have about as many slots each, and no other has pods.
func (p *place) spread(shards int) func(*v1alpha1.ValkeyCluster) error {
	return func(c *v1alpha1.ValkeyCluster) error {
		if n := len(p.pods(name.LabelComponent, name.ComponentServer)); n != 2*shards {
			return fmt.Errorf("%d pods", n)
		}
		return slotsOf(c, shards, name.SlotCount/int32(shards))
	}
}

// report hands what was written meanwhile on to the table of test/bench. What is lost though
// no primary has died is a failure.
func (m *measured) report(took time.Duration, r traffic.Report, orderly bool) {
	m.Helper()
	if took > 0 {
		m.b.ReportMetric(took.Seconds(), "s")
	}
	m.b.ReportMetric(0, "ns/op") // which leaves it out
	m.b.ReportMetric(r.LongestStall.Milliseconds, "stall-ms")
	m.b.ReportMetric(float64(r.Failed), "failed")
	m.b.ReportMetric(float64(r.Lost), "lost")
	m.b.ReportMetric(r.LateMilliseconds, "late-ms")
	m.Log(r)
	if orderly && r.Lost > 0 {
		m.Errorf("%d keys lost, such as %+v", r.Lost, r.LostKeys[0])
	}
}

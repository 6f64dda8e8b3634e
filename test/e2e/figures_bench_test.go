// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// The benchmarks measure what docs/development.md has a table of, each on a cluster of its
// own. `make bench-live` runs them on a local Kubernetes.

// BenchmarkForm: from apply to Ready.
func BenchmarkForm(b *testing.B) {
	for b.Loop() {
		m := newMeasured(b)
		b.ReportMetric(m.formed(sharded).Seconds(), "s")
		b.ReportMetric(0, "ns/op")
	}
}

// BenchmarkFormReplication is the same with topology Replication.
func BenchmarkFormReplication(b *testing.B) {
	for b.Loop() {
		m := newMeasured(b)
		b.ReportMetric(m.formed(replicated).Seconds(), "s")
		b.ReportMetric(0, "ns/op")
	}
}

// BenchmarkRoll: every pod is replaced for a directive that servers read when they start.
func BenchmarkRoll(b *testing.B) {
	for b.Loop() {
		m := newMeasured(b)
		m.formed(sharded)
		w := m.writes(m.toCluster()...)
		begun := time.Now()
		m.applied(sharded + `, config: {tcp-backlog: "600"}}`)
		took := m.takes(begun, m.rolled)
		m.report(took, w.stop(), true)
	}
}

// BenchmarkScaleOut: a fourth shard, with a quarter of the slots.
func BenchmarkScaleOut(b *testing.B) {
	for b.Loop() {
		m := newMeasured(b)
		m.formed(sharded)
		w := m.writes(m.toCluster()...)
		begun := time.Now()
		m.applied(with(sharded, 4))
		took := m.takes(begun, m.spread(4))
		m.report(took, w.stop(), true)
	}
}

// BenchmarkScaleIn: the fourth of four shards, and its pods, are gone.
func BenchmarkScaleIn(b *testing.B) {
	for b.Loop() {
		m := newMeasured(b)
		m.applied(with(sharded, 4))
		m.takes(time.Now(), m.spread(4))
		w := m.writes(m.toCluster()...)
		begun := time.Now()
		m.applied(with(sharded, 3))
		took := m.takes(begun, m.spread(3))
		m.report(took, w.stop(), true)
	}
}

// with is a spec with another number of shards, to its end.
func with(spec string, shards int) string {
	return fmt.Sprintf("{shards: %d%s}", shards, strings.TrimPrefix(spec, "{shards: 3"))
}

// BenchmarkKill: the process of a primary ends at once. Other shards go on.
func BenchmarkKill(b *testing.B) {
	for b.Loop() {
		m := newMeasured(b)
		m.formed(sharded)
		w := m.writes(m.toCluster()...)
		dies := m.cluster().Status.ShardDetails[1]
		begun := time.Now()
		m.signals(dies.Primary, syscall.SIGKILL)
		m.isAnother(w, dies.Primary)
		m.takes(begun, func(c *v1alpha1.ValkeyCluster) error { return slotsOf(c, 3, 5461) })
		r := w.stop()
		m.report(0, r, false)
		var others float64
		for _, s := range r.Shards {
			if s.Slots != dies.SlotRanges[0] {
				others = max(others, s.LongestStall.Milliseconds)
			}
		}
		b.ReportMetric(others, "others-ms")
	}
}

// BenchmarkReplicationDelete: the primary's pod is deleted by force.
func BenchmarkReplicationDelete(b *testing.B) {
	replaced(b, func(m *measured, primary *corev1.Pod) {
		if err := m.api.Delete(b.Context(), primary, client.GracePeriodSeconds(0)); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkReplicationKill: the primary's process ends at once, and is started again.
func BenchmarkReplicationKill(b *testing.B) {
	replaced(b, func(m *measured, primary *corev1.Pod) { m.signals(primary.Name, syscall.SIGKILL) })
}

// BenchmarkReplicationFreeze: the primary's process is there and does nothing.
func BenchmarkReplicationFreeze(b *testing.B) {
	replaced(b, func(m *measured, primary *corev1.Pod) { m.signals(primary.Name, syscall.SIGSTOP) })
}

// replaced measures how long nobody can write through the Service of the primary after
// something was done to it.
func replaced(b *testing.B, done func(*measured, *corev1.Pod)) {
	b.Helper()
	for b.Loop() {
		m := newMeasured(b)
		m.formed(replicated)
		w := m.writes(m.toPrimary()...)
		primary := m.cluster().Status.Primary
		begun := time.Now()
		done(m, m.pod(primary))
		m.isAnother(w, primary)
		m.takes(begun, func(c *v1alpha1.ValkeyCluster) error {
			if c.Status.Primary == primary {
				return fmt.Errorf("the primary is still %s", primary)
			}
			return nil
		})
		m.report(0, w.stop(), false)
	}
}

func (m *measured) signals(pod string, signal syscall.Signal) {
	m.Helper()
	if err := signalled(m.pod(pod), server, signal); err != nil {
		m.Fatal(err)
	}
}

// isAnother waits until the status names another primary for what a pod was the primary of,
// and every connection writes again.
func (m *measured) isAnother(w *writing, primary string) {
	m.Helper()
	m.until(2*patience, func() error {
		s := m.cluster().Status
		if s.Primary == primary {
			return fmt.Errorf("the primary is still %s", primary)
		}
		for _, shard := range s.ShardDetails {
			if shard.Primary == primary {
				return fmt.Errorf("the primary of shard %d is still %s", shard.Index, primary)
			}
		}
		return nil
	})
	w.flows()
}

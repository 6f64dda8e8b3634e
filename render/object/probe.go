// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/conf"
	"github.com/valkey-render/valkey-render/render/script"
)

// startupPeriod is how often a starting server is asked, in seconds: a pod is
// ready no sooner than its startup probe says so.
const startupPeriod = 2

// promotionSeconds is how long a primary that lost its data may wait for a replica
// of its shard to be promoted: ten times the longest of usual node timeouts. The
// timeout itself is a live directive and must not be in a probe.
const promotionSeconds = 60

// unknownSizeSeconds is for data of any size: 36 GiB at 10 MiB a second.
const unknownSizeSeconds = 3600

// startupSeconds is how long a data pod may take until it has loaded its data. It
// depends only on what rolls pods anyway: spec.config[maxmemory] and
// memory.maxmemoryPercent apply live and storage.size grows the volume, and a probe
// must not make them roll.
func startupSeconds(c *v1alpha1.ValkeyCluster) int32 {
	var fixed v1alpha1.ValkeyCluster
	fixed.Spec.Topology, fixed.Spec.Profile, fixed.Spec.Version = c.Spec.Topology, c.Spec.Profile, c.Spec.Version
	fixed.Spec.Resources = c.Spec.Resources
	seconds := conf.StartupBudgetSeconds(&fixed) + script.RoleSeconds
	if c.Persisted() && c.Spec.Resources.Limits.Memory().IsZero() {
		// Only the volume tells the size of the data, and it grows without a roll.
		seconds = unknownSizeSeconds
	}
	if c.IsCluster() && !c.Persisted() {
		seconds += promotionSeconds
	}
	return seconds
}

func startupProbe(seconds int32) *corev1.Probe {
	return probe(script.ProbeStartup, startupPeriod, (seconds+startupPeriod-1)/startupPeriod)
}

// livenessProbe gives a server that does not answer at all one minute.
func livenessProbe() *corev1.Probe { return probe(script.ProbeLiveness, 10, 6) }

func readinessProbe() *corev1.Probe { return probe(script.ProbeReadiness, 5, 3) }

func probe(kind string, period, failures int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:     corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: command(script.Probe, kind)}},
		PeriodSeconds:    period,
		TimeoutSeconds:   script.ProbeTimeoutSeconds,
		FailureThreshold: failures,
	}
}

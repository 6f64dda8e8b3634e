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

// startupSeconds is how long a data pod may take until it has loaded its data. It
// depends only on what rolls pods anyway: spec.config[maxmemory] and
// memory.maxmemoryPercent apply live, and a probe must not make them roll.
func startupSeconds(c *v1alpha1.ValkeyCluster) int32 {
	var fixed v1alpha1.ValkeyCluster
	fixed.Spec.Topology, fixed.Spec.Profile, fixed.Spec.Version = c.Spec.Topology, c.Spec.Profile, c.Spec.Version
	fixed.Spec.Resources, fixed.Spec.Storage = c.Spec.Resources, c.Spec.Storage
	seconds := conf.StartupBudgetSeconds(&fixed) + script.RoleSeconds
	if waitsForElection(c) {
		seconds += int32(2 * c.NodeTimeout().Seconds())
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

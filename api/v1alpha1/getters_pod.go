// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	// ContainerServer is the name of the container that runs the server, in data
	// and Sentinel pods.
	ContainerServer = "server"
	// ContainerExporter is the name of the exporter sidecar.
	ContainerExporter = "exporter"

	// minGraceSeconds is what Kubernetes gives a pod by default.
	minGraceSeconds = 30
	// graceBufferSeconds is what a server needs beside the failover itself.
	graceBufferSeconds = 10
	// manualFailoverMillis is the server's default cluster-manual-failover-timeout.
	manualFailoverMillis = 5000

	jobTolerationSeconds = 5
)

// Spread is how strictly each set of pods is spread on one axis.
//
// +kubebuilder:object:generate=false
type Spread struct {
	// Shard is for the members of one shard.
	Shard SpreadMode
	// Primaries is for the first pods of all shards.
	Primaries SpreadMode
	// Pods is for all pods of the cluster.
	Pods SpreadMode
}

// NodeSpread returns how pods are spread over nodes; the members of a shard are
// kept apart where possible unless the spec says otherwise.
func (c *ValkeyCluster) NodeSpread() Spread {
	s := Spread{Shard: SpreadPreferred, Primaries: SpreadDisabled, Pods: SpreadDisabled}
	if c.Spec.Scheduling != nil && c.Spec.Scheduling.Node != nil {
		s.take(c.Spec.Scheduling.Node.Spread)
	}
	return s
}

// ZoneSpread returns how pods are spread over zones; not at all by default.
func (c *ValkeyCluster) ZoneSpread() Spread {
	s := Spread{Shard: SpreadDisabled, Primaries: SpreadDisabled, Pods: SpreadDisabled}
	if c.Spec.Scheduling != nil && c.Spec.Scheduling.Zone != nil {
		s.take(c.Spec.Scheduling.Zone.Spread)
	}
	return s
}

// take overwrites the modes that the spec sets.
func (s *Spread) take(spec *SpreadSpec) {
	if spec == nil {
		return
	}
	for _, d := range []struct {
		from *SpreadDimension
		to   *SpreadMode
	}{{spec.Shard, &s.Shard}, {spec.Primaries, &s.Primaries}, {spec.Pods, &s.Pods}} {
		if d.from != nil && d.from.Mode != "" {
			*d.to = d.from.Mode
		}
	}
}

// PinnedZones returns the zones that the pods are pinned to; nil for any.
func (c *ValkeyCluster) PinnedZones() []string {
	if c.Spec.Scheduling == nil || c.Spec.Scheduling.Zone == nil || c.Spec.Scheduling.Zone.Pinning == nil {
		return nil
	}
	return c.Spec.Scheduling.Zone.Pinning.Zones
}

// BudgetMode says what one PodDisruptionBudget covers; a shard by default.
func (c *ValkeyCluster) BudgetMode() PodDisruptionBudgetMode {
	if c.Spec.PodDisruptionBudget == nil || c.Spec.PodDisruptionBudget.Mode == "" {
		return BudgetShard
	}
	return c.Spec.PodDisruptionBudget.Mode
}

// BudgetMaxUnavailable returns how many pods of one budget may be evicted; 1 by
// default.
func (c *ValkeyCluster) BudgetMaxUnavailable() intstr.IntOrString {
	if c.Spec.PodDisruptionBudget == nil || c.Spec.PodDisruptionBudget.MaxUnavailable == nil {
		return intstr.FromInt32(1)
	}
	return *c.Spec.PodDisruptionBudget.MaxUnavailable
}

// RecommendedGraceSeconds returns the grace period that leaves time for the
// handover on shutdown: cluster-manual-failover-timeout, rounded up to seconds,
// and ten more. A shorter period is honoured with a ConfigurationWarning.
func (c *ValkeyCluster) RecommendedGraceSeconds() int64 {
	millis := int64(manualFailoverMillis)
	if value, ok := c.ConfigValue("cluster-manual-failover-timeout"); ok {
		if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 32); err == nil && n > 0 {
			millis = n
		}
	}
	return (millis+999)/1000 + graceBufferSeconds
}

// GraceSeconds returns terminationGracePeriodSeconds of the data pods: by
// default 30 or what is recommended, whichever is longer.
func (c *ValkeyCluster) GraceSeconds() int64 {
	byDefault := max(minGraceSeconds, c.RecommendedGraceSeconds())
	if c.Spec.Pod == nil {
		return byDefault
	}
	return deref(c.Spec.Pod.TerminationGracePeriodSeconds, byDefault)
}

// JobTolerations returns the tolerations of the pods of Jobs: by default they
// leave a lost node after five seconds, so that the next one can start.
func (c *ValkeyCluster) JobTolerations() []corev1.Toleration {
	if c.Spec.JobsTemplate != nil && len(c.Spec.JobsTemplate.Tolerations) > 0 {
		return c.Spec.JobsTemplate.Tolerations
	}
	return []corev1.Toleration{jobToleration(corev1.TaintNodeNotReady), jobToleration(corev1.TaintNodeUnreachable)}
}

func jobToleration(taint string) corev1.Toleration {
	return corev1.Toleration{
		Key:               taint,
		Operator:          corev1.TolerationOpExists,
		Effect:            corev1.TaintEffectNoExecute,
		TolerationSeconds: new(int64(jobTolerationSeconds)),
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Default fills in what the spec leaves open: the defaults of the CRD's schema,
// and those that follow from profile and topology, as the getters return them.
// Filling a filled object changes nothing. Three kinds of field stay as they
// are: those whose absence means something (storage, tls, metrics,
// deletionPolicy), those that do not apply to the topology, and images with
// their pull policy, which follow the version (ServerImage and its like).
// version stays empty beside an image by digest, for Validate to ask for it.
func (c *ValkeyCluster) Default() {
	s := &c.Spec
	setDefault(&s.Topology, c.EffectiveTopology())
	setDefault(&s.Profile, c.EffectiveProfile())
	if !c.pinned() {
		setDefault(&s.Version, DefaultVersion)
	}
	setDefault(&s.Delivery, c.EffectiveDelivery())
	setDefault(&s.Jobs, c.EffectiveJobs())
	c.defaultTopology()
	c.defaultStorage()
	c.defaultAccess()
	c.defaultScheduling()
	c.defaultPod()
	c.defaultMetrics()
	c.defaultPolicies()
	c.defaultBackup()
}

// setDefault sets a value that is still zero.
func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// pointTo fills in a pointer to a value that is still nil.
func pointTo[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// deref returns what a pointer points to, or a default for nil.
func deref[T any](pointer *T, byDefault T) T {
	if pointer == nil {
		return byDefault
	}
	return *pointer
}

func (c *ValkeyCluster) defaultTopology() {
	s := &c.Spec
	if c.IsCluster() {
		pointTo(&s.Shards, c.ShardCount())
		pointTo(&s.ReplicasPerShard, c.ReplicaCount())
	} else {
		pointTo(&s.Replicas, c.PodsPerShard())
	}
	if c.IsSentinel() {
		pointTo(&s.Sentinel, SentinelSpec{})
		pointTo(&s.Sentinel.Replicas, c.SentinelReplicas())
		pointTo(&s.Sentinel.Quorum, c.SentinelQuorum())
		pointTo(&s.Sentinel.DownAfter, metav1.Duration{Duration: c.SentinelDownAfter()})
	}
	pointTo(&s.Memory, MemorySpec{})
	pointTo(&s.Memory.MaxmemoryPercent, c.MaxmemoryPercent())
}

func (c *ValkeyCluster) defaultStorage() {
	s := c.Spec.Storage
	if s == nil {
		return
	}
	pointTo(&s.Size, c.StorageSize())
	setDefault(&s.Mode, c.StorageMode())
	setDefault(&s.Medium, c.StorageMedium())
	setDefault(&s.ReclaimPolicy, c.ReclaimPolicy())
	if s.Medium == MediumDisk {
		setDefault(&s.AccessMode, c.AccessMode())
		pointTo(&s.InitialSize, c.InitialSize())
	}
}

func (c *ValkeyCluster) defaultAccess() {
	s := &c.Spec
	pointTo(&s.Auth, AuthSpec{})
	pointTo(&s.Auth.Enabled, true)
	defaultKey(s.Auth.ExistingSecret, PasswordKey)
	defaultUsers(s.Users, c.Name)
	if t := s.TLS; t != nil {
		setDefault(&t.SecretName, c.TLSSecretName())
		setDefault(&t.ClientAuth, c.TLSClientAuth())
		setDefault(&t.MinVersion, c.TLSMinVersion())
		pointTo(&t.ClusterBus, true)
		pointTo(&t.Reload, true)
		if t.IssuerRef != nil {
			setDefault(&t.IssuerRef.Kind, DefaultIssuerKind)
			setDefault(&t.IssuerRef.Group, DefaultIssuerGroup)
		}
	}
	pointTo(&s.Networking, NetworkingSpec{})
	pointTo(&s.Networking.Port, c.Port())
	setDefault(&s.Networking.ClusterDomain, c.ClusterDomain())
	setDefault(&s.Networking.Announce, c.Announce())
	if r := s.ReplicateFrom; r != nil {
		pointTo(&r.Port, DefaultPort)
		defaultKey(r.PasswordSecret, PasswordKey)
		defaultKey(r.CASecret, CAKey)
	}
}

// defaultKey fills in the key of a reference that is there.
func defaultKey(ref *SecretKeyRef, key string) {
	if ref != nil {
		setDefault(&ref.Key, key)
	}
}

func defaultUsers(users []UserSpec, cluster string) {
	for i := range users {
		pointTo(&users[i].Enabled, true)
		// A password beside nopass is a contradiction that Validate reports.
		if password := users[i].Password(cluster); password != nil {
			users[i].PasswordSecret = password
		}
	}
}

func (c *ValkeyCluster) defaultScheduling() {
	s := &c.Spec
	pointTo(&s.Scheduling, SchedulingSpec{})
	pointTo(&s.Scheduling.Node, NodeAxis{})
	pointTo(&s.Scheduling.Node.Spread, SpreadSpec{})
	pointTo(&s.Scheduling.Node.Spread.Shard, SpreadDimension{Mode: c.NodeSpread().Shard})
	pointTo(&s.PodDisruptionBudget, PodDisruptionBudgetSpec{})
	setDefault(&s.PodDisruptionBudget.Mode, c.BudgetMode())
	if s.PodDisruptionBudget.Mode != BudgetDisabled {
		pointTo(&s.PodDisruptionBudget.MaxUnavailable, c.BudgetMaxUnavailable())
	}
	pointTo(&s.JobsTemplate, JobsTemplateSpec{})
	s.JobsTemplate.Tolerations = c.JobTolerations()
}

func (c *ValkeyCluster) defaultPod() {
	pointTo(&c.Spec.Pod, PodSpec{})
	pointTo(&c.Spec.Pod.TerminationGracePeriodSeconds, c.GraceSeconds())
	for i := range c.Spec.Pod.Containers {
		for _, p := range probesOf(&c.Spec.Pod.Containers[i]) {
			if p.probe != nil && p.probe.GRPC != nil {
				pointTo(&p.probe.GRPC.Service, "")
			}
		}
		ports := c.Spec.Pod.Containers[i].Ports
		for j := range ports {
			// A port is merged by number and protocol, so the schema needs one.
			setDefault(&ports[j].Protocol, corev1.ProtocolTCP)
		}
	}
}

func (c *ValkeyCluster) defaultMetrics() {
	m := c.Spec.Metrics
	if m == nil {
		return
	}
	for _, monitor := range []*MonitorSpec{m.PodMonitor, m.PrometheusRule, m.Dashboard} {
		if monitor != nil {
			pointTo(&monitor.Enabled, true)
		}
	}
	if m.PodMonitor != nil {
		pointTo(&m.PodMonitor.Interval, metav1.Duration{Duration: DefaultScrapeInterval})
	}
}

func (c *ValkeyCluster) defaultPolicies() {
	s := &c.Spec
	pointTo(&s.NetworkPolicy, NetworkPolicySpec{})
	pointTo(&s.NetworkPolicy.BusPolicy, true)
	if s.NetworkPolicy.Enabled {
		s.NetworkPolicy.AllowFrom = c.AllowFrom()
	}
	pointTo(&s.Rollout, RolloutSpec{})
	setDefault(&s.Rollout.Mode, c.RolloutMode())
	pointTo(&s.Rollout.AllowDataLoss, c.DataLossAllowed())
	switch c.EffectiveTopology() {
	case TopologyCluster:
		pointTo(&s.Rollout.MaxParallelShards, c.MaxParallelShards())
		pointTo(&s.Failover, FailoverSpec{})
		pointTo(&s.Failover.NodeTimeout, metav1.Duration{Duration: c.NodeTimeout()})
		setDefault(&s.Failover.QuorumTakeover, c.QuorumTakeover())
		pointTo(&s.Rebalance, RebalanceSpec{})
		pointTo(&s.Rebalance.Enabled, true)
		pointTo(&s.Rebalance.MaxConcurrent, c.RebalanceMaxConcurrent())
		pointTo(&s.Rebalance.BatchSlots, c.RebalanceBatchSlots())
	case TopologyReplication:
		pointTo(&s.Failover, FailoverSpec{})
		pointTo(&s.Failover.Detection, metav1.Duration{Duration: c.Detection()})
	}
}

const (
	// DefaultBackupSchedule is every night at three.
	DefaultBackupSchedule = "0 3 * * *"
	// DefaultBackupRetention is how many backups are kept.
	DefaultBackupRetention = 7
	// DefaultS3Region is the region of a bucket that names none.
	DefaultS3Region = "us-east-1"
)

func (c *ValkeyCluster) defaultBackup() {
	if b := c.Spec.Backup; b != nil {
		setDefault(&b.Schedule, DefaultBackupSchedule)
		pointTo(&b.Retention, DefaultBackupRetention)
		pointTo(&b.Verify, true)
		b.S3.setDefaults()
	}
	if r := c.Spec.RestoreFrom; r != nil {
		r.S3.setDefaults()
	}
}

func (s *S3Spec) setDefaults() {
	setDefault(&s.Region, DefaultS3Region)
	defaultKey(s.CASecret, CAKey)
}

// Default fills in what the spec leaves open, as for spec.users of a cluster.
func (a *ValkeyACL) Default() {
	defaultUsers(a.Spec.Users, a.Spec.ClusterRef.Name)
}

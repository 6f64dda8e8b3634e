// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package metric

import (
	"strconv"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/status"
)

// Replica is a pod that follows another one.
type Replica struct{ Shard, Pod string }

// Looked takes over what a look at a cluster came to. It is called once for each status
// that was written, or that was right already.
func (s *Set) Looked(c *v1alpha1.ValkeyCluster, now *v1alpha1.ValkeyClusterStatus, m status.Measured) {
	if s == nil {
		return
	}
	s.state(c, now)
	s.lags(cluster{c.Namespace, c.Name}, m.Lags)
	for _, kind := range m.Failovers {
		s.counters[nameFailovers].WithLabelValues(c.Namespace, c.Name, kind).Inc()
	}
	for i := range m.Ended {
		s.ended(c.Namespace, c.Name, &m.Ended[i])
	}
}

// state sets the gauges of a cluster as a whole.
func (s *Set) state(c *v1alpha1.ValkeyCluster, now *v1alpha1.ValkeyClusterStatus) {
	set := func(name string, value float64, labels ...string) {
		s.gauges[name].WithLabelValues(append([]string{c.Namespace, c.Name}, labels...)...).Set(value)
	}
	for _, state := range []v1alpha1.ClusterState{
		v1alpha1.StateInitializing, v1alpha1.StateReconciling, v1alpha1.StateReady, v1alpha1.StateDegraded, v1alpha1.StateFailed, v1alpha1.StateHibernated,
	} {
		value := 0.0
		if now.State == state {
			value = 1
		}
		set(nameState, value, string(state))
	}
	shards, slots := map[v1alpha1.ShardHealth]int{}, int32(0)
	for i := range now.ShardDetails {
		shards[now.ShardDetails[i].Health]++
		slots += now.ShardDetails[i].SlotCount
	}
	for _, health := range []v1alpha1.ShardHealth{v1alpha1.ShardReady, v1alpha1.ShardDegraded, v1alpha1.ShardDown, v1alpha1.ShardUnknown} {
		set(nameShards, float64(shards[health]), string(health))
	}
	if c.IsCluster() && now.State != v1alpha1.StateHibernated {
		set(nameSlots, float64(slots))
	} else {
		s.gauges[nameSlots].DeleteLabelValues(c.Namespace, c.Name)
	}
}

// lags sets those of the replicas that there are, and drops those of others.
func (s *Set) lags(of cluster, lags []status.Lag) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gauge, before := s.gauges[nameLag], s.replicas[of]
	there := map[Replica]bool{}
	for _, l := range lags {
		r := Replica{strconv.Itoa(int(l.Shard)), l.Pod}
		there[r] = true
		gauge.WithLabelValues(of.namespace, of.name, r.Shard, r.Pod).Set(float64(l.Bytes))
	}
	for r := range before {
		if !there[r] {
			gauge.DeleteLabelValues(of.namespace, of.name, r.Shard, r.Pod)
		}
	}
	s.replicas[of] = there
}

// ended counts a Job that has ended.
func (s *Set) ended(namespace, name string, j *status.Job) {
	result := resultOf(j)
	count := func(metric string, labels ...string) {
		s.counters[metric].WithLabelValues(append([]string{namespace, name}, labels...)...).Inc()
	}
	count(nameJobs, j.Kind, result)
	if !j.Ended.IsZero() && !j.Started.IsZero() {
		s.histograms[nameDuration].WithLabelValues(j.Kind).Observe(max(0, j.Ended.Sub(j.Started)).Seconds())
	}
	if j.Outcome != nil {
		s.counters[nameMoved].WithLabelValues(namespace, name).Add(max(0, float64(j.Outcome.Counts["movedSlots"])))
	}
	switch j.Kind {
	case job.Bootstrap:
		count(nameBootstraps, result)
	case job.Rebalance:
		count(nameScales, "up", result)
	case job.Drain:
		count(nameScales, "down", result)
	case job.ACL:
		count(nameACL, result)
	case job.TLS:
		count(nameTLS, result)
	case job.Rotate:
		count(nameRotations, result)
	}
}

// resultOf is how a Job ended.
func resultOf(j *status.Job) string {
	switch {
	case j.Succeeded():
		return Success
	case j.Outcome != nil && (j.Outcome.Result == outcome.Interrupted || j.Outcome.Result == outcome.Raced):
		return Interrupted
	}
	return Failure
}

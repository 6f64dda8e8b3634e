// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"strconv"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/converge"
	"github.com/valkey-render/valkey-render/topologyjob/job"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/status"
)

// Desired is what is wanted of the servers, but for moves of slots.
func Desired(c *v1alpha1.ValkeyCluster) plan.Desired {
	d := plan.Desired{
		Topology: c.EffectiveTopology(), Shards: c.ShardCount(), Replicas: c.ReplicaCount(), Initialized: c.Status.ClusterInitialized,
		Durable: c.IsDurable(), NodeTimeout: c.NodeTimeout(), Takeover: c.QuorumTakeover() == v1alpha1.QuorumTakeoverAuto,
		BatchSlots: int(c.RebalanceBatchSlots()), MaxConcurrent: int(c.RebalanceMaxConcurrent()),
	}
	if !c.IsCluster() {
		d.Detection = c.Detection()
	}
	if c.IsSentinel() {
		d.Sentinels, d.Quorum = c.SentinelReplicas(), int(c.SentinelQuorum())
	}
	return d
}

// present is how many shards there are now, those that are to go included.
func (in Input) present() int32 {
	most := in.Cluster.ShardCount()
	for _, s := range in.Seen.StatefulSets {
		if !s.Sentinel {
			most = max(most, s.Shard+1)
		}
	}
	return most
}

// servers decides about servers of any topology.
func (in Input) servers(d *Decision) {
	if in.Seen.View == nil {
		d.wait(in.patience(), "no server was asked")
		return
	}
	desired := in.permitted(Desired(in.Cluster))
	if in.Cluster.IsCluster() {
		in.drained(d, desired)
	} else {
		in.roles(d)
	}
	p := converge.Decide(desired, *in.Seen.View)
	in.used(d, p)
	switch {
	case p.Blocked != nil:
		d.Next.Blocked = status.BlockedBy(p)
		d.sooner(5 * time.Second)
		return
	case len(p.Steps) > 0:
		in.start(d, in.order(desired, p))
		return
	}
	d.Next.Waiting = append(d.Next.Waiting, status.WaitingFor(p)...)
	if len(p.Waiting) > 0 {
		d.sooner(in.patience())
	}
	if in.fence(d, p) || in.failover(d, desired) || in.rolls(d, desired) {
		return
	}
	if in.reshard(d, desired) || !in.Cluster.IsCluster() {
		return
	}
	in.moves(d, desired)
}

// moves decides whether slots move, once everything else is done.
func (in Input) moves(d *Decision, desired plan.Desired) {
	desired.Drain = in.present() > desired.Shards
	desired.RebalanceEnabled = in.Cluster.RebalanceEnabled()
	desired.Spread = spread(in.Cluster)
	p := converge.Decide(desired, *in.Seen.View)
	if len(p.Steps) > 0 {
		in.start(d, in.order(desired, p))
	}
}

// spread is over which places primaries are to be spread.
func spread(c *v1alpha1.ValkeyCluster) plan.Spread {
	switch {
	case c.ZoneSpread().Primaries != v1alpha1.SpreadDisabled:
		return plan.SpreadZones
	case c.NodeSpread().Primaries != v1alpha1.SpreadDisabled:
		return plan.SpreadNodes
	}
	return plan.SpreadNone
}

// order is the Job that does what a plan says.
func (in Input) order(desired plan.Desired, p plan.Plan) job.Order {
	c := in.Cluster
	kind := kindOf(p.Check, desired.Initialized)
	domain := name.ServiceFQDN(name.Nodes(c.Name), c.Namespace, c.ClusterDomain())
	return job.Order{
		Kind: kind, Why: p.String(), Epoch: in.epoch(),
		Args: job.Topology(desired, c.Port(), domain, in.present(), in.Asked, in.Sentinels),
	}
}

// epoch makes what failed too often worth another try.
func (in Input) epoch() string {
	return strconv.FormatInt(in.Cluster.Generation, 10) + "/" + in.Cluster.Annotations[v1alpha1.AnnotationRetry]
}

// kindOf is the kind of Job for what a check of the plan has found.
func kindOf(check string, initialized bool) string {
	switch check {
	case plan.CheckQuorum:
		return job.Takeover
	case plan.CheckOrphaned, plan.CheckElect:
		return job.Failover
	case plan.CheckVacate, plan.CheckSpread, plan.CheckHandOver:
		return job.Handover
	case plan.CheckDrain:
		return job.Drain
	case plan.CheckUneven:
		return job.Rebalance
	case plan.CheckReshard:
		return job.Reshard
	}
	if !initialized {
		return job.Bootstrap
	}
	return job.Repair
}

func (s Start) name(c *v1alpha1.ValkeyCluster) string { return job.Name(c, s.Kind, s.Serial) }

// set is the StatefulSet of a shard.
func (in Input) set(shard int32) *status.StatefulSet {
	for i := range in.Seen.StatefulSets {
		if s := &in.Seen.StatefulSets[i]; !s.Sentinel && s.Shard == shard {
			return s
		}
	}
	return nil
}

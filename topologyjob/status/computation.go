// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// computation is one call of Compute: what was seen, and what follows from it, worked out
// once and in this order.
type computation struct {
	// c has its defaults; before is the status from before, nodes those of ValkeyNodes.
	c      *v1alpha1.ValkeyCluster
	before v1alpha1.ValkeyClusterStatus
	nodes  map[string]*v1alpha1.ValkeyNode
	o      Observed
	now    metav1.Time
	// pods and sets are the data and Sentinel pods and StatefulSets by name.
	pods map[string]*Pod
	sets map[string]*StatefulSet
	// asked is whether servers were asked, heard whether one answered at least.
	asked, heard bool
	servers      []server
	lost         []gone
	owners       survey.Owners
	details      []v1alpha1.ShardStatus
	// lags and failovers are for Measured.
	lags      []Lag
	failovers []string
	// initialized is status.clusterInitialized as it is to be.
	initialized bool
	conditions  conditions
	// recheck is when to look again because time alone changes something; 0 is never.
	recheck time.Duration
}

func newComputation(c *v1alpha1.ValkeyCluster, o Observed, now time.Time) *computation {
	x := &computation{
		c: c.DeepCopy(), before: *c.Status.DeepCopy(), o: o, now: metav1.NewTime(now.Truncate(time.Second)),
		nodes: map[string]*v1alpha1.ValkeyNode{}, pods: map[string]*Pod{}, sets: map[string]*StatefulSet{},
	}
	x.c.Default()
	for i := range o.Nodes {
		x.nodes[o.Nodes[i].Name] = &o.Nodes[i]
	}
	for i := range o.Pods {
		x.pods[o.Pods[i].Name] = &o.Pods[i]
	}
	for i := range o.StatefulSets {
		x.sets[o.StatefulSets[i].Name] = &o.StatefulSets[i]
	}
	x.ask()
	x.details = x.shards()
	return x
}

// ask takes over what servers told.
func (x *computation) ask() {
	switch {
	case x.o.View == nil:
	case !x.c.IsCluster():
		x.asked = true
		x.servers = readReplication(x.o.View)
	default:
		x.asked = true
		remembered := map[string]string{}
		for n, node := range x.nodes {
			remembered[node.Status.NodeID] = n
		}
		for _, d := range x.before.ShardDetails {
			if d.PrimaryNodeID != "" {
				remembered[d.PrimaryNodeID] = cmp.Or(remembered[d.PrimaryNodeID], d.Primary)
			}
		}
		delete(remembered, "")
		x.servers, x.lost, x.owners = read(x.o.View, remembered)
	}
	x.heard = slices.ContainsFunc(x.servers, func(s server) bool { return s.answered() })
}

// anyPod is whether there is a data pod.
func (x *computation) anyPod() bool {
	return slices.ContainsFunc(x.o.Pods, func(p Pod) bool { return !p.Sentinel })
}

// idle is whether there are no pods on request.
func (x *computation) idle() bool { return x.c.Spec.Hibernate && !x.anyPod() }

// does is whether a kind of work is being done.
func (x *computation) does(work ...Work) bool {
	return slices.ContainsFunc(x.o.Next.Work, func(w Work) bool { return slices.Contains(work, w) })
}

func (x *computation) result() Result {
	s := *x.before.DeepCopy()
	s.ObservedGeneration = x.c.Generation
	s.Topology = x.c.EffectiveTopology()
	if x.o.Rendering.Objects == "" || x.arrived() {
		s.RenderHash = x.o.Rendering.Hash
	}
	s.Endpoint = x.endpoint()
	s.ShardDetails, s.Shards, s.ReadyShards, s.ReadyReplicas, s.Primary = x.details, int32(len(x.details)), 0, 0, ""
	for _, d := range x.details {
		if d.Health == v1alpha1.ShardReady {
			s.ReadyShards++
		}
	}
	for i := range x.o.Pods {
		if p := &x.o.Pods[i]; !p.Sentinel && p.Ready && !p.Deleting {
			s.ReadyReplicas++
		}
	}
	if x.c.HasRoles() && len(x.details) > 0 && x.details[0].Health != v1alpha1.ShardDown {
		s.Primary = x.details[0].Primary
	}
	s.DrainedShards = slices.Sorted(slices.Values(x.o.Drained))
	x.jobs(&s)
	x.actions(&s)
	x.migrations(&s)
	if x.o.Fingerprint != "" {
		s.LastTLSCertFingerprint = x.o.Fingerprint
	}
	x.judge()
	s.ClusterInitialized = x.initialized
	s.Conditions = x.conditions.list(x.before.Conditions, x.c.Generation, x.now)
	s.State, s.Reason, s.Message = x.state()
	nodes := x.valkeyNodes()
	events := x.events(&s, nodes)
	return Result{Status: s, Nodes: nodes, Events: events, Measured: x.measure(), Recheck: x.recheck}
}

// endpoint is where clients connect.
func (x *computation) endpoint() string {
	service := name.Client(x.c.Name)
	if x.c.HasRoles() {
		service = name.Primary(x.c.Name)
	}
	return name.ServiceFQDN(service, x.c.Namespace, x.c.ClusterDomain()) + ":" + decimal(int64(x.c.Port()))
}

// migrations lists the moves of slots that are in flight, each once.
func (x *computation) migrations(s *v1alpha1.ValkeyClusterStatus) {
	if !x.asked {
		return
	}
	s.Migrations = nil
	shardOf := map[string]int32{}
	for i := range x.o.View.Answers {
		if a := &x.o.View.Answers[i]; a.Answered() {
			shardOf[a.ID] = a.Pod.Shard
		}
	}
	seen := map[string]bool{}
	for i := range x.o.View.Answers {
		a := &x.o.View.Answers[i]
		for _, m := range a.Migrations {
			from, here := shardOf[m.Source]
			to, there := shardOf[m.Target]
			if a.Own().Replica || m.Ended() || seen[m.Name] || !here || !there {
				continue
			}
			seen[m.Name] = true
			started := x.now
			for _, old := range x.before.Migrations {
				if old.Name == m.Name && old.StartedAt != nil {
					started = *old.StartedAt
				}
			}
			s.Migrations = append(s.Migrations, v1alpha1.MigrationStatus{
				Name: m.Name, From: from, To: to, Slots: m.Slots.String(), State: m.State, StartedAt: &started,
			})
		}
	}
	slices.SortFunc(s.Migrations, func(a, b v1alpha1.MigrationStatus) int { return cmp.Compare(a.Name, b.Name) })
}

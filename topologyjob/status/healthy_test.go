// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// Specs of every topology.
const (
	cacheSpec       = "shards: 3\n"
	durableSpec     = "profile: Durable\nstorage: {size: 10Gi}\n"
	replicationSpec = "topology: Replication\n"
	sentinelSpec    = "topology: Sentinel\n"
	standaloneSpec  = "topology: Standalone\nprofile: Durable\nstorage: {}\n"
)

func TestAHealthyClusterIsReady(t *testing.T) {
	for title, test := range map[string]struct {
		spec     string
		shards   int32
		pods     int32
		primary  string
		endpoint string
	}{
		"Cluster":     {cacheSpec, 3, 6, "", "c.ns.svc.cluster.local:6379"},
		"Durable":     {durableSpec, 3, 6, "", "c.ns.svc.cluster.local:6379"},
		"TLS":         {cacheSpec + "tls: {}\n", 3, 6, "", "c.ns.svc.cluster.local:6379"},
		"Replication": {replicationSpec, 1, 3, "c-0-0", "c-primary.ns.svc.cluster.local:6379"},
		"Sentinel":    {sentinelSpec, 1, 3, "c-0-0", "c-primary.ns.svc.cluster.local:6379"},
		"Standalone":  {standaloneSpec, 1, 1, "", "c.ns.svc.cluster.local:6379"},
	} {
		t.Run(title, func(t *testing.T) {
			w := healthy(t, test.spec)
			s := w.c.Status
			if s.State != v1alpha1.StateReady || s.Reason != v1alpha1.ReasonClusterHealthy || s.Message != v1alpha1.MessageClusterHealthy {
				t.Errorf("%s %s %s %+v", s.State, s.Reason, s.Message, s.Conditions)
			}
			got := []any{s.Shards, s.ReadyShards, s.ReadyReplicas, s.Primary, s.Endpoint, s.ObservedGeneration, s.RenderHash, s.ClusterInitialized, len(w.o.Nodes)}
			want := []any{test.shards, test.shards, test.pods, test.primary, test.endpoint, int64(1), "0123456789abcdef", true, int(test.pods)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			slots := "True AllSlotsAssigned"
			if title != "Cluster" && title != "Durable" && title != "TLS" {
				slots = ""
			}
			for kind, want := range map[string]string{
				"Ready": "True ClusterHealthy", "Progressing": "False ReconcileComplete", "Degraded": "", "Available": "True Serving",
				"ClusterFormed": "True TopologyComplete", "SlotsAssigned": slots, "ShardsHealthy": "True AllHealthy",
				"ClusterInitialized": "True AdoptedExisting", "ConfigApplied": "True Applied", "ACLApplied": "True Applied",
				"ConfigurationWarning": "", "PrunePending": "", "Reconciling": "", "Stalled": "",
			} {
				if got := says(s.Conditions, kind); got != want {
					t.Errorf("%s: %q, want %q", kind, got, want)
				}
			}
			for _, n := range w.o.Nodes {
				if !n.Status.Ready || n.Status.Role == "" || n.Status.PodIP == "" || n.Status.Version != "9.1.2" || says(n.Status.Conditions, "Ready") != "True PodRunning" {
					t.Errorf("%s: %+v", n.Name, n.Status)
				}
			}
		})
	}
}

func TestShardDetails(t *testing.T) {
	w := healthy(t, cacheSpec)
	want := v1alpha1.ShardStatus{
		Index: 1, Primary: "c-1-0", PrimaryNodeID: id("c-1-0"), Replicas: []string{"c-1-1"}, SlotRanges: []string{"5461-10922"}, SlotCount: 5462,
		Health: v1alpha1.ShardReady, InSync: true, LagClass: v1alpha1.LagInSync, PrimaryOffset: 1000,
		ReplicaOffsets: []v1alpha1.ReplicaOffset{{Pod: "c-1-1", Offset: 1000}},
	}
	if diff := cmp.Diff(want, w.c.Status.ShardDetails[1]); diff != "" {
		t.Error(diff)
	}
}

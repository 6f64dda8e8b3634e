// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package converge

import (
	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/topologyjob/plan"
	"github.com/valkey-render/valkey-render/topologyjob/plan/replication"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

// Decide makes the plan of any topology.
func Decide(desired plan.Desired, view survey.View) plan.Plan {
	if desired.Topology == "" || desired.Topology == v1alpha1.TopologyCluster {
		return plan.Decide(desired, view)
	}
	return replication.Decide(desired, view)
}

// For reports whether a kind is for a topology.
func (k Kind) For(topology v1alpha1.Topology) bool {
	switch k {
	case Bootstrap, Repair, Converge:
		return true
	case Handover, Failover:
		return topology != v1alpha1.TopologyStandalone
	}
	return topology == "" || topology == v1alpha1.TopologyCluster
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package advice_test

import "testing"

func TestSpreadsThatASpecLeavesUnmet(t *testing.T) {
	judge(t, map[string]risk{
		"one zone for both members": {limits + "scheduling: {zone: {pinning: {zones: [a]}}}", []string{"VR1106 spec.scheduling.zone.pinning.zones"}},
		"one zone by node selector and zone spread": {
			limits + "scheduling: {nodeSelector: {topology.kubernetes.io/zone: a}, zone: {spread: {shard: {mode: Required}}}}",
			[]string{"VR1106 spec.scheduling.nodeSelector[topology.kubernetes.io/zone]"},
		},
		"one zone and no zone spread": {limits + "scheduling: {nodeSelector: {topology.kubernetes.io/zone: a}}", nil},
		"one zone and single pods":    {limits + "topology: Standalone\nscheduling: {zone: {pinning: {zones: [a]}}}", nil},
		"one node for members that must be apart": {
			limits + "scheduling: {nodeSelector: {kubernetes.io/hostname: n1}, node: {spread: {shard: {mode: Required}}}}",
			[]string{"VR1106 spec.scheduling.nodeSelector[kubernetes.io/hostname]"},
		},
		"one node for members that should be apart": {
			limits + "scheduling: {nodeSelector: {kubernetes.io/hostname: n1}}", []string{"VR1106 spec.scheduling.nodeSelector[kubernetes.io/hostname]"},
		},
		"one node on purpose": {limits + "scheduling: {nodeSelector: {kubernetes.io/hostname: n1}, node: {spread: {shard: {mode: Disabled}}}}", nil},
		"two nodes by affinity for three members that must be apart": {
			limits + "replicasPerShard: 2\nscheduling: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" +
				"{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n1, n2]}]}, {matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n2]}]}]}}}," +
				" node: {spread: {shard: {mode: Required}}}}",
			[]string{"VR1106 spec.scheduling.affinity.nodeAffinity"},
		},
		"affinity with a term for any node": {
			limits + "scheduling: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" +
				"{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n1]}]}, {matchExpressions: [{key: disk, operator: Exists}]}]}}}}",
			nil,
		},
		"own constraint with more domains than the selector leaves": {
			limits + "scheduling: {nodeSelector: {topology.kubernetes.io/zone: a}, topologySpreadConstraints: [" +
				"{maxSkew: 1, minDomains: 2, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]}",
			[]string{"VR1106 spec.scheduling.topologySpreadConstraints[0].minDomains"},
		},
		"two zones for both members": {limits + "scheduling: {zone: {pinning: {zones: [a, b]}}}", nil},
	})
}

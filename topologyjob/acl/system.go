// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/command"
	"github.com/valkey-render/valkey-render/render/name"
)

func allSystemUsers() []string {
	return []string{name.UserExporter, name.UserOperator, name.UserReplication, name.UserSentinel}
}

// SystemUsers are the system users of a topology, sorted. They exist also when
// auth is off, so that it can be turned on while servers run.
func SystemUsers(topology v1alpha1.Topology) []string {
	if topology == v1alpha1.TopologySentinel {
		return allSystemUsers()
	}
	return []string{name.UserExporter, name.UserOperator, name.UserReplication}
}

// systemRules are the rules of the system users on data pods, by name.
func systemRules(version string, topology v1alpha1.Topology) map[string][]string {
	cluster := topology == v1alpha1.TopologyCluster
	return map[string][]string{
		name.UserOperator:    operatorRules(version, topology),
		name.UserReplication: replicationRules(version, cluster),
		name.UserExporter:    exporterRules(cluster),
		name.UserSentinel:    watcherRules(),
	}
}

// operatorRules: what the steps of Jobs, the probes and the preStop handover send.
// It may change users, and so has every right that it gives itself; the rest
// keeps mistakes small.
func operatorRules(version string, topology v1alpha1.Topology) []string {
	rules := []string{
		"resetchannels",
		// AUTH, HELLO, PING, SELECT and CLIENT: PAUSE stops writes for a handover,
		// KILL ends the connections of a revoked password.
		"+@connection",
		"+info", "+role", "+config|get", "+config|set", "+dbsize", "+wait", "+module|list",
		"+acl|list", "+acl|users", "+acl|getuser", "+acl|setuser", "+acl|deluser", "+acl|whoami", "+acl|log",
	}
	switch topology {
	case v1alpha1.TopologyReplication, v1alpha1.TopologySentinel:
		return append(rules, "+failover", "+replicaof")
	case v1alpha1.TopologyCluster:
		return append(append([]string{"~*"}, rules...), clusterRules(version)...)
	}
	return rules
}

// clusterRules: survey, bootstrap, moves of slots. CLUSTER BUMPEPOCH and
// SAVECONFIG are no part of any step. MIGRATE and RESTORE move keys before 9.0,
// and end an open slot that such a version left behind; keys are named by it, so
// all of them must be allowed.
func clusterRules(version string) []string {
	var rules []string
	for _, sub := range []string{
		"myid", "myshardid", "info", "nodes", "slots", "shards", "links", "replicas", "count-failure-reports",
		"countkeysinslot", "getkeysinslot", "keyslot",
		"meet", "forget", "replicate", "failover", "reset", "set-config-epoch",
		"addslots", "addslotsrange", "delslots", "delslotsrange", "setslot",
	} {
		rules = append(rules, "+cluster|"+sub)
	}
	rules = append(rules, "+migrate", "+restore", "+restore-asking")
	if command.AtLeast(version, "9.0") {
		rules = append(rules, "+cluster|migrateslots", "+cluster|getslotmigrations", "+cluster|cancelslotmigrations")
	}
	return rules
}

// replicationRules: PSYNC, and SYNC over the second connection of dual channel
// replication. Since 9.0 a slot migration replays the writes of the source as
// this user. Not transactions as such, since all of it shows at once in the end,
// and no FLUSHALL, which ends a migration.
func replicationRules(version string, cluster bool) []string {
	rules := []string{"resetchannels", "+psync", "+sync", "+replconf", "+ping"}
	if !cluster || !command.AtLeast(version, "9.0") {
		return rules
	}
	return append([]string{"~*"}, append(rules, "+cluster|syncslots", "+select", "+@write",
		"-flushall", "-flushdb", "-swapdb")...)
}

// exporterRules: what redis_exporter asks for without options that look at keys.
// Not CONFIG GET, which shows primaryauth: the exporter goes on without it.
func exporterRules(cluster bool) []string {
	rules := []string{
		"resetchannels", "+ping", "+select", "+info", "+dbsize", "+client|setname", "+client|setinfo",
		"+slowlog|get", "+slowlog|len", "+latency|latest", "+latency|histogram",
	}
	if cluster {
		rules = append(rules, "+cluster|info", "+cluster|nodes")
	}
	return rules
}

// watcherRules: how sentinels watch a data server and change its role. Clients of
// the old primary are cut off so that they ask for the new one.
func watcherRules() []string {
	return []string{
		"resetchannels", "&__sentinel__:hello",
		"+ping", "+info", "+role", "+publish", "+subscribe",
		"+client|setname", "+client|kill", "+script|kill", "+config|rewrite",
		"+replicaof", "+slaveof", "+multi", "+exec",
	}
}

// discoveryRules let a client of a sentinel find the primary and follow its
// events. Not PUBLISH: a hello on that channel would be believed.
func discoveryRules() []string {
	rules := []string{
		"resetchannels", "&*",
		"+ping", "+hello", "+info", "+role", "+command",
		"+client|id", "+client|info", "+client|getname", "+client|setname", "+client|setinfo",
		"+subscribe", "+unsubscribe", "+psubscribe", "+punsubscribe",
	}
	for _, sub := range []string{
		"get-master-addr-by-name", "get-primary-addr-by-name", "masters", "primaries", "master", "primary",
		"replicas", "slaves", "sentinels", "ckquorum", "myid",
	} {
		rules = append(rules, "+sentinel|"+sub)
	}
	return rules
}

// sentinelSystemRules are the rules of the system users on sentinels, by name.
func sentinelSystemRules() map[string][]string {
	return map[string][]string{
		name.UserOperator: {
			"resetchannels", "&*", "+ping", "+hello", "+info", "+role", "+client", "+subscribe", "+psubscribe",
			"+acl|list", "+acl|users", "+acl|getuser", "+acl|setuser", "+acl|deluser", "+acl|whoami", "+acl|log",
			"+sentinel",
		},
		// It logs in for nothing: no replica follows a sentinel.
		name.UserReplication: {"resetchannels", "+ping"},
		name.UserExporter: {
			"resetchannels", "+ping", "+info", "+client|setname", "+sentinel|masters",
			"+sentinel|sentinels", "+sentinel|replicas", "+sentinel|slaves", "+sentinel|ckquorum",
		},
		name.UserSentinel: {
			"resetchannels", "&__sentinel__:hello", "+ping", "+publish", "+client|setname",
			"+sentinel|is-master-down-by-addr", "+sentinel|is-primary-down-by-addr",
		},
	}
}

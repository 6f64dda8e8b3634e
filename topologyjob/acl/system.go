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
		name.UserReplication: replicationRules(version, topology),
		name.UserExporter:    exporterRules(cluster),
		name.UserSentinel:    watcherRules(),
	}
}

// operatorRules: what the steps of Jobs, the probes and the preStop handover send.
// It may change users, and so has every right that it gives itself; the rest
// keeps mistakes small. AUTH and HELLO need no rule.
func operatorRules(version string, topology v1alpha1.Topology) []string {
	rules := []string{
		"resetchannels",
		// KILL ends the connections of a revoked password.
		"+ping", "+client|setname", "+client|kill",
		"+info", "+config|get", "+config|set", "+acl|list", "+acl|setuser", "+acl|deluser", "+acl|whoami",
	}
	switch topology {
	case v1alpha1.TopologyReplication, v1alpha1.TopologySentinel:
		// PAUSE stops writes while a primary becomes a replica.
		return append(rules, "+client|pause", "+client|unpause", "+failover", "+replicaof")
	case v1alpha1.TopologyCluster:
		return append(append([]string{"~*"}, rules...), clusterRules(version)...)
	}
	return rules
}

// clusterRules: survey, bootstrap, moves of slots. MIGRATE, which is RESTORE-ASKING at
// its target, moves keys before 9.0, and ends an open slot that such a version left
// behind; keys are named by it, so all of them must be allowed.
func clusterRules(version string) []string {
	var rules []string
	for _, sub := range []string{
		"myid", "info", "nodes", "countkeysinslot", "getkeysinslot",
		"meet", "forget", "replicate", "failover", "set-config-epoch", "addslotsrange", "setslot",
	} {
		rules = append(rules, "+cluster|"+sub)
	}
	// DUMP and PTTL compare a key that an interrupted MIGRATE left on both sides.
	rules = append(rules, "+migrate", "+restore-asking", "+select", "+asking", "+dump", "+pttl")
	// SCAN and EXISTS compare the keys that a primary without slots still has, and FLUSHALL
	// deletes them there. DEL does so with those of one slot at the target of a move.
	rules = append(rules, "+scan", "+exists", "+flushall", "+del")
	if command.AtLeast(version, "9.0") {
		rules = append(rules, "+cluster|migrateslots", "+cluster|getslotmigrations")
	}
	return rules
}

// replicationRules: PSYNC, and SYNC over the second connection of dual channel
// replication. A standalone server has no replica, and the user logs in for
// nothing. Since 9.0 a slot migration replays the writes of the source as this
// user, whatever commands they are: hence a category. Not transactions as such,
// since all of it shows at once in the end; no FLUSHALL, which ends a migration;
// and not MIGRATE, which no server replays.
func replicationRules(version string, topology v1alpha1.Topology) []string {
	if topology == v1alpha1.TopologyStandalone {
		return []string{"resetchannels"}
	}
	rules := []string{"resetchannels", "+psync", "+sync", "+replconf"}
	if topology != v1alpha1.TopologyCluster || !command.AtLeast(version, "9.0") {
		return rules
	}
	return append([]string{"~*"}, append(rules, "+cluster|syncslots", "+select", "+@write",
		"-flushall", "-flushdb", "-swapdb", "-migrate")...)
}

// exporterRules: what redis_exporter asks for with the arguments that are rendered.
// Not CONFIG GET, which shows primaryauth: the exporter goes on without it.
func exporterRules(cluster bool) []string {
	rules := []string{
		"resetchannels", "+info", "+client|setname",
		"+slowlog|get", "+slowlog|len", "+latency|latest", "+latency|histogram",
	}
	if cluster {
		rules = append(rules, "+cluster|info")
	}
	return rules
}

// watcherRules: how sentinels watch a data server and change its role. Clients of
// the old primary are cut off so that they ask for the new one.
func watcherRules() []string {
	return []string{
		"resetchannels", "&__sentinel__:hello",
		"+ping", "+info", "+publish", "+subscribe",
		"+client|setname", "+client|kill", "+script|kill", "+config|rewrite",
		"+slaveof", "+multi", "+exec",
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
	operator := []string{
		"resetchannels", "+ping", "+info", "+client|setname", "+client|kill",
		"+acl|list", "+acl|setuser", "+acl|deluser", "+acl|whoami",
		// For people: no other user of a sentinel sees what was refused.
		"+acl|log",
	}
	for _, sub := range []string{
		"config", "failover", "master", "monitor", "myid", "remove", "replicas", "reset", "sentinels", "set",
	} {
		operator = append(operator, "+sentinel|"+sub)
	}
	return map[string][]string{
		name.UserOperator: operator,
		// They log in for nothing: no replica follows a sentinel, and no exporter runs
		// beside one.
		name.UserReplication: {"resetchannels"},
		name.UserExporter:    {"resetchannels"},
		name.UserSentinel: {
			"resetchannels", "&__sentinel__:hello", "+ping", "+publish", "+client|setname", "+sentinel|is-master-down-by-addr",
		},
	}
}

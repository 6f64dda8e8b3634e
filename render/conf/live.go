// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/directive"
)

// liveGroups are ours, less what spec.config says itself, and spec.config's. Of
// the latter a version gets what it knows and accepts: a directive of 9.1 is in no
// file of an older server, which would not start with it.
func liveGroups(c *v1alpha1.ValkeyCluster, version string) []group {
	_, live := userSettings(c)
	asked := map[string]bool{}
	var theirs []setting
	for _, s := range live {
		asked[s.name] = true
		if directive.Check(version, s.name, s.value) == nil {
			theirs = append(theirs, s)
		}
	}
	groups := []group{memoryGroup(c), failoverGroup(c), replicationGroup(c), savePoints(c)}
	for i := range groups {
		groups[i].settings = slices.DeleteFunc(groups[i].settings, func(s setting) bool { return asked[s.name] })
	}
	return append(groups, group{title: "spec.config", settings: theirs})
}

func memoryGroup(c *v1alpha1.ValkeyCluster) group {
	g := group{title: "memory"}
	// Where spec.config has a value, these are left out again: see liveGroups.
	if bytes, ok := Maxmemory(c); ok {
		g.add("maxmemory", megabytes(bytes))
	}
	if c.IsDurable() {
		g.add("maxmemory-policy", "noeviction")
	} else {
		g.add("maxmemory-policy", "allkeys-lru")
	}
	if bytes, ok := backlog(c); ok {
		g.add("repl-backlog-size", megabytes(bytes))
	}
	return g
}

func failoverGroup(c *v1alpha1.ValkeyCluster) group {
	g := group{title: "failover"}
	durable := c.IsDurable()
	if c.IsCluster() {
		g.add("cluster-node-timeout", strconv.FormatInt(c.NodeTimeout().Milliseconds(), 10))
		if durable {
			g.add("cluster-require-full-coverage", "yes")
			g.add("cluster-replica-validity-factor", "10")
		} else {
			// Serve what is left, and promote a replica however old its data is.
			g.add("cluster-require-full-coverage", "no")
			g.add("cluster-replica-validity-factor", "0")
		}
		return g
	}
	if durable && c.ReplicaCount() > 1 {
		// With a single replica writes would stop whenever that one restarts.
		g.add("min-replicas-to-write", "1")
		g.add("min-replicas-max-lag", "10")
	}
	return g
}

// replicationGroup is how a replica takes a full copy.
func replicationGroup(c *v1alpha1.ValkeyCluster) group {
	g := group{title: "replication"}
	if c.EffectiveTopology() == v1alpha1.TopologyStandalone {
		return g
	}
	// By default a primary waits five seconds for more replicas before it sends a
	// copy, and a replica is as much longer not ready each time it starts.
	g.add("repl-diskless-sync-delay", "1")
	if !c.Persisted() {
		// A replica that starts empty, as all do without persistence, reads the
		// copy from the socket: an emptyDir or tmpfs need not hold the data set.
		g.add("repl-diskless-load", "on-empty-db")
	}
	return g
}

func savePoints(c *v1alpha1.ValkeyCluster) group {
	g := group{title: "persistence"}
	if writesRDB(c.StorageMode()) {
		// The server's own, which no longer apply once a file has any.
		g.add("save", "3600 1\n300 100\n60 10000")
	}
	return g
}

// userSettings are the directives of spec.config by their present names, sorted,
// apart by what it takes to apply them to a server of the cluster's version.
// Those that Check refuses as unknown or reserved are left out.
func userSettings(c *v1alpha1.ValkeyCluster) (restart, live []setting) {
	version := c.ServerVersion()
	for _, given := range slices.Sorted(maps.Keys(c.Spec.Config)) {
		d, found := directive.Lookup(version, given)
		if !found || d.Reserved != "" {
			continue
		}
		s := setting{name: d.Name, value: trimmed(c.Spec.Config[given])}
		if d.Class == directive.Live {
			live = append(live, s)
		} else {
			restart = append(restart, s)
		}
	}
	byName := func(a, b setting) int { return strings.Compare(a.name, b.name) }
	slices.SortStableFunc(restart, byName)
	slices.SortStableFunc(live, byName)
	return restart, live
}

// trimmed takes the line ends away that a YAML block leaves after a value.
func trimmed(value string) string { return strings.TrimRight(value, "\n") }

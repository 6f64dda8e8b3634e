// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"slices"
	"strconv"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

func liveGroups(c *v1alpha1.ValkeyCluster, version string) []group {
	user := userSettings(c)
	asked := map[string]bool{}
	var theirs []setting
	for _, s := range user.live {
		asked[s.name] = true
		if known(version, s.name, s.value) {
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
	if c.EffectiveTopology() != v1alpha1.TopologyStandalone && !c.Persisted() {
		// A replica that starts empty, as all do without persistence, reads the
		// copy from the socket: an emptyDir or tmpfs need not hold the data set.
		g.add("repl-diskless-load", "on-empty-db")
	}
	return g
}

func savePoints(c *v1alpha1.ValkeyCluster) group {
	g := group{title: "persistence"}
	if writesRDB(c.StorageMode()) {
		g.add("save", "3600 1")
		g.add("save", "300 100")
		g.add("save", "60 10000")
	}
	return g
}

// chosen are the user's directives, sorted by name.
type chosen struct{ restart, live []setting }

// userSettings splits spec.config by what its directives take to apply. Reserved
// directives are left out: Check refuses them.
func userSettings(c *v1alpha1.ValkeyCluster) chosen {
	var user chosen
	names := make([]string, 0, len(c.Spec.Config))
	for name := range c.Spec.Config {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, given := range names {
		name := strings.ToLower(given)
		for _, value := range strings.Split(strings.TrimRight(c.Spec.Config[given], "\n"), "\n") {
			s := setting{name, value}
			if liveClass(c.ServerVersion(), name) {
				user.live = append(user.live, s)
			} else {
				user.restart = append(user.restart, s)
			}
		}
	}
	return user
}

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
	groups := []group{memoryGroup(c), failoverGroup(c), savePoints(c)}
	for i := range groups {
		groups[i].settings = slices.DeleteFunc(groups[i].settings, func(s setting) bool { return asked[s.name] })
	}
	return append(groups, group{title: "spec.config", settings: theirs})
}

func memoryGroup(c *v1alpha1.ValkeyCluster) group {
	g := group{title: "memory"}
	if bytes, ok := Maxmemory(c); ok {
		g.add("maxmemory", megabytes(bytes))
	}
	if c.Spec.Profile == v1alpha1.ProfileDurable {
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
	durable := c.Spec.Profile == v1alpha1.ProfileDurable
	if c.Spec.Topology == v1alpha1.TopologyCluster {
		g.add("cluster-node-timeout", strconv.FormatInt(nodeTimeoutMillis(c), 10))
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
	if durable && podsPerShard(c) > 2 {
		// With a single replica writes would stop whenever that one restarts.
		g.add("min-replicas-to-write", "1")
		g.add("min-replicas-max-lag", "10")
	}
	return g
}

func savePoints(c *v1alpha1.ValkeyCluster) group {
	g := group{title: "persistence"}
	if writesRDB(storageMode(c)) {
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
			if liveClass(c.Spec.Version, name) {
				user.live = append(user.live, s)
			} else {
				user.restart = append(user.restart, s)
			}
		}
	}
	return user
}

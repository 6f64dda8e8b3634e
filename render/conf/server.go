// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/script"
)

func serverGroups(c *v1alpha1.ValkeyCluster) []group {
	restart, _ := userSettings(c)
	return []group{
		networkGroup(),
		tlsGroup(c),
		clusterGroup(c),
		persistenceGroup(c),
		moduleGroup(c),
		{title: "spec.config", settings: restart},
		includeGroup(c),
	}
}

func networkGroup() group {
	g := group{title: "network"}
	// IPv4 and IPv6; the minus sign lets the server start where there is no IPv6.
	g.add("bind", "* -::*")
	// Access is what the ACL file says. Protected mode would lock out every
	// client once a cluster is asked to run without passwords.
	g.add("protected-mode", "no")
	return g
}

func tlsGroup(c *v1alpha1.ValkeyCluster) group {
	g := group{title: "tls"}
	if !c.TLSEnabled() {
		return g
	}
	g.add("tls-ca-cert-file", script.TLSDir+"/"+script.TLSCA)
	g.add("tls-cert-file", script.TLSDir+"/"+script.TLSCert)
	g.add("tls-key-file", script.TLSDir+"/"+script.TLSKey)
	g.add("tls-auth-clients", authClients(c.TLSClientAuth()))
	if c.TLSMinVersion() == "1.3" {
		g.add("tls-protocols", "TLSv1.3")
	} else {
		g.add("tls-protocols", "TLSv1.2 TLSv1.3")
	}
	if c.EffectiveTopology() != v1alpha1.TopologyStandalone {
		// The plain port is closed, also for replicas.
		g.add("tls-replication", "yes")
	}
	if c.ClusterBusTLS() {
		g.add("tls-cluster", "yes")
	}
	if c.TLSReload() && c.AtLeast("9.1") {
		// Serves a renewed certificate by itself. Before 9.1 the reconciler does
		// it with CONFIG SET.
		g.add("tls-auto-reload-interval", "60")
	}
	return g
}

func authClients(auth v1alpha1.TLSClientAuth) string {
	switch auth {
	case v1alpha1.TLSClientAuthOff:
		return "no"
	case v1alpha1.TLSClientAuthRequired:
		return "yes"
	}
	return "optional"
}

func clusterGroup(c *v1alpha1.ValkeyCluster) group {
	g := group{title: "cluster"}
	if !c.IsCluster() {
		return g
	}
	// Left on, a drained primary and its replica walk off to another shard.
	g.add("cluster-allow-replica-migration", "no")
	if c.AtLeast("9.0") {
		// The server hands its slots over before it exits. `safe` would keep a
		// primary without a usable replica running until it is killed.
		g.add("shutdown-on-sigterm", "failover")
	}
	return g
}

func persistenceGroup(c *v1alpha1.ValkeyCluster) group {
	g := group{title: "persistence"}
	mode := c.StorageMode()
	// The names are those of files on a kept volume: never the server's choice.
	if writesRDB(mode) {
		g.add("dbfilename", "dump.rdb")
	} else {
		// Absent, the server's own save points would apply.
		g.add("save", "")
	}
	if writesAOF(mode) {
		g.add("appendonly", "yes")
		g.add("appenddirname", "appendonlydir")
		g.add("appendfilename", "appendonly.aof")
	} else {
		g.add("appendonly", "no")
	}
	return g
}

func writesRDB(mode v1alpha1.StorageMode) bool {
	return mode == v1alpha1.StorageRDB || mode == v1alpha1.StorageBoth
}

func writesAOF(mode v1alpha1.StorageMode) bool {
	return mode == v1alpha1.StorageAOF || mode == v1alpha1.StorageBoth
}

func moduleGroup(c *v1alpha1.ValkeyCluster) group {
	g := group{title: "modules"}
	for _, m := range c.Spec.Modules {
		g.addWords("loadmodule", append([]string{script.ModuleFile(m.Name)}, m.Args...)...)
	}
	return g
}

func includeGroup(c *v1alpha1.ValkeyCluster) group {
	g := group{title: "live directives, and credentials for replication"}
	g.addWords("include", script.LiveInclude)
	if c.EffectiveTopology() != v1alpha1.TopologyStandalone {
		g.addWords("include", script.AuthInclude)
	}
	return g
}

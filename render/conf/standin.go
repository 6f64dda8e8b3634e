// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"fmt"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

func writeLine(name, value string) (string, error) {
	if strings.ContainsAny(value, "\n\r\x00") {
		return "", fmt.Errorf("%s: value holds a line break", name)
	}
	if value == "" {
		value = `""`
	}
	return name + " " + value, nil
}

func liveClass(_, name string) bool {
	switch name {
	case "io-threads", "databases", "loadmodule", "tcp-backlog":
		return false
	}
	return true
}

func known(string, string, string) bool { return true }

func atLeast(c *v1alpha1.ValkeyCluster, version string) bool { return c.Spec.Version >= version }
func port(c *v1alpha1.ValkeyCluster) int32 {
	if n := c.Spec.Networking; n != nil && n.Port != nil {
		return *n.Port
	}
	return 6379
}
func domain(c *v1alpha1.ValkeyCluster) string {
	if n := c.Spec.Networking; n != nil && n.ClusterDomain != "" {
		return n.ClusterDomain
	}
	return "cluster.local"
}
func announceHostname(c *v1alpha1.ValkeyCluster) bool {
	if n := c.Spec.Networking; n != nil && n.Announce != "" {
		return n.Announce == v1alpha1.AnnounceHostname
	}
	return c.Spec.TLS != nil
}
func storageMode(c *v1alpha1.ValkeyCluster) v1alpha1.StorageMode {
	if s := c.Spec.Storage; s != nil && s.Mode != "" {
		return s.Mode
	}
	if c.Spec.Profile == v1alpha1.ProfileDurable {
		return v1alpha1.StorageBoth
	}
	return v1alpha1.StorageNone
}
func podsPerShard(c *v1alpha1.ValkeyCluster) int32 {
	switch c.Spec.Topology {
	case v1alpha1.TopologyStandalone:
		return 1
	case v1alpha1.TopologyReplication, v1alpha1.TopologySentinel:
		if c.Spec.Replicas != nil {
			return *c.Spec.Replicas
		}
		return 3
	}
	if c.Spec.ReplicasPerShard != nil {
		return 1 + *c.Spec.ReplicasPerShard
	}
	return 2
}
func nodeTimeoutMillis(c *v1alpha1.ValkeyCluster) int64 {
	if f := c.Spec.Failover; f != nil && f.NodeTimeout != nil {
		return f.NodeTimeout.Milliseconds()
	}
	return 2000
}
func maxmemoryPercent(c *v1alpha1.ValkeyCluster) int64 {
	if m := c.Spec.Memory; m != nil && m.MaxmemoryPercent != nil {
		return int64(*m.MaxmemoryPercent)
	}
	if c.Spec.Profile == v1alpha1.ProfileDurable {
		return 60
	}
	return 75
}
func enabled(b *bool) bool { return b == nil || *b }

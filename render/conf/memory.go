// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"strconv"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/directive"
)

const (
	mib = int64(1) << 20
	// leastMaxmemory is the least that is rendered: an empty server uses a few MiB
	// itself, and below that every write would be refused or evict all others.
	leastMaxmemory = 4 * mib
)

// Maxmemory returns what maxmemory is set to, in bytes: spec.config[maxmemory],
// else what follows from the memory limit. Without either, or with maxmemory 0,
// the server has no limit and ok is false.
//
// From a limit L it is
//
//	L × memory.maxmemoryPercent / 100
//	− the replication backlog, not with topology Standalone
//	− L/32, 4 MiB to 128 MiB, for clients
//
// in whole MiB, at least 4 MiB. What is left of L is for what the server uses and
// does not count in maxmemory: fragmentation, output to replicas beyond the
// backlog, the AOF buffer, and pages that are copied while a child writes a
// snapshot. With the default of 75 percent a limit of 1Gi gives 672 MiB, of 8Gi
// 5760 MiB.
func Maxmemory(c *v1alpha1.ValkeyCluster) (bytes int64, ok bool) {
	if value, set := c.ConfigValue("maxmemory"); set {
		bytes, err := memoryBytes(trimmed(value))
		return bytes, err == nil && bytes > 0
	}
	bytes, ok = derivedMaxmemory(c)
	if !ok {
		return 0, false
	}
	return max(bytes, leastMaxmemory), true
}

// derivedMaxmemory is maxmemory as it follows from the limit, possibly too small
// or negative.
func derivedMaxmemory(c *v1alpha1.ValkeyCluster) (bytes int64, ok bool) {
	limit := memoryLimit(c)
	if limit <= 0 {
		return 0, false
	}
	percent := int64(c.MaxmemoryPercent())
	// Split so that no limit overflows.
	bytes = limit/100*percent + limit%100*percent/100
	bytes -= clamp(limit/32, 4*mib, 128*mib)
	if size, set := backlog(c); set {
		bytes -= size
	}
	return bytes / mib * mib, true
}

// backlog is repl-backlog-size in bytes: what spec.config says, else a sixteenth
// of the limit, 16 MiB to 256 MiB, so that a replica that was away for a restart
// needs no full copy. Without a limit the server's default stays.
func backlog(c *v1alpha1.ValkeyCluster) (bytes int64, ok bool) {
	if c.EffectiveTopology() == v1alpha1.TopologyStandalone {
		return 0, false
	}
	if value, set := c.ConfigValue("repl-backlog-size"); set {
		bytes, err := memoryBytes(trimmed(value))
		return bytes, err == nil
	}
	limit := memoryLimit(c)
	if limit <= 0 {
		return 0, false
	}
	return clamp(limit/16, 16*mib, 256*mib) / mib * mib, true
}

// StartupBudgetSeconds is how long a server may take to load its data set, from
// disk or from its primary, before the startup probe gives up on it: a minute,
// and a second for each 10 MiB, which the slowest of disks and networks manage.
// Three times that where the data is kept: after a change of spec.storage.mode the
// start step loads and saves it before the server loads it (render/script). The size
// is maxmemory, else that of the volume. At least two minutes, at most a day; ten
// minutes when nothing tells the size.
func StartupBudgetSeconds(c *v1alpha1.ValkeyCluster) int32 {
	bytes, ok := Maxmemory(c)
	if !ok && c.Persisted() {
		size := c.StorageSize()
		bytes, ok = size.Value(), true
	}
	if !ok {
		return 600
	}
	seconds := min(bytes/(10*mib), 86400)
	if c.Persisted() {
		seconds *= 3
	}
	return int32(clamp(60+seconds, 120, 86400))
}

func memoryLimit(c *v1alpha1.ValkeyCluster) int64 {
	return c.Spec.Resources.Limits.Memory().Value()
}

func clamp(value, low, high int64) int64 { return min(max(value, low), high) }

// megabytes writes whole MiB as the server takes and a reader expects them.
func megabytes(bytes int64) string { return strconv.FormatInt(bytes/mib, 10) + "mb" }

// memoryBytes reads a memory value as the server does.
func memoryBytes(value string) (int64, error) {
	_, bytes, err := directive.Canonical(v1alpha1.DefaultVersion, "maxmemory", value)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(bytes, 10, 64)
}

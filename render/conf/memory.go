// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"strconv"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

const mib = int64(1) << 20

// Maxmemory returns what maxmemory is set to, in bytes. Without a memory limit
// and without spec.config[maxmemory] it is not set and ok is false.
//
// From a limit L it is L×percent/100 less the replication backlog (topologies
// with replicas) and less L/32 for clients (4 MiB to 128 MiB), in whole MiB. The
// rest of the limit is for what the server does not count: fragmentation, what
// replicas have not read yet beyond the backlog, and pages copied while a
// snapshot is written.
func Maxmemory(c *v1alpha1.ValkeyCluster) (bytes int64, ok bool) {
	limit := memoryLimit(c)
	if limit <= 0 {
		return 0, false
	}
	bytes = limit/100*maxmemoryPercent(c) - clamp(limit/32, 4*mib, 128*mib)
	if size, replicated := backlog(c); replicated {
		bytes -= size
	}
	return max(bytes/mib*mib, mib), true
}

// backlog is repl-backlog-size: a sixteenth of the limit, 16 MiB to 256 MiB, so
// that a replica that was restarted needs no full copy.
func backlog(c *v1alpha1.ValkeyCluster) (bytes int64, ok bool) {
	limit := memoryLimit(c)
	if limit <= 0 || c.Spec.Topology == v1alpha1.TopologyStandalone {
		return 0, false
	}
	return clamp(limit/16, 16*mib, 256*mib) / mib * mib, true
}

// StartupBudgetSeconds is how long a server may take to load its data set, from
// disk or from its primary, before the startup probe gives up.
func StartupBudgetSeconds(c *v1alpha1.ValkeyCluster) int32 {
	bytes, ok := Maxmemory(c)
	if !ok {
		return 600
	}
	return int32(clamp(60+bytes/(10*mib), 120, 86400))
}

func memoryLimit(c *v1alpha1.ValkeyCluster) int64 {
	return c.Spec.Resources.Limits.Memory().Value()
}

func clamp(value, low, high int64) int64 { return min(max(value, low), high) }

func megabytes(bytes int64) string { return strconv.FormatInt(bytes/mib, 10) + "mb" }

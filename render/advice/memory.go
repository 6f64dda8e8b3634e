// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/conf"
	"github.com/valkey-render/valkey-render/render/finding"
)

func limit(c *v1alpha1.ValkeyCluster, name corev1.ResourceName) (resource.Quantity, bool) {
	q, ok := c.Spec.Resources.Limits[name]
	return q, ok && !q.IsZero()
}

// memoryWithoutLimit: the kernel, not maxmemory, then says when enough is enough.
func memoryWithoutLimit(c *v1alpha1.ValkeyCluster) []Advice {
	if _, ok := limit(c, corev1.ResourceMemory); ok {
		return nil
	}
	if _, ok := conf.Maxmemory(c); ok {
		return nil
	}
	return one(finding.NoMemoryLimit, spec().Child("resources", "limits", "memory"),
		"no memory limit and no maxmemory: the server takes memory until the node has none; set a limit and maxmemory follows from it")
}

// maxmemoryAboveLimit: buffers, fragmentation and the copy made by a fork come on
// top of maxmemory.
func maxmemoryAboveLimit(c *v1alpha1.ValkeyCluster) []Advice {
	q, ok := limit(c, corev1.ResourceMemory)
	if !ok {
		return nil
	}
	path := spec().Child("config").Key("maxmemory")
	_, set := c.ConfigValue("maxmemory")
	used, ok := conf.Maxmemory(c)
	if !ok {
		if !set {
			return nil
		}
		return one(finding.MemoryTooSmall, path,
			"maxmemory 0 is no limit, and the pod has one of %s: it will be OOM-killed instead of evicting keys or refusing writes; remove it and maxmemory follows from the limit", q.String())
	}
	if !set {
		path = spec().Child("memory", "maxmemoryPercent")
	}
	highest := q.Value() / 10 * 9
	if used <= highest {
		return nil
	}
	return one(finding.MemoryTooSmall, path,
		"maxmemory of %d bytes leaves no room in a limit of %s for buffers, fragmentation and forks: the pod will be OOM-killed; at most %d", used, q.String(), highest)
}

// memoryRequestBelowLimit: a pod that uses more than it asked for is the first
// to be evicted under node pressure.
func memoryRequestBelowLimit(c *v1alpha1.ValkeyCluster) []Advice {
	q, ok := limit(c, corev1.ResourceMemory)
	if !ok || !c.IsDurable() {
		return nil
	}
	r, ok := c.Spec.Resources.Requests[corev1.ResourceMemory]
	if !ok {
		// An absent request is set to the limit by the API server.
		return nil
	}
	if r.Cmp(q) >= 0 {
		return nil
	}
	return one(finding.RequestBelowLimit, spec().Child("resources", "requests", "memory"),
		"a request of %s below the limit of %s makes durable pods the first to be evicted when the node runs short; ask for %s", r.String(), q.String(), q.String())
}

// moreThreadsThanCPUs: threads beyond the CPU limit only make each other wait.
func moreThreadsThanCPUs(c *v1alpha1.ValkeyCluster) []Advice {
	q, ok := limit(c, corev1.ResourceCPU)
	if !ok {
		return nil
	}
	text, ok := c.ConfigValue("io-threads")
	if !ok {
		return nil
	}
	threads, err := strconv.ParseInt(text, 10, 64)
	if err != nil || threads <= 1 || threads*1000 <= q.MilliValue() {
		return nil
	}
	return one(finding.MoreThreadsThanCPUs, spec().Child("config").Key("io-threads"),
		"%d I/O threads share a limit of %s CPUs and throttle each other; raise the limit or lower io-threads", threads, q.String())
}

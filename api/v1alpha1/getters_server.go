// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	// ServerRepository is the image repository of the default server image; its
	// tag is the version.
	ServerRepository = "docker.io/valkey/valkey"
	// DefaultExporterImage is the image of the exporter sidecar.
	DefaultExporterImage = "docker.io/oliver006/redis_exporter:v1.80.0"
	// DefaultScrapeInterval is the interval of the PodMonitor.
	DefaultScrapeInterval = 30 * time.Second
	// PasswordKey is the key of a password in a Secret that names none.
	PasswordKey = "password"
	// CAKey is the key of a CA certificate in a Secret that names none.
	CAKey = "ca.crt"

	cachePercent   = 75
	durablePercent = 60

	cacheSize   = "1Gi"
	durableSize = "10Gi"
	nominalSize = "1Gi"
)

// ServerImage returns the image of the server container.
func (c *ValkeyCluster) ServerImage() string {
	if c.Spec.Image == "" {
		return ServerRepository + ":" + c.ServerVersion()
	}
	return c.Spec.Image
}

// SentinelImage returns the image of the Sentinel pods.
func (c *ValkeyCluster) SentinelImage() string {
	if c.Spec.Sentinel == nil || c.Spec.Sentinel.Image == "" {
		return c.ServerImage()
	}
	return c.Spec.Sentinel.Image
}

// pinned says whether an image that runs the server is given by digest, which
// does not say its version.
func (c *ValkeyCluster) pinned() bool {
	return parseImage(c.Spec.Image).pinned || c.Spec.Sentinel != nil && parseImage(c.Spec.Sentinel.Image).pinned
}

// PullPolicy returns imagePullPolicy for an image; without one, what the API
// server would fill in: Always for the tag latest or none, else IfNotPresent.
func (c *ValkeyCluster) PullPolicy(image string) corev1.PullPolicy {
	if c.Spec.ImagePullPolicy != "" {
		return c.Spec.ImagePullPolicy
	}
	return DefaultPullPolicy(image)
}

// MaxmemoryPercent returns the share of the memory limit that becomes maxmemory.
func (c *ValkeyCluster) MaxmemoryPercent() int32 {
	byDefault := int32(cachePercent)
	if c.IsDurable() {
		byDefault = durablePercent
	}
	if c.Spec.Memory == nil {
		return byDefault
	}
	return deref(c.Spec.Memory.MaxmemoryPercent, byDefault)
}

// HasClaims says whether every data pod has a PersistentVolumeClaim.
func (c *ValkeyCluster) HasClaims() bool {
	return c.Spec.Storage != nil && c.StorageMedium() == MediumDisk
}

// Persisted says whether what the server writes outlives its pod: there is a
// claim, and a mode that writes to it.
func (c *ValkeyCluster) Persisted() bool {
	return c.HasClaims() && c.StorageMode() != StorageNone
}

// StorageMode says what the server writes: nothing without storage or on a
// tmpfs; by default both with profile Durable, none with Cache.
func (c *ValkeyCluster) StorageMode() StorageMode {
	switch {
	case c.Spec.Storage == nil:
		return StorageNone
	case c.Spec.Storage.Mode != "":
		return c.Spec.Storage.Mode
	case c.IsDurable():
		return StorageBoth
	default:
		return StorageNone
	}
}

// StorageMedium says what the data directory is made of; Disk by default.
func (c *ValkeyCluster) StorageMedium() StorageMedium {
	if c.Spec.Storage == nil || c.Spec.Storage.Medium == "" {
		return MediumDisk
	}
	return c.Spec.Storage.Medium
}

// StorageSize returns the size of one volume: by default 10Gi with profile
// Durable, else 1Gi.
func (c *ValkeyCluster) StorageSize() resource.Quantity {
	switch {
	case c.Spec.Storage != nil && c.Spec.Storage.Size != nil:
		return c.Spec.Storage.Size.DeepCopy()
	case c.IsDurable():
		return resource.MustParse(durableSize)
	default:
		return resource.MustParse(cacheSize)
	}
}

// InitialSize returns what the claim template of the StatefulSets asks for. It
// is immutable there, so the default is a constant, whatever the size, except for
// a smaller size: a claim never shrinks. With rendered Jobs it is the size, since
// nothing keeps the claims of the StatefulSet controller away. In both cases, pin
// it before growing.
func (c *ValkeyCluster) InitialSize() resource.Quantity {
	switch {
	case c.Spec.Storage != nil && c.Spec.Storage.InitialSize != nil:
		return c.Spec.Storage.InitialSize.DeepCopy()
	case c.EffectiveJobs() == JobsRendered:
		return c.StorageSize()
	default:
		nominal := resource.MustParse(nominalSize)
		if size := c.StorageSize(); size.Sign() > 0 && size.Cmp(nominal) < 0 {
			return size
		}
		return nominal
	}
}

// AccessMode returns the access mode of the claims; ReadWriteOnce by default.
func (c *ValkeyCluster) AccessMode() corev1.PersistentVolumeAccessMode {
	if c.Spec.Storage == nil || c.Spec.Storage.AccessMode == "" {
		return corev1.ReadWriteOnce
	}
	return c.Spec.Storage.AccessMode
}

// ReclaimPolicy says what becomes of the claims with their StatefulSet; Retain
// by default.
func (c *ValkeyCluster) ReclaimPolicy() ReclaimPolicy {
	if c.Spec.Storage == nil || c.Spec.Storage.ReclaimPolicy == "" {
		return ReclaimRetain
	}
	return c.Spec.Storage.ReclaimPolicy
}

// ConfigValue returns the value of a directive in spec.config, whatever the
// case that its name is written in.
func (c *ValkeyCluster) ConfigValue(directive string) (value string, set bool) {
	if value, set = c.Spec.Config[directive]; set {
		return value, true
	}
	for name, v := range c.Spec.Config {
		// Of several spellings the smallest counts, so that the answer does not
		// depend on map order; Validate refuses them anyway.
		if strings.EqualFold(name, directive) && (!set || v < value) {
			value, set = v, true
		}
	}
	return value, set
}

// MetricsEnabled says whether the exporter sidecar is rendered.
func (c *ValkeyCluster) MetricsEnabled() bool {
	return c.Spec.Metrics != nil && c.Spec.Metrics.Enabled
}

// ExporterImage returns the image of the exporter sidecar.
func (c *ValkeyCluster) ExporterImage() string {
	if c.Spec.Metrics == nil || c.Spec.Metrics.Image == "" {
		return DefaultExporterImage
	}
	return c.Spec.Metrics.Image
}

// PodMonitorEnabled says whether a PodMonitor is rendered.
func (c *ValkeyCluster) PodMonitorEnabled() bool {
	return c.MetricsEnabled() && c.Spec.Metrics.PodMonitor.IsEnabled()
}

// PrometheusRuleEnabled says whether a PrometheusRule is rendered.
func (c *ValkeyCluster) PrometheusRuleEnabled() bool {
	return c.MetricsEnabled() && c.Spec.Metrics.PrometheusRule.IsEnabled()
}

// DashboardEnabled says whether a dashboard is rendered.
func (c *ValkeyCluster) DashboardEnabled() bool {
	return c.MetricsEnabled() && c.Spec.Metrics.Dashboard.IsEnabled()
}

// ScrapeInterval returns the interval of the PodMonitor.
func (c *ValkeyCluster) ScrapeInterval() time.Duration {
	if c.Spec.Metrics == nil || c.Spec.Metrics.PodMonitor == nil || c.Spec.Metrics.PodMonitor.Interval == nil {
		return DefaultScrapeInterval
	}
	return c.Spec.Metrics.PodMonitor.Interval.Duration
}

// IsEnabled says whether the object is rendered: the block is present and does
// not say false.
func (m *MonitorSpec) IsEnabled() bool { return m != nil && deref(m.Enabled, true) }

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// sharedMeta is the metadata of an object that the whole cluster shares.
func sharedMeta(c *v1alpha1.ValkeyCluster, called string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: called, Namespace: c.Namespace, Labels: name.Labels(c.Name, name.ComponentCluster)}
}

// shardMeta is the metadata of an object that belongs to one shard.
func shardMeta(c *v1alpha1.ValkeyCluster, shard int32, called string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: called, Namespace: c.Namespace, Labels: name.ShardLabels(c.Name, shard)}
}

// sentinelMeta is the metadata of an object that belongs to the Sentinel pods.
func sentinelMeta(c *v1alpha1.ValkeyCluster, called string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: called, Namespace: c.Namespace, Labels: name.Labels(c.Name, name.ComponentSentinel)}
}

// monitorMeta is the metadata of an object for Prometheus or Grafana, with the
// labels that its operator selects by.
func monitorMeta(c *v1alpha1.ValkeyCluster, called string, spec *v1alpha1.MonitorSpec) metav1.ObjectMeta {
	meta := sharedMeta(c, called)
	labels := maps.Clone(spec.Labels)
	if labels == nil {
		return meta
	}
	maps.Copy(labels, meta.Labels)
	meta.Labels = labels
	return meta
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (c *ValkeyCluster) validateTopology(v *violations, spec *field.Path) {
	s := &c.Spec
	oneOf(v, spec.Child("topology"), s.Topology, TopologyCluster, TopologyReplication, TopologySentinel, TopologyStandalone)
	oneOf(v, spec.Child("profile"), s.Profile, ProfileCache, ProfileDurable)
	within(v, spec.Child("shards"), s.Shards, 1, MaxShards)
	within(v, spec.Child("replicasPerShard"), s.ReplicasPerShard, 0, MaxReplicasPerShard)
	within(v, spec.Child("replicas"), s.Replicas, 1, 1+MaxReplicasPerShard)
	if c.IsCluster() {
		if s.Replicas != nil {
			v.forbidden(spec.Child("replicas"), "topology Cluster has replicasPerShard, which does not count the primary: did you mean replicasPerShard: %d?", max(*s.Replicas-1, 0))
		}
	} else if c.knownTopology() {
		if s.Shards != nil {
			v.forbidden(spec.Child("shards"), "only topology Cluster has shards; topology %s has replicas", s.Topology)
		}
		if s.ReplicasPerShard != nil {
			v.forbidden(spec.Child("replicasPerShard"), "topology %s has replicas, which counts the primary: did you mean replicas: %d?", s.Topology, *s.ReplicasPerShard+1)
		}
	}
	if s.Topology == TopologyStandalone && s.Replicas != nil && *s.Replicas > 1 {
		v.invalid(spec.Child("replicas"), *s.Replicas, "topology Standalone has 1 pod; did you mean topology: Replication?")
	}
	c.validateSentinel(v, spec.Child("sentinel"))
	if s.Memory != nil {
		within(v, spec.Child("memory", "maxmemoryPercent"), s.Memory.MaxmemoryPercent, 1, 100)
	}
	v.resources(spec.Child("resources"), s.Resources)
}

// knownTopology keeps the rules of the topologies from a misspelt one, which is
// an error by itself.
func (c *ValkeyCluster) knownTopology() bool {
	switch c.EffectiveTopology() {
	case TopologyCluster, TopologyReplication, TopologySentinel, TopologyStandalone:
		return true
	}
	return false
}

func (c *ValkeyCluster) validateSentinel(v *violations, path *field.Path) {
	s := c.Spec.Sentinel
	if s == nil {
		return
	}
	if !c.IsSentinel() && c.knownTopology() {
		v.forbidden(path, "only topology Sentinel has Sentinel pods; this is topology %s", c.EffectiveTopology())
	}
	replicas := deref(s.Replicas, defaultSentinels)
	within(v, path.Child("replicas"), s.Replicas, 3, 15)
	if replicas%2 == 0 {
		v.invalid(path.Child("replicas"), replicas, "must be odd: an even number needs one vote more and survives no more losses; did you mean %d?", replicas+1)
	}
	if s.Quorum != nil && (*s.Quorum < 1 || *s.Quorum > replicas) {
		v.invalid(path.Child("quorum"), *s.Quorum, "must be between 1 and the %d Sentinel replicas; their majority is %d", replicas, replicas/2+1)
	}
	c.validateServerImage(v, path.Child("image"), s.Image)
	v.resources(path.Child("resources"), s.Resources)
	v.lasting(path.Child("downAfter"), s.DownAfter, 100*time.Millisecond, time.Hour)
}

func (c *ValkeyCluster) validateVersion(v *violations, spec *field.Path) {
	s := &c.Spec
	oneOf(v, spec.Child("version"), s.Version, Versions()...)
	c.validateServerImage(v, spec.Child("image"), s.Image)
	oneOf(v, spec.Child("imagePullPolicy"), s.ImagePullPolicy, "Always", "IfNotPresent", "Never")
	v.pullSecrets(spec.Child("imagePullSecrets"), s.ImagePullSecrets)
	if s.Version == "" && c.pinned() && parseImage(s.Image).invalid() == "" {
		v.required(spec.Child("version"), "an image by digest does not say its version: one of %s", strings.Join(Versions(), ", "))
	}
}

// validateServerImage checks an image that runs valkey-server: its tag, when it
// names a version, is of the version whose directives are rendered.
func (c *ValkeyCluster) validateServerImage(v *violations, path *field.Path, image string) {
	if image == "" || !v.image(path, image) {
		return
	}
	if tagged := parseImage(image).minorVersion(); tagged != "" && tagged != c.ServerVersion() {
		v.invalid(path, image, "the tag is of version %s, spec.version is %s: make them agree", tagged, c.ServerVersion())
	}
}

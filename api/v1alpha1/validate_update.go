// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateUpdate reports every change from old to c that a running cluster
// cannot follow: fields that are immutable, a version that cannot read the data
// of the one before, and disks that would shrink. Both may be defaulted or not.
// It does not repeat what Validate reports of c alone.
func (c *ValkeyCluster) ValidateUpdate(old *ValkeyCluster) field.ErrorList {
	v := &violations{}
	spec := field.NewPath("spec")
	immutable(v, spec.Child("topology"), old.EffectiveTopology(), c.EffectiveTopology())
	immutable(v, spec.Child("profile"), old.EffectiveProfile(), c.EffectiveProfile())
	if old.AtLeast("9.0") && slices.Contains(Versions(), c.ServerVersion()) && !c.AtLeast("9.0") {
		v.invalid(spec.Child("version"), c.ServerVersion(), "8.x cannot read the data of %s nor replicate from it: restore a backup into a new cluster", old.ServerVersion())
	}
	immutable(v, spec.Child("networking", "port"), old.Port(), c.Port())
	if was, now := old.ipFamily(), c.ipFamily(); was != "" && now != "" && was != now {
		v.invalid(spec.Child("networking", "ipFamily"), now, "is immutable while set, was %s: the addresses of a Service keep their family", was)
	}
	c.validateStorageUpdate(v, spec.Child("storage"), old)
	c.validateTLSUpdate(v, spec.Child("tls"), old)
	before, after := old.PinnedZones(), c.PinnedZones()
	if len(before) > 0 && len(after) > 0 && !slices.Equal(before, after) {
		v.invalid(spec.Child("scheduling", "zone", "pinning", "zones"), after, "is immutable while set, was %v: volumes do not follow; remove the pinning first", before)
	}
	return v.list
}

func (c *ValkeyCluster) ipFamily() string {
	if c.Spec.Networking == nil {
		return ""
	}
	return c.Spec.Networking.IPFamily
}

// ValidateUpdate reports every change from old to a that cannot be followed.
func (a *ValkeyACL) ValidateUpdate(old *ValkeyACL) field.ErrorList {
	v := &violations{}
	immutable(v, field.NewPath("spec", "clusterRef", "name"), old.Spec.ClusterRef.Name, a.Spec.ClusterRef.Name)
	return v.list
}

func immutable[T comparable](v *violations, path *field.Path, old, now T) {
	if old != now {
		v.invalid(path, now, "is immutable, was %v", old)
	}
}

func (c *ValkeyCluster) validateStorageUpdate(v *violations, path *field.Path, old *ValkeyCluster) {
	before, after := old.Spec.Storage, c.Spec.Storage
	switch {
	case before == nil && after == nil:
		return
	case before == nil:
		v.forbidden(path, "cannot be added to a running cluster: the claims of a StatefulSet are immutable")
		return
	case after == nil:
		v.required(path, "cannot be removed from a running cluster: the claims of a StatefulSet are immutable")
		return
	}
	immutable(v, path.Child("medium"), old.StorageMedium(), c.StorageMedium())
	immutable(v, path.Child("storageClassName"), className(before), className(after))
	immutable(v, path.Child("accessMode"), old.AccessMode(), c.AccessMode())
	c.validateSizes(v, path, old)
}

func (c *ValkeyCluster) validateSizes(v *violations, path *field.Path, old *ValkeyCluster) {
	size, was := c.StorageSize(), old.StorageSize()
	if size.Cmp(was) < 0 {
		v.invalid(path.Child("size"), size.String(), "only grows, was %s", was.String())
	}
	if c.StorageMedium() != MediumDisk || old.StorageMedium() != MediumDisk {
		return
	}
	initial, template := c.InitialSize(), old.InitialSize()
	if initial.Cmp(template) == 0 {
		return
	}
	v.invalid(path.Child("initialSize"), initial.String(), "is immutable, was %s: set it to that", template.String())
}

// className tells an absent class (the cluster's default) from the empty one.
func className(s *StorageSpec) string {
	if s.StorageClassName == nil {
		return "the default class"
	}
	return fmt.Sprintf("%q", *s.StorageClassName)
}

// validateTLSUpdate holds what a cluster bus of both kinds cannot roll through.
func (c *ValkeyCluster) validateTLSUpdate(v *violations, path *field.Path, old *ValkeyCluster) {
	if !c.IsCluster() || !old.IsCluster() {
		return
	}
	switch {
	case c.TLSEnabled() && !old.TLSEnabled():
		v.forbidden(path, "cannot be added to a running topology Cluster: nodes with and without TLS do not reach each other")
	case !c.TLSEnabled() && old.TLSEnabled():
		v.required(path, "cannot be removed from a running topology Cluster: nodes with and without TLS do not reach each other")
	case c.TLSEnabled():
		immutable(v, path.Child("clusterBus"), old.ClusterBusTLS(), c.ClusterBusTLS())
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// mountRules are what a container may mount.
type mountRules struct {
	// added are the volumes of the spec.
	added map[string]*corev1.Volume
	// own are those of valkey-render that the pods have; none for mounts that are
	// about added volumes alone.
	own []string
	// container is the name of the container.
	container string
	// privileged allows a mount to show up on the node.
	privileged bool
}

// ownVolumes are the volumes of valkey-render that the data pods have.
func (c *ValkeyCluster) ownVolumes() []string {
	volumes := []string{"config", "live", "scripts", "acl", "system", "data", "run", "tmp"}
	if c.TLSEnabled() {
		volumes = append(volumes, "tls")
	}
	if len(c.Spec.Modules) > 0 {
		volumes = append(volumes, "modules")
	}
	if c.MetricsEnabled() {
		volumes = append(volumes, "exporter")
	}
	return volumes
}

// keptFromSidecars says why a container that is not the server may not mount a
// volume of valkey-render; empty when it may.
func keptFromSidecars(m *corev1.VolumeMount) string {
	switch m.Name {
	case "system", "acl", "exporter":
		return "holds passwords of valkey-render's own users"
	case "config", "live", "scripts":
		return "is what the server is run by, and changes with valkey-render"
	case "run":
		return "holds the password of replication"
	case "data", "modules":
		if !m.ReadOnly {
			return "may be mounted with readOnly: true only: the server alone writes there"
		}
	}
	return ""
}

// shadows returns the directory of ours that a mount would hide, wholly or in
// part; empty when it hides none.
func shadows(container, mountPath string) string {
	ours := []string{"/valkey", "/data", "/tmp"}
	if container != ContainerServer {
		ours = ours[:1]
	}
	mount := path.Clean(mountPath)
	for _, dir := range ours {
		inside := strings.HasPrefix(mount, dir+"/") && dir != "/tmp"
		if mount == dir || mount == "/" || inside {
			return dir
		}
	}
	return ""
}

// mounts checks mounts of volumes that exist. Those of a container of ours may
// not hide what it needs.
func (v *violations) mounts(at *field.Path, mounts []corev1.VolumeMount, rules mountRules) {
	seen := map[string]bool{}
	for i := range mounts {
		m, at := &mounts[i], at.Index(i)
		own := slices.Contains(rules.own, m.Name)
		switch {
		case rules.added[m.Name] == nil && !own:
			v.invalid(at.Child("name"), m.Name, "names no volume: add it to spec.pod.volumes")
		case own && rules.container != ContainerServer:
			if why := keptFromSidecars(m); why != "" {
				v.invalid(at.Child("name"), m.Name, "%s", why)
			}
		}
		ours := rules.container == ContainerServer || rules.container == ContainerExporter
		switch {
		case m.MountPath == "":
			v.required(at.Child("mountPath"), "absolute path")
		case !strings.HasPrefix(m.MountPath, "/") || strings.Contains(m.MountPath, ":"):
			v.invalid(at.Child("mountPath"), m.MountPath, "must be an absolute path without ':'")
		case ours && shadows(rules.container, m.MountPath) != "":
			v.invalid(at.Child("mountPath"), m.MountPath, "would hide %s, which the %s needs", shadows(rules.container, m.MountPath), rules.container)
		}
		if seen[m.MountPath] {
			v.duplicate(at.Child("mountPath"), m.MountPath)
		}
		seen[m.MountPath] = true
		v.mountOptions(at, m, rules.privileged)
	}
}

// mountOptions checks the part of a volume that is mounted, and how.
func (v *violations) mountOptions(at *field.Path, m *corev1.VolumeMount, privileged bool) {
	if m.SubPath != "" {
		v.filePath(at.Child("subPath"), m.SubPath)
	}
	if m.SubPathExpr != "" {
		v.filePath(at.Child("subPathExpr"), m.SubPathExpr)
		if m.SubPath != "" {
			v.forbidden(at.Child("subPathExpr"), "there is subPath already: remove one of the two")
		}
	}
	one(v, at.Child("mountPropagation"), m.MountPropagation,
		corev1.MountPropagationNone, corev1.MountPropagationHostToContainer, corev1.MountPropagationBidirectional)
	if deref(m.MountPropagation, "") == corev1.MountPropagationBidirectional && !privileged {
		v.forbidden(at.Child("mountPropagation"), "Bidirectional needs a privileged container")
	}
	one(v, at.Child("recursiveReadOnly"), m.RecursiveReadOnly,
		corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyIfPossible, corev1.RecursiveReadOnlyEnabled)
	if r := deref(m.RecursiveReadOnly, corev1.RecursiveReadOnlyDisabled); r == corev1.RecursiveReadOnlyDisabled {
		return
	}
	if !m.ReadOnly {
		v.forbidden(at.Child("recursiveReadOnly"), "needs readOnly: true beside it")
	}
	if p := deref(m.MountPropagation, corev1.MountPropagationNone); p != corev1.MountPropagationNone {
		v.forbidden(at.Child("recursiveReadOnly"), "cannot be with mountPropagation: %s", p)
	}
}

// devices checks block devices, which are claims of the spec's own.
func (v *violations) devices(at *field.Path, container *corev1.Container, added map[string]*corev1.Volume) {
	paths, names := map[string]bool{}, map[string]bool{}
	for i, d := range container.VolumeDevices {
		at := at.Index(i)
		volume := added[d.Name]
		switch {
		case volume == nil:
			v.invalid(at.Child("name"), d.Name, "names no volume of spec.pod.volumes")
		case volume.PersistentVolumeClaim == nil && volume.Ephemeral == nil:
			v.invalid(at.Child("name"), d.Name, "is no claim, so there is no device: mount it in volumeMounts")
		case names[d.Name]:
			v.duplicate(at.Child("name"), d.Name)
		case slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == d.Name }):
			v.invalid(at.Child("name"), d.Name, "is in volumeMounts too: a volume is a file system or a device")
		}
		names[d.Name] = true
		switch {
		case d.DevicePath == "":
			v.required(at.Child("devicePath"), "absolute path")
		case !path.IsAbs(d.DevicePath) || climbs(d.DevicePath):
			v.invalid(at.Child("devicePath"), d.DevicePath, "must be an absolute path without '..'")
		case paths[d.DevicePath]:
			v.duplicate(at.Child("devicePath"), d.DevicePath)
		}
		paths[d.DevicePath] = true
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxGraceSeconds = 86400
	ownPrefix       = Group + "/"
	// modulePrefix begins the names of the init containers that copy modules.
	modulePrefix = "module-"
)

// reservedLabel says whether a label of pods is set by us or by Kubernetes.
func reservedLabel(key string) bool {
	switch key {
	case "app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/component",
		"app.kubernetes.io/part-of", "app.kubernetes.io/managed-by",
		"apps.kubernetes.io/pod-index", "statefulset.kubernetes.io/pod-name", "controller-revision-hash":
		return true
	}
	return strings.HasPrefix(key, ownPrefix)
}

// reservedVolume says whether a volume of the data pods has this name already.
func reservedVolume(name string) bool {
	return slices.Contains([]string{"config", "live", "scripts", "acl", "system", "tls", "data", "run", "tmp", "modules", "exporter"}, name)
}

// shadows returns the directory of ours that a mount would hide, wholly or in
// part; empty when it hides none.
func shadows(mountPath string) string {
	mount := path.Clean(mountPath)
	for _, ours := range []string{"/valkey", "/data", "/tmp"} {
		inside := strings.HasPrefix(mount, ours+"/") && ours != "/tmp"
		if mount == ours || mount == "/" || inside {
			return ours
		}
	}
	return ""
}

func (c *ValkeyCluster) validatePod(v *violations, path *field.Path) {
	p := c.Spec.Pod
	if p == nil {
		return
	}
	v.nodeSelector(path.Child("labels"), p.Labels)
	for _, key := range sortedKeys(p.Labels) {
		if reservedLabel(key) {
			v.forbidden(path.Child("labels").Key(key), "is set by valkey-render or Kubernetes")
		}
	}
	v.annotations(path.Child("annotations"), p.Annotations)
	for _, key := range sortedKeys(p.Annotations) {
		if strings.HasPrefix(key, ownPrefix) {
			v.forbidden(path.Child("annotations").Key(key), "annotations of "+Group+" are valkey-render's")
		}
	}
	v.subdomain(path.Child("serviceAccountName"), p.ServiceAccountName)
	within(v, path.Child("terminationGracePeriodSeconds"), p.TerminationGracePeriodSeconds, 1, maxGraceSeconds)
	volumes := c.validateVolumes(v, path.Child("volumes"))
	v.mounts(path.Child("volumeMounts"), p.VolumeMounts, func(name string) bool { return volumes[name] }, true)
	c.validateContainers(v, path.Child("containers"), volumes)
}

// annotations reports keys that no object can have.
func (v *violations) annotations(path *field.Path, annotations map[string]string) {
	for _, key := range sortedKeys(annotations) {
		for _, why := range validation.IsQualifiedName(strings.ToLower(key)) {
			v.invalid(path.Key(key), key, "%s", why)
		}
	}
}

// validateVolumes returns the names of the volumes that the spec adds.
func (c *ValkeyCluster) validateVolumes(v *violations, path *field.Path) map[string]bool {
	names := map[string]bool{}
	for i, volume := range c.Spec.Pod.Volumes {
		at := path.Index(i).Child("name")
		for _, why := range validation.IsDNS1123Label(volume.Name) {
			v.invalid(at, volume.Name, "%s", why)
		}
		switch {
		case names[volume.Name]:
			v.duplicate(at, volume.Name)
		case reservedVolume(volume.Name):
			v.invalid(at, volume.Name, "is the name of a volume of valkey-render")
		case volume.VolumeSource == (corev1.VolumeSource{}):
			v.required(path.Index(i), "a source for the volume, like emptyDir: {}")
		}
		names[volume.Name] = true
	}
	return names
}

// mounts checks mounts of volumes that exist. Those of a container of ours may
// not hide what it needs.
func (v *violations) mounts(path *field.Path, mounts []corev1.VolumeMount, exists func(string) bool, ours bool) {
	seen := map[string]bool{}
	for i, m := range mounts {
		at := path.Index(i)
		if !exists(m.Name) {
			v.invalid(at.Child("name"), m.Name, "names no volume: add it to spec.pod.volumes")
		}
		switch {
		case m.MountPath == "":
			v.required(at.Child("mountPath"), "absolute path")
		case !strings.HasPrefix(m.MountPath, "/") || strings.Contains(m.MountPath, ":"):
			v.invalid(at.Child("mountPath"), m.MountPath, "must be an absolute path without ':'")
		case ours && shadows(m.MountPath) != "":
			v.invalid(at.Child("mountPath"), m.MountPath, "would hide %s, which the server needs", shadows(m.MountPath))
		}
		if seen[m.MountPath] {
			v.duplicate(at.Child("mountPath"), m.MountPath)
		}
		seen[m.MountPath] = true
	}
}

func (c *ValkeyCluster) validateContainers(v *violations, path *field.Path, volumes map[string]bool) {
	seen := map[string]bool{}
	anyVolume := func(name string) bool { return volumes[name] || reservedVolume(name) }
	for i := range c.Spec.Pod.Containers {
		container, at := &c.Spec.Pod.Containers[i], path.Index(i)
		name := container.Name
		for _, why := range validation.IsDNS1123Label(name) {
			v.invalid(at.Child("name"), name, "%s", why)
		}
		if seen[name] {
			v.duplicate(at.Child("name"), name)
		}
		seen[name] = true
		ours := name == ContainerServer || name == ContainerExporter
		v.mounts(at.Child("volumeMounts"), container.VolumeMounts, anyVolume, name == ContainerServer)
		v.resources(at.Child("resources"), container.Resources)
		v.image(at.Child("image"), container.Image)
		switch {
		case ours:
			c.validateMerged(v, at, container)
		case strings.HasPrefix(name, modulePrefix):
			v.invalid(at.Child("name"), name, "names that begin with "+modulePrefix+" are those of the containers that copy modules")
		default:
			c.validateSidecar(v, at, container)
		}
	}
}

// validateMerged refuses what the container of ours stands and falls with.
func (c *ValkeyCluster) validateMerged(v *violations, at *field.Path, container *corev1.Container) {
	name := container.Name
	if name == ContainerExporter && !c.MetricsEnabled() {
		v.invalid(at.Child("name"), name, "there is no exporter: did you mean spec.metrics.enabled: true, or another name?")
	}
	for _, f := range []struct {
		name, instead string
		set           bool
	}{
		{"image", "spec.image, or spec.metrics.image for the exporter", container.Image != ""},
		{"command", "", len(container.Command) > 0},
		{"args", "spec.config, or spec.metrics.args for the exporter", len(container.Args) > 0},
		{"ports", "spec.networking.port", len(container.Ports) > 0},
		{"workingDir", "", container.WorkingDir != ""},
	} {
		switch {
		case f.set && f.instead == "":
			v.forbidden(at.Child(f.name), "container %s is started by valkey-render", name)
		case f.set:
			v.forbidden(at.Child(f.name), "container %s has its own: did you mean %s?", name, f.instead)
		}
	}
	for i, env := range container.Env {
		if ownVariable(name, env.Name) {
			v.forbidden(at.Child("env").Index(i).Child("name"), "valkey-render sets %s in container %s", env.Name, name)
		}
	}
}

// ownVariable says whether a variable is one that the scripts or the exporter
// read.
func ownVariable(container, variable string) bool {
	if container == ContainerExporter {
		return strings.HasPrefix(variable, "REDIS_")
	}
	return strings.HasPrefix(variable, "VALKEY_") ||
		slices.Contains([]string{"POD_NAME", "POD_NAMESPACE", "POD_IP", "VALKEYCLI_AUTH", "REDISCLI_AUTH"}, variable)
}

// validateSidecar checks a container of the user's own.
func (c *ValkeyCluster) validateSidecar(v *violations, at *field.Path, container *corev1.Container) {
	if container.Image == "" {
		near := didYouMean(container.Name, []string{ContainerServer, ContainerExporter})
		v.required(at.Child("image"), "%sa container that is not valkey-render's needs an image", near)
	}
	for i, port := range container.Ports {
		at := at.Child("ports").Index(i)
		if slices.Contains([]string{"valkey", "bus", "metrics", "sentinel"}, port.Name) {
			v.invalid(at.Child("name"), port.Name, "is the name of a port of valkey-render")
		}
		taken := port.ContainerPort == c.Port() || port.ContainerPort == MetricsPort ||
			c.IsCluster() && port.ContainerPort == c.BusPort()
		if taken {
			v.invalid(at.Child("containerPort"), port.ContainerPort, "is a port of valkey-render in the same pod")
		}
	}
}

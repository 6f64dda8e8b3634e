// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// containerRules are what the containers of spec.pod stand beside.
type containerRules struct {
	volumes map[string]*corev1.Volume
	// pod is the security of the pods, ours that of valkey-render's containers.
	pod, ours security
}

func (c *ValkeyCluster) validateContainers(v *violations, path *field.Path, rules containerRules) {
	seen := map[string]bool{}
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
		v.image(at.Child("image"), container.Image)
		v.resources(at.Child("resources"), container.Resources)
		v.variables(at, container)
		without := rules.pod
		if name == ContainerServer || name == ContainerExporter {
			without = rules.ours
			c.validateMerged(v, at, container)
		} else {
			c.validateSidecar(v, at, container)
		}
		v.containerSecurity(at.Child("securityContext"), container.SecurityContext, without)
		v.mounts(at.Child("volumeMounts"), container.VolumeMounts, mountRules{
			added: rules.volumes, own: c.ownVolumes(), container: name,
			privileged: container.SecurityContext != nil && deref(container.SecurityContext.Privileged, false),
		})
		v.devices(at.Child("volumeDevices"), container, rules.volumes)
		v.containerPolicies(at, container)
	}
}

// containerPolicies checks what has a few values only.
func (v *violations) containerPolicies(at *field.Path, container *corev1.Container) {
	oneOf(v, at.Child("imagePullPolicy"), container.ImagePullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
	oneOf(v, at.Child("terminationMessagePolicy"), container.TerminationMessagePolicy,
		corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)
	seen := map[corev1.ResourceName]bool{}
	for i, p := range container.ResizePolicy {
		at := at.Child("resizePolicy").Index(i)
		if seen[p.ResourceName] {
			v.duplicate(at.Child("resourceName"), string(p.ResourceName))
		}
		seen[p.ResourceName] = true
		one(v, at.Child("resourceName"), &p.ResourceName, corev1.ResourceCPU, corev1.ResourceMemory)
		one(v, at.Child("restartPolicy"), &p.RestartPolicy, corev1.NotRequired, corev1.RestartContainer)
	}
	if container.RestartPolicy != nil {
		v.forbidden(at.Child("restartPolicy"), "only init containers have one in every Kubernetes that is supported")
	}
	if len(container.RestartPolicyRules) > 0 {
		v.forbidden(at.Child("restartPolicyRules"), "not every Kubernetes that is supported has them")
	}
}

// validateMerged refuses what the container of ours stands and falls with.
func (c *ValkeyCluster) validateMerged(v *violations, at *field.Path, container *corev1.Container) {
	name := container.Name
	if name == ContainerExporter && !c.MetricsEnabled() {
		v.invalid(at.Child("name"), name, "there is no exporter: did you mean spec.metrics.enabled: true, or another name?")
	}
	r := container.Resources
	for _, f := range []struct {
		name, instead string
		set           bool
	}{
		{"image", "spec.image, or spec.metrics.image for the exporter", container.Image != ""},
		{"command", "", len(container.Command) > 0},
		{"args", "spec.config, or spec.metrics.args for the exporter", len(container.Args) > 0},
		{"ports", "spec.networking.port", len(container.Ports) > 0},
		{"workingDir", "", container.WorkingDir != ""},
		// maxmemory follows from spec.resources, and the module containers ask for it.
		{"resources", "spec.resources", name == ContainerServer && len(r.Limits)+len(r.Requests) > 0},
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
	v.mergedProbes(at, container)
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
	if strings.HasPrefix(container.Name, modulePrefix) {
		v.invalid(at.Child("name"), container.Name, "names that begin with "+modulePrefix+" are those of the containers that copy modules")
		return
	}
	if container.Image == "" {
		near := didYouMean(container.Name, []string{ContainerServer, ContainerExporter})
		v.required(at.Child("image"), "%sa container that is not valkey-render's needs an image", near)
	}
	c.validatePorts(v, at.Child("ports"), container.Ports)
	c.validateProbes(v, at, container)
}

func (c *ValkeyCluster) validatePorts(v *violations, path *field.Path, ports []corev1.ContainerPort) {
	type pair struct {
		port     int32
		protocol corev1.Protocol
	}
	names, numbers := map[string]bool{}, map[pair]bool{}
	for i, port := range ports {
		at := path.Index(i)
		if port.Name != "" {
			v.portName(at.Child("name"), port.Name, names)
		}
		v.portNumber(at.Child("containerPort"), port.ContainerPort)
		taken := port.ContainerPort == c.Port() || port.ContainerPort == MetricsPort ||
			c.IsCluster() && port.ContainerPort == c.BusPort()
		if taken {
			v.invalid(at.Child("containerPort"), port.ContainerPort, "is a port of valkey-render in the same pod")
		}
		if port.Protocol == "" {
			port.Protocol = corev1.ProtocolTCP
		}
		oneOf(v, at.Child("protocol"), port.Protocol, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
		p := pair{port.ContainerPort, port.Protocol}
		if numbers[p] {
			v.duplicate(at.Child("containerPort"), port.ContainerPort)
		}
		numbers[p] = true
		within(v, at.Child("hostPort"), &port.HostPort, 0, 65535)
	}
}

// portName also keeps names in seen, since a probe finds a port by its name.
func (v *violations) portName(at *field.Path, name string, seen map[string]bool) {
	if slices.Contains([]string{"valkey", "bus", "metrics", "sentinel"}, name) {
		v.invalid(at, name, "is the name of a port of valkey-render")
	}
	if why := validation.IsValidPortName(name); len(why) > 0 {
		v.invalid(at, name, "%s", strings.Join(why, "; "))
	}
	if seen[name] {
		v.duplicate(at, name)
	}
	seen[name] = true
}

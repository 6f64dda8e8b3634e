// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/finding"
)

// notRestricted: what is rendered meets the level "restricted" of the Pod Security
// Standards until the spec takes it away.
func notRestricted(c *v1alpha1.ValkeyCluster) []Advice {
	p := c.Spec.Pod
	if p == nil {
		return nil
	}
	r, pod := &restricted{}, spec().Child("pod")
	for i := range p.Volumes {
		r.volume(pod.Child("volumes").Index(i), &p.Volumes[i])
	}
	if s := p.SecurityContext; s != nil {
		at := pod.Child("securityContext")
		r.user(at, s.RunAsUser, s.RunAsNonRoot)
		r.seccomp(at, s.SeccompProfile)
	}
	r.container(pod.Child("containerSecurityContext"), p.ContainerSecurityContext)
	for i := range p.Containers {
		container, at := &p.Containers[i], pod.Child("containers").Index(i)
		for j, port := range container.Ports {
			r.when(port.HostPort != 0, at.Child("ports").Index(j).Child("hostPort"), "a port of the node")
		}
		r.probe(at.Child("startupProbe"), container.StartupProbe)
		r.probe(at.Child("livenessProbe"), container.LivenessProbe)
		r.probe(at.Child("readinessProbe"), container.ReadinessProbe)
		at, s := at.Child("securityContext"), container.SecurityContext
		r.container(at, s)
		if s != nil && container.Name != v1alpha1.ContainerServer && container.Name != v1alpha1.ContainerExporter {
			// A context of its own takes the place of what sidecars get.
			r.when(s.AllowPrivilegeEscalation == nil, at.Child("allowPrivilegeEscalation"), "privileges that can be gained")
			all := s.Capabilities != nil && slices.Contains(s.Capabilities.Drop, "ALL")
			r.when(!all, at.Child("capabilities", "drop"), "capabilities that are not dropped")
		}
	}
	return r.all
}

// restricted collects what the level refuses.
type restricted struct{ all []Advice }

func (r *restricted) when(refused bool, at *field.Path, what string) {
	if refused {
		r.all = append(r.all, one(finding.NotRestricted, at,
			"%s: a namespace that enforces Pod Security \"restricted\" creates no such pod; remove it if the pods can do without", what)...)
	}
}

// volume: the level names the sources that it allows.
func (r *restricted) volume(at *field.Path, v *corev1.Volume) {
	r.when(v.HostPath != nil, at.Child("hostPath"), "files of the node")
	allowed := v.HostPath != nil || v.ConfigMap != nil || v.CSI != nil || v.DownwardAPI != nil || v.EmptyDir != nil ||
		v.Ephemeral != nil || v.PersistentVolumeClaim != nil || v.Projected != nil || v.Secret != nil || v.Image != nil
	r.when(!allowed, at, "a volume of a kind that is not allowed")
}

// probe: the kubelet would ask another host on behalf of the pod (from 1.34 on).
func (r *restricted) probe(at *field.Path, p *corev1.Probe) {
	if p == nil {
		return
	}
	const what = "a probe of another host"
	r.when(p.HTTPGet != nil && p.HTTPGet.Host != "", at.Child("httpGet", "host"), what)
	r.when(p.TCPSocket != nil && p.TCPSocket.Host != "", at.Child("tcpSocket", "host"), what)
}

func (r *restricted) user(at *field.Path, user *int64, nonRoot *bool) {
	root := user != nil && *user == 0
	r.when(nonRoot != nil && !*nonRoot, at.Child("runAsNonRoot"), "processes that may be root")
	r.when(root && (nonRoot == nil || *nonRoot), at.Child("runAsUser"), "processes of root")
}

func (r *restricted) seccomp(at *field.Path, p *corev1.SeccompProfile) {
	r.when(p != nil && p.Type == corev1.SeccompProfileTypeUnconfined, at.Child("seccompProfile", "type"), "system calls without a filter")
}

// container looks at what a context sets.
func (r *restricted) container(at *field.Path, s *corev1.SecurityContext) {
	if s == nil {
		return
	}
	r.user(at, s.RunAsUser, s.RunAsNonRoot)
	r.seccomp(at, s.SeccompProfile)
	r.when(s.Privileged != nil && *s.Privileged, at.Child("privileged"), "all rights on the node")
	r.when(s.AllowPrivilegeEscalation != nil && *s.AllowPrivilegeEscalation, at.Child("allowPrivilegeEscalation"), "privileges that can be gained")
	if s.Capabilities == nil {
		return
	}
	for i, c := range s.Capabilities.Add {
		r.when(c != "NET_BIND_SERVICE", at.Child("capabilities", "add").Index(i), "the capability "+string(c))
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/script"
)

// unsafeSysctl: the kubelet refuses a pod with a sysctl outside of the safe set
// unless the node's administrator allowed it, and Pod Security "restricted" too.
func unsafeSysctl(c *v1alpha1.ValkeyCluster) []Advice {
	if c.Spec.Pod == nil || c.Spec.Pod.SecurityContext == nil {
		return nil
	}
	var all []Advice
	for i, s := range c.Spec.Pod.SecurityContext.Sysctls {
		if !slices.Contains(safeSysctls(), s.Name) {
			all = append(all, one(finding.UnsafeSysctl, spec().Child("pod", "securityContext", "sysctls").Index(i).Child("name"),
				"%s is not in the safe set of Kubernetes: nodes refuse the pod unless their kubelet allows it", s.Name)...)
		}
	}
	return all
}

// safeSysctls is the list of the Pod Security Standards (baseline), Kubernetes
// 1.32.
func safeSysctls() []string {
	return []string{
		"kernel.shm_rmid_forced",
		"net.ipv4.ip_local_port_range",
		"net.ipv4.ip_local_reserved_ports",
		"net.ipv4.ip_unprivileged_port_start",
		"net.ipv4.ping_group_range",
		"net.ipv4.tcp_fin_timeout",
		"net.ipv4.tcp_keepalive_intvl",
		"net.ipv4.tcp_keepalive_probes",
		"net.ipv4.tcp_keepalive_time",
		"net.ipv4.tcp_rmem",
		"net.ipv4.tcp_syncookies",
		"net.ipv4.tcp_wmem",
	}
}

// authDisabled: whoever reaches the port reads and writes everything.
func authDisabled(c *v1alpha1.ValkeyCluster) []Advice {
	if c.AuthEnabled() {
		return nil
	}
	return one(finding.AuthDisabled, spec().Child("auth", "enabled"),
		"without a password every client that reaches the port reads and writes everything; restrict it by networkPolicy at least")
}

// userWithoutPassword: nopass takes any password.
func userWithoutPassword(c *v1alpha1.ValkeyCluster) []Advice {
	return Users(spec().Child("users"), c.Spec.Users)
}

// Users returns the advice for a list of users, which ValkeyACL objects have too.
func Users(path *field.Path, users []v1alpha1.UserSpec) []Advice {
	var all []Advice
	for i, u := range users {
		if u.Nopass && u.IsEnabled() {
			all = append(all, one(finding.NopassUser, path.Index(i).Child("nopass"),
				"user %s is let in with any password; give it a passwordSecret", u.Name)...)
		}
	}
	return all
}

// mutableImageTag: the same manifest then runs different servers on different
// days, and a restart becomes an upgrade that nobody reviewed.
func mutableImageTag(c *v1alpha1.ValkeyCluster) []Advice {
	type image struct {
		path *field.Path
		ref  string
	}
	images := []image{{spec().Child("image"), c.Spec.Image}}
	if c.Spec.Sentinel != nil {
		images = append(images, image{spec().Child("sentinel", "image"), c.Spec.Sentinel.Image})
	}
	if c.Spec.Metrics != nil && c.Spec.Metrics.Enabled {
		images = append(images, image{spec().Child("metrics", "image"), c.Spec.Metrics.Image})
	}
	for i, m := range c.Spec.Modules {
		images = append(images, image{spec().Child("modules").Index(i).Child("image"), m.Image})
	}
	if c.Spec.Pod != nil {
		for i := range c.Spec.Pod.Containers {
			images = append(images, image{spec().Child("pod", "containers").Index(i).Child("image"), c.Spec.Pod.Containers[i].Image})
		}
	}
	var all []Advice
	for _, im := range images {
		if im.ref != "" && v1alpha1.MutableImage(im.ref) {
			all = append(all, one(finding.MutableTag, im.path,
				"%s names no fixed version: a restart may become an upgrade that nobody reviewed; name a tag or a digest", im.ref)...)
		}
	}
	return all
}

// unexpandedVariable: the kubelet expands $(VAR) in command and args, and only
// where the container has an env entry of that name; elsewhere, and in config
// text, which arguments of modules are part of, it stays as it is written and is
// taken literally by the server.
func unexpandedVariable(c *v1alpha1.ValkeyCluster) []Advice {
	var all []Advice
	literal := func(path *field.Path, text string) {
		for _, v := range variables(text) {
			all = append(all, one(finding.UnexpandedVariable, path, "$(%s) is not expanded in config text: the server takes it literally", v)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Spec.Config)) {
		literal(spec().Child("config").Key(name), c.Spec.Config[name])
	}
	for i, m := range c.Spec.Modules {
		for j, arg := range m.Args {
			literal(spec().Child("modules").Index(i).Child("args").Index(j), arg)
		}
	}
	const missing = "$(%s) has no env entry of that name and stays as it is written"
	exporter := corev1.Container{}
	if c.Spec.Pod != nil {
		for i := range c.Spec.Pod.Containers {
			container := &c.Spec.Pod.Containers[i]
			if container.Name == v1alpha1.ContainerExporter {
				exporter = *container
			}
			for _, v := range missingVariables(container) {
				if !provided(container.Name, v) {
					all = append(all, one(finding.UnexpandedVariable, spec().Child("pod", "containers").Index(i), missing, v)...)
				}
			}
		}
	}
	if !c.MetricsEnabled() {
		return all
	}
	for i, arg := range c.Spec.Metrics.Args {
		// The arguments of the exporter are beside what spec.pod says of it.
		exporter.Args = []string{arg}
		for _, v := range missingVariables(&exporter) {
			all = append(all, one(finding.UnexpandedVariable, spec().Child("metrics", "args").Index(i), missing, v)...)
		}
	}
	return all
}

// provided tells whether the renderer gives a container of ours that variable.
func provided(container, variable string) bool {
	return container == v1alpha1.ContainerServer &&
		slices.Contains([]string{script.EnvPodName, script.EnvPodNamespace, script.EnvPodIP}, variable)
}

// certificateWithoutLocalhost: the exporter verifies the server under the name
// localhost, which cert-manager is asked for, but a Secret of one's own may lack.
func certificateWithoutLocalhost(c *v1alpha1.ValkeyCluster) []Advice {
	if !c.TLSEnabled() || c.Spec.TLS.IssuerRef != nil || !c.MetricsEnabled() {
		return nil
	}
	for _, arg := range c.Spec.Metrics.Args {
		if flag := strings.TrimLeft(arg, "-"); flag == "skip-tls-verification" || flag == "skip-tls-verification=true" {
			return nil
		}
	}
	return one(finding.CertificateWithoutLocalhost, spec().Child("tls", "secretName"),
		"the exporter reaches its server as localhost: the certificate in Secret %s must have that DNS name, or there are no metrics", c.TLSSecretName())
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"slices"
	"strings"

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

func (c *ValkeyCluster) validatePod(v *violations, path *field.Path) {
	p := c.Spec.Pod
	if p == nil {
		return
	}
	v.labels(path.Child("labels"), p.Labels)
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
	pod := v.podSecurity(path.Child("securityContext"), p.SecurityContext)
	escalate := false
	ours := v.containerSecurity(path.Child("containerSecurityContext"), p.ContainerSecurityContext,
		security{user: pod.user, nonRoot: pod.nonRoot, escalate: &escalate})
	volumes := c.validateVolumes(v, path.Child("volumes"))
	v.mounts(path.Child("volumeMounts"), p.VolumeMounts, mountRules{added: volumes, container: ContainerServer})
	c.validateContainers(v, path.Child("containers"), containerRules{volumes: volumes, pod: pod, ours: ours})
}

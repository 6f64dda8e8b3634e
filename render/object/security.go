// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// uid is the user and group of the server in the official images.
const uid int64 = 999

// podSecurity is Pod Security "restricted", with the user's fields over ours.
func podSecurity(c *v1alpha1.ValkeyCluster) *corev1.PodSecurityContext {
	ours := &corev1.PodSecurityContext{
		RunAsNonRoot: new(true),
		RunAsUser:    new(uid),
		RunAsGroup:   new(uid),
		FSGroup:      new(uid),
		// The files of a large volume are not all visited at each start.
		FSGroupChangePolicy: new(corev1.FSGroupChangeOnRootMismatch),
		SeccompProfile:      &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if c.Spec.Pod != nil {
		overlay(ours, c.Spec.Pod.SecurityContext)
	}
	return ours
}

// containerSecurity is what each container of ours has, with the user's fields
// over ours.
func containerSecurity(c *v1alpha1.ValkeyCluster) *corev1.SecurityContext {
	ours := sidecarSecurity()
	ours.ReadOnlyRootFilesystem = new(true)
	if c.Spec.Pod != nil {
		overlay(ours, c.Spec.Pod.ContainerSecurityContext)
	}
	return ours
}

// sidecarSecurity is the least that "restricted" asks of a container.
func sidecarSecurity() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// overlay sets in ours what theirs sets, field by field; theirs may be nil.
// Decoding into a struct keeps what the input does not name, and the types are
// plain enough for their JSON never to fail.
func overlay[T any](ours, theirs *T) {
	if theirs == nil {
		return
	}
	data, err := json.Marshal(theirs)
	if err == nil {
		err = json.Unmarshal(data, ours)
	}
	if err != nil {
		panic("object: " + err.Error())
	}
}

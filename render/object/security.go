// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// uid is the user and group of the server in the official images.
const uid int64 = 999

// security is what the pods and the containers of ours may do.
type security struct {
	pod       *corev1.PodSecurityContext
	container *corev1.SecurityContext
}

// securityOf is Pod Security "restricted", with the user's fields over ours.
func securityOf(c *v1alpha1.ValkeyCluster) (security, error) {
	ours := security{
		pod: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true),
			RunAsUser:    new(uid),
			RunAsGroup:   new(uid),
			FSGroup:      new(uid),
			// The files of a large volume are not all visited at each start.
			FSGroupChangePolicy: new(corev1.FSGroupChangeOnRootMismatch),
			SeccompProfile:      &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		container: sidecarSecurity(),
	}
	ours.container.ReadOnlyRootFilesystem = new(true)
	if c.Spec.Pod == nil {
		return ours, nil
	}
	if err := overlay(ours.pod, c.Spec.Pod.SecurityContext); err != nil {
		return ours, fmt.Errorf("spec.pod.securityContext: %w", err)
	}
	if err := overlay(ours.container, c.Spec.Pod.ContainerSecurityContext); err != nil {
		return ours, fmt.Errorf("spec.pod.containerSecurityContext: %w", err)
	}
	return ours, nil
}

// sidecarSecurity is the least that "restricted" asks of a container.
func sidecarSecurity() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// overlay sets in ours what theirs sets, field by field; theirs may be nil.
// Decoding into a struct keeps what the input does not name.
func overlay[T any](ours, theirs *T) error {
	if theirs == nil {
		return nil
	}
	data, err := json.Marshal(theirs)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, ours)
}

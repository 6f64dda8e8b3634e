// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/script"
)

// moduleContainers copy the modules to where the server loads them from. They ask
// for what the server asks for: a pod's request is the larger of the two, so it
// costs nothing, and a quota or a Guaranteed pod needs every container to ask.
// spec.imagePullPolicy is not about them: it is about the server image.
func moduleContainers(c *v1alpha1.ValkeyCluster, s security) []corev1.Container {
	var out []corev1.Container
	for _, m := range c.Spec.Modules {
		out = append(out, corev1.Container{
			Name:                     "module-" + m.Name,
			Image:                    m.Image,
			ImagePullPolicy:          v1alpha1.DefaultPullPolicy(m.Image),
			Command:                  []string{"cp", m.Path, script.ModuleFile(m.Name)},
			Resources:                c.Spec.Resources,
			VolumeMounts:             []corev1.VolumeMount{{Name: volumeModules, MountPath: script.ModulesDir}},
			SecurityContext:          s.container,
			TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		})
	}
	return out
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/conf"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/script"
)

// sentinelStartupSeconds is how long a Sentinel may look for the primary.
const sentinelStartupSeconds = 60

// sentinelStatefulSet runs the Sentinels, or is nil. Their state is what they
// learn from each other, so it is kept nowhere. The StatefulSet controller rolls
// them whatever spec.rollout says: one at a time, which leaves the majority.
func sentinelStatefulSet(c *v1alpha1.ValkeyCluster) (*appsv1.StatefulSet, error) {
	if !c.IsSentinel() {
		return nil, nil
	}
	text, err := conf.Sentinel(c)
	if err != nil {
		return nil, fmt.Errorf("spec.sentinel: %w", err)
	}
	security, err := securityOf(c)
	if err != nil {
		return nil, err
	}
	spec := podSpec(c, security)
	spec.Containers = []corev1.Container{sentinelContainer(c, security)}
	spec.Volumes = append(podVolumes(c, script.SentinelFile, v1alpha1.AnnotationSentinelConfig), volume(volumeLive, membersSource(c)), volume(name.DataClaim, emptyDir()))
	scheduleSentinels(c, &spec)

	meta := sentinelMeta(c, name.SentinelStatefulSet(c.Name))
	meta.Annotations = verbatim()
	set := statefulSet(meta, name.Sentinel(c.Name), name.SentinelSelector(c.Name))
	set.Spec.Replicas = replicas(c, c.SentinelReplicas())
	set.Spec.UpdateStrategy = rollingUpdate()
	set.Spec.Template.Spec = spec
	set.Spec.Template.ObjectMeta, err = podMeta(c, name.PodLabels(c.Name, name.ComponentSentinel), v1alpha1.AnnotationSentinelConfig, text,
		field.NewPath("spec", "sentinel", "config"))
	return set, err
}

func sentinelContainer(c *v1alpha1.ValkeyCluster, s security) corev1.Container {
	container := corev1.Container{
		Name:            v1alpha1.ContainerServer,
		Image:           c.SentinelImage(),
		ImagePullPolicy: c.PullPolicy(c.SentinelImage()),
		Command:         command(script.Start),
		Args:            []string{script.SentinelArgument},
		Env: append(podEnv(c),
			corev1.EnvVar{Name: script.EnvFQDN, Value: podFQDN(c, name.Sentinel(c.Name))},
		),
		Ports:                    []corev1.ContainerPort{containerPort(portSentinel, v1alpha1.SentinelPort)},
		VolumeMounts:             append(podMounts(c), readOnly(volumeLive, script.LiveDir)),
		StartupProbe:             startupProbe(sentinelStartupSeconds),
		LivenessProbe:            livenessProbe(),
		ReadinessProbe:           readinessProbe(),
		SecurityContext:          s.container,
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
	if c.Spec.Sentinel != nil {
		container.Resources = c.Spec.Sentinel.Resources
	}
	return container
}

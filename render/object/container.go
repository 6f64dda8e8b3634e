// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/conf"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/script"
)

// serverContainer runs the server of a data pod. override is what
// spec.pod.containers says about it, or nil.
func serverContainer(c *v1alpha1.ValkeyCluster, s security, override *corev1.Container) (corev1.Container, error) {
	container := corev1.Container{
		Name:                     v1alpha1.ContainerServer,
		Image:                    c.ServerImage(),
		ImagePullPolicy:          c.PullPolicy(c.ServerImage()),
		Command:                  command(script.Start),
		Args:                     conf.Args(c),
		Env:                      serverEnv(c),
		Ports:                    []corev1.ContainerPort{containerPort(portServer, c.Port())},
		Resources:                c.Spec.Resources,
		VolumeMounts:             dataMounts(c),
		StartupProbe:             startupProbe(startupSeconds(c)),
		LivenessProbe:            livenessProbe(),
		ReadinessProbe:           readinessProbe(),
		SecurityContext:          s.container,
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
	if c.IsCluster() {
		container.Ports = append(container.Ports, containerPort(portBus, c.BusPort()))
	}
	if handsOverByScript(c) {
		container.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: command(script.PreStop)}}}
	}
	if c.Spec.Pod != nil {
		container.VolumeMounts = append(container.VolumeMounts, c.Spec.Pod.VolumeMounts...)
	}
	if override != nil {
		return merge(container, *override)
	}
	return container, nil
}

// handsOverByScript reports whether a primary gives its role away in preStop: the
// server does it by itself since 9.0, in a Cluster.
func handsOverByScript(c *v1alpha1.ValkeyCluster) bool {
	return c.EffectiveTopology() != v1alpha1.TopologyStandalone && !(c.IsCluster() && c.AtLeast("9.0"))
}

// command runs one of the scripts. They are read, not executed: the images have a
// shell, and the ConfigMap's mode does not matter.
func command(file string, args ...string) []string {
	return append([]string{"/bin/sh", script.ScriptsDir + "/" + file}, args...)
}

// serverEnv is what the scripts of a data pod know. POD_NAME and POD_NAMESPACE
// come first: Kubernetes expands $(…) in a value only from what is above it. With
// the namespace by reference the same rendering works in any.
//
// Nothing is there that changes while a cluster lives, since every change rolls the
// pods: how many pods there are is in the ConfigMap (script.Members).
func serverEnv(c *v1alpha1.ValkeyCluster) []corev1.EnvVar {
	env := append(podEnv(c),
		corev1.EnvVar{Name: script.EnvPersisted, Value: yesNo(c.Persisted())},
		corev1.EnvVar{Name: script.EnvFQDN, Value: podFQDN(c, name.Nodes(c.Name))},
	)
	if handsOverByScript(c) {
		env = append(env, corev1.EnvVar{Name: script.EnvGrace, Value: strconv.FormatInt(c.GraceSeconds(), 10)})
	}
	return env
}

// podEnv is what the scripts of data and Sentinel pods know alike.
func podEnv(c *v1alpha1.ValkeyCluster) []corev1.EnvVar {
	env := []corev1.EnvVar{
		fieldEnv(script.EnvPodName, "metadata.name"),
		fieldEnv(script.EnvPodNamespace, "metadata.namespace"),
		fieldEnv(script.EnvPodIP, "status.podIP"),
		{Name: script.EnvVersion, Value: c.ServerVersion()},
		{Name: script.EnvTopology, Value: string(c.EffectiveTopology())},
		{Name: script.EnvPort, Value: strconv.Itoa(int(c.Port()))},
		{Name: script.EnvTLS, Value: yesNo(c.TLSEnabled())},
		{Name: script.EnvJobs, Value: string(c.EffectiveJobs())},
	}
	return env
}

func fieldEnv(key, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: key, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path}}}
}

// namespaceRef stands for the pod's namespace in a value or an argument.
const namespaceRef = "$(" + script.EnvPodNamespace + ")"

// podFQDN is how a pod names itself behind a headless Service.
func podFQDN(c *v1alpha1.ValkeyCluster, service string) string {
	return fmt.Sprintf("$(%s).%s", script.EnvPodName, name.ServiceFQDN(service, namespaceRef, c.ClusterDomain()))
}

func containerPort(called string, port int32) corev1.ContainerPort {
	return corev1.ContainerPort{Name: called, ContainerPort: port, Protocol: corev1.ProtocolTCP}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

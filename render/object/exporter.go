// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/script"
)

// exporterContainer exports the metrics of the server of its own pod, or is nil.
// It has its own user, and the password only as a file: an environment variable
// would show in every description of the pod, and would win over the file. It has
// no readiness probe: a pod without metrics still serves.
func exporterContainer(c *v1alpha1.ValkeyCluster, s security) *corev1.Container {
	if !c.MetricsEnabled() {
		return nil
	}
	args := []string{
		"--redis.addr=" + name.ExporterAddress(c.Port(), c.TLSEnabled()),
		"--redis.user=" + name.UserExporter,
		"--redis.password-file=" + script.SystemDir + "/" + name.ExporterFile,
	}
	mounts := []corev1.VolumeMount{readOnly(volumeExporter, script.SystemDir)}
	if c.TLSEnabled() {
		args = append(args, "--tls-ca-cert-file="+script.TLSDir+"/"+script.TLSCA)
		if c.TLSClientAuth() != v1alpha1.TLSClientAuthOff {
			args = append(args, "--tls-client-cert-file="+script.TLSDir+"/"+script.TLSCert, "--tls-client-key-file="+script.TLSDir+"/"+script.TLSKey)
		}
		mounts = append(mounts, readOnly(volumeTLS, script.TLSDir))
	}
	return &corev1.Container{
		Name:            v1alpha1.ContainerExporter,
		Image:           c.ExporterImage(),
		ImagePullPolicy: v1alpha1.DefaultPullPolicy(c.ExporterImage()),
		Args:            append(args, c.Spec.Metrics.Args...),
		Ports:           []corev1.ContainerPort{containerPort(portMetrics, v1alpha1.MetricsPort)},
		Resources:       c.Spec.Metrics.Resources,
		VolumeMounts:    mounts,
		LivenessProbe: &corev1.Probe{
			ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Path: "/health", Port: intstr.FromString(portMetrics), Scheme: corev1.URISchemeHTTP,
			}},
			PeriodSeconds:    10,
			TimeoutSeconds:   3,
			FailureThreshold: 6,
		},
		SecurityContext:          s.container,
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

// exporterVolume holds nothing but the exporter's own password. It is optional:
// a Secret that lacks the key must not keep the server from starting.
func exporterVolume(c *v1alpha1.ValkeyCluster) corev1.Volume {
	source := secretSource(name.SystemSecret(c.Name))
	source.Secret.Items = []corev1.KeyToPath{{Key: name.ExporterFile, Path: name.ExporterFile}}
	source.Secret.Optional = new(true)
	return volume(volumeExporter, source)
}

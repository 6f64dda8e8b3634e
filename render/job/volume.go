// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// Names of the volumes.
const (
	volumeInput  = "input"
	volumeSystem = "system"
	volumeTLS    = "tls"
	volumeLive   = "live"
	volumeACL    = "acl"
)

// volumes bring the input and the Secrets. A pod whose Secret is not there yet waits
// for it, which is how a Job comes after the one that makes the Secrets.
func volumes(p Params) []corev1.Volume {
	var out []corev1.Volume
	if p.Spec != "" {
		out = append(out, corev1.Volume{Name: volumeInput, VolumeSource: corev1.VolumeSource{
			DownwardAPI: &corev1.DownwardAPIVolumeSource{
				DefaultMode: new(readable),
				Items: []corev1.DownwardAPIVolumeFile{{
					Path:     "cluster.yaml",
					FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.annotations['" + v1alpha1.AnnotationSpec + "']"},
				}},
			},
		}})
	}
	if p.live() {
		out = append(out, corev1.Volume{Name: volumeLive, VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: name.Live(p.Cluster.Name)}, DefaultMode: new(readable),
			},
		}})
	}
	if p.acl() {
		out = append(out, secretVolume(volumeACL, name.ACLSecret(p.Cluster.Name)))
	}
	if !p.System {
		return out
	}
	out = append(out, secretVolume(volumeSystem, name.SystemSecret(p.Cluster.Name)))
	if p.Cluster.TLSEnabled() {
		out = append(out, secretVolume(volumeTLS, p.Cluster.TLSSecretName()))
	}
	return out
}

func secretVolume(called, secret string) corev1.Volume {
	return corev1.Volume{Name: called, VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: secret, DefaultMode: new(secretMode)},
	}}
}

func mounts(p Params) []corev1.VolumeMount {
	var out []corev1.VolumeMount
	for _, m := range []struct {
		there      bool
		name, path string
	}{
		{p.Spec != "", volumeInput, inputDir},
		{p.live(), volumeLive, LiveDir},
		{p.acl(), volumeACL, ACLDir},
		{p.System, volumeSystem, SystemDir},
		{p.System && p.Cluster.TLSEnabled(), volumeTLS, TLSDir},
	} {
		if m.there {
			out = append(out, corev1.VolumeMount{Name: m.name, MountPath: m.path, ReadOnly: true})
		}
	}
	return out
}

// live reports whether the kind reads the ConfigMap <cluster>-live.
func (p Params) live() bool { return p.Kind == KindLiveConfig }

// acl reports whether the kind reads the Secret <cluster>-acl.
func (p Params) acl() bool { return p.Kind == KindACL || p.Kind == KindRotate }

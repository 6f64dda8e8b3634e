// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/script"
)

// Names of the volumes. DataClaim is the data directory's.
const (
	volumeConfig   = "config"
	volumeLive     = "live"
	volumeScripts  = "scripts"
	volumeACL      = "acl"
	volumeSystem   = "system"
	volumeTLS      = "tls"
	volumeRun      = "run"
	volumeTmp      = "tmp"
	volumeModules  = "modules"
	volumeExporter = "exporter"
)

// File modes. Secrets belong to root and are readable by the pod's group.
const (
	readable int32 = 0o444
	secret   int32 = 0o440
)

// dataVolumes are the volumes of a data pod, the claim excepted.
func dataVolumes(c *v1alpha1.ValkeyCluster) []corev1.Volume {
	volumes := append(podVolumes(c, script.ServerFile, v1alpha1.AnnotationConfig),
		volume(volumeLive, configMapSource(name.Live(c.Name))))
	if len(c.Spec.Modules) > 0 {
		volumes = append(volumes, volume(volumeModules, emptyDir()))
	}
	if c.MetricsEnabled() {
		volumes = append(volumes, exporterVolume(c))
	}
	if !c.HasClaims() {
		volumes = append(volumes, volume(name.DataClaim, dataSource(c)))
	}
	return volumes
}

// podVolumes are the volumes that data and Sentinel pods have alike. file is the
// name of the config file and annotation where its text is.
func podVolumes(c *v1alpha1.ValkeyCluster, file, annotation string) []corev1.Volume {
	volumes := []corev1.Volume{
		volume(volumeConfig, annotationSource(file, annotation)),
		volume(volumeScripts, configMapSource(name.Scripts(c.Name))),
		volume(volumeACL, secretSource(name.ACLSecret(c.Name))),
		volume(volumeSystem, secretSource(name.SystemSecret(c.Name))),
		volume(volumeRun, memoryDir("16Mi")),
		volume(volumeTmp, emptyDir()),
	}
	if c.TLSEnabled() {
		volumes = append(volumes, volume(volumeTLS, secretSource(c.TLSSecretName())))
	}
	return volumes
}

// dataMounts are the mounts of the server container.
func dataMounts(c *v1alpha1.ValkeyCluster) []corev1.VolumeMount {
	mounts := append(podMounts(c), readOnly(volumeLive, script.LiveDir))
	if len(c.Spec.Modules) > 0 {
		mounts = append(mounts, readOnly(volumeModules, script.ModulesDir))
	}
	return mounts
}

// podMounts are the mounts that data and Sentinel pods have alike. The root file
// system is read-only; run, tmp and data are what can be written.
func podMounts(c *v1alpha1.ValkeyCluster) []corev1.VolumeMount {
	mounts := []corev1.VolumeMount{
		readOnly(volumeConfig, script.ConfigDir),
		readOnly(volumeScripts, script.ScriptsDir),
		readOnly(volumeACL, script.ACLDir),
		readOnly(volumeSystem, script.SystemDir),
		{Name: volumeRun, MountPath: script.RunDir},
		{Name: volumeTmp, MountPath: "/tmp"},
		{Name: name.DataClaim, MountPath: script.DataDir},
	}
	if c.TLSEnabled() {
		mounts = append(mounts, readOnly(volumeTLS, script.TLSDir))
	}
	return mounts
}

// dataSource is the data directory of a cluster without claims.
func dataSource(c *v1alpha1.ValkeyCluster) corev1.VolumeSource {
	if c.Spec.Storage == nil {
		return emptyDir()
	}
	size := c.StorageSize()
	return corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: &size}}
}

func volume(called string, source corev1.VolumeSource) corev1.Volume {
	return corev1.Volume{Name: called, VolumeSource: source}
}

func emptyDir() corev1.VolumeSource {
	return corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
}

// memoryDir never reaches a disk: start.sh puts a password there.
func memoryDir(limit string) corev1.VolumeSource {
	size := resource.MustParse(limit)
	return corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: &size}}
}

func configMapSource(called string) corev1.VolumeSource {
	return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: called}, DefaultMode: new(readable),
	}}
}

func secretSource(called string) corev1.VolumeSource {
	return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: called, DefaultMode: new(secret)}}
}

func annotationSource(file, annotation string) corev1.VolumeSource {
	return corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
		DefaultMode: new(readable),
		Items: []corev1.DownwardAPIVolumeFile{{
			Path:     file,
			FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.annotations['" + annotation + "']"},
		}},
	}}
}

func readOnly(called, path string) corev1.VolumeMount {
	return corev1.VolumeMount{Name: called, MountPath: path, ReadOnly: true}
}

// addedVolumes are the user's volumes, with what the server would fill in inside
// of lists. own are ours, whose names are taken.
func addedVolumes(c *v1alpha1.ValkeyCluster, own []corev1.Volume) ([]corev1.Volume, error) {
	if c.Spec.Pod == nil {
		return nil, nil
	}
	taken := map[string]bool{name.DataClaim: true}
	for _, v := range own {
		taken[v.Name] = true
	}
	out := make([]corev1.Volume, 0, len(c.Spec.Pod.Volumes))
	for i, v := range c.Spec.Pod.Volumes {
		if taken[v.Name] {
			return nil, fmt.Errorf("spec.pod.volumes[%d].name: %q is a volume of the renderer", i, v.Name)
		}
		out = append(out, completeVolume(v))
	}
	return out, nil
}

// membersSource is what Sentinel pods read of the ConfigMap of data pods.
func membersSource(c *v1alpha1.ValkeyCluster) corev1.VolumeSource {
	source := configMapSource(name.Live(c.Name))
	source.ConfigMap.Items = []corev1.KeyToPath{{Key: script.MembersFile, Path: script.MembersFile}}
	return source
}

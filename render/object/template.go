// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/conf"
	"github.com/valkey-render/valkey-render/render/name"
)

// dataPods is what the pod templates of all shards have in common.
type dataPods struct {
	cluster  *v1alpha1.ValkeyCluster
	security security
	conf     string
	init     []corev1.Container
	sidecars []corev1.Container // the exporter and the user's own
	override *corev1.Container  // what the user merges onto the server container
	volumes  []corev1.Volume
}

// newDataPods prepares the templates. An error is the first thing of spec.pod, or of
// the config text, that cannot be written.
func newDataPods(c *v1alpha1.ValkeyCluster) (*dataPods, error) {
	text, err := conf.Server(c)
	if err != nil {
		return nil, err
	}
	own := dataVolumes(c)
	added, err := addedVolumes(c, own)
	if err != nil {
		return nil, err
	}
	security, err := securityOf(c)
	if err != nil {
		return nil, err
	}
	sidecars, override, err := sidecars(c, security)
	if err != nil {
		return nil, err
	}
	return &dataPods{
		cluster:  c,
		security: security,
		conf:     text,
		init:     moduleContainers(c, security),
		sidecars: sidecars,
		override: override,
		volumes:  append(own, added...),
	}, nil
}

// template is the pod template of one shard. It has every field whose change has
// to reach running pods by replacing them, and no other: no hash of anything, and
// nothing that differs between two renders of one spec.
func (p *dataPods) template(shard int32) (corev1.PodTemplateSpec, error) {
	c := p.cluster
	server, err := serverContainer(c, p.security, p.override)
	if err != nil {
		return corev1.PodTemplateSpec{}, err
	}
	spec := podSpec(c, p.security)
	spec.TerminationGracePeriodSeconds = new(c.GraceSeconds())
	spec.InitContainers = p.init
	spec.Containers = append([]corev1.Container{server}, p.sidecars...)
	spec.Volumes = p.volumes
	schedule(c, shard, &spec)
	meta, err := podMeta(c, name.DataPodLabels(c.Name, shard), v1alpha1.AnnotationConfig, p.conf, field.NewPath("spec", "config"))
	return corev1.PodTemplateSpec{ObjectMeta: meta, Spec: spec}, err
}

// podMeta has the user's labels and annotations below ours. The config text is an
// annotation because that makes it a part of the StatefulSet's revision: a pod of
// an old revision that restarts in the middle of a roll gets its own again. The
// server takes 256 KiB of annotations, which is an error here rather than there;
// source is the field that text comes from.
func podMeta(c *v1alpha1.ValkeyCluster, labels map[string]string, key, text string, source *field.Path) (metav1.ObjectMeta, error) {
	meta := metav1.ObjectMeta{Labels: map[string]string{}, Annotations: map[string]string{}}
	if pod := c.Spec.Pod; pod != nil {
		maps.Copy(meta.Labels, pod.Labels)
		maps.Copy(meta.Annotations, pod.Annotations)
	}
	delete(meta.Labels, name.LabelManagedBy)
	maps.Copy(meta.Labels, labels)
	if bytesOf(meta.Annotations) > len(text) {
		source = field.NewPath("spec", "pod", "annotations")
	}
	meta.Annotations[key] = text
	return meta, annotationsFit(source, meta.Annotations)
}

// podSpec is what data and Sentinel pods have in common. Neither talks to the
// Kubernetes API, and the environment of one Service for each cluster of the
// namespace would only slow their shells down.
func podSpec(c *v1alpha1.ValkeyCluster, s security) corev1.PodSpec {
	spec := corev1.PodSpec{
		AutomountServiceAccountToken: new(false),
		EnableServiceLinks:           new(false),
		SecurityContext:              s.pod,
		ImagePullSecrets:             c.Spec.ImagePullSecrets,
	}
	if c.Spec.Pod != nil {
		spec.ServiceAccountName = c.Spec.Pod.ServiceAccountName
	}
	return spec
}

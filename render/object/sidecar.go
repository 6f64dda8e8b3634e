// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// sidecars returns the containers beside the server: the exporter, with what
// spec.pod.containers says about it, and the user's own. override is what the list
// says about the server, or nil.
func sidecars(c *v1alpha1.ValkeyCluster, s security) (out []corev1.Container, override *corev1.Container, err error) {
	exporter := exporterContainer(c, s)
	if exporter != nil {
		out = append(out, *exporter)
	}
	if c.Spec.Pod == nil {
		return out, nil, nil
	}
	for _, container := range c.Spec.Pod.Containers {
		switch {
		case container.Name == v1alpha1.ContainerServer:
			override = container.DeepCopy()
		case exporter != nil && container.Name == exporter.Name:
			out[0], err = merge(*exporter, container)
			if err != nil {
				return nil, nil, err
			}
		default:
			out = append(out, sidecar(container))
		}
	}
	return out, override, nil
}

// sidecar completes a container of the user's: where it says nothing about its
// security it gets the least that Pod Security "restricted" admits.
func sidecar(container corev1.Container) corev1.Container {
	out := *container.DeepCopy()
	completePorts(out.Ports)
	if out.SecurityContext == nil {
		out.SecurityContext = sidecarSecurity()
	}
	return out
}

// merge is a strategic merge as kubectl's: lists with a merge key by that key,
// other lists as a whole. Validate has refused what would take from a container
// of ours what it needs: command, args, ports, its variables and mounts.
func merge(ours, theirs corev1.Container) (corev1.Container, error) {
	out, err := merged(ours, theirs)
	if err != nil {
		return ours, fmt.Errorf("spec.pod.containers[%s]: %w", ours.Name, err)
	}
	out.Env = oursFirst(ours.Env, out.Env)
	return out, nil
}

func merged(ours, theirs corev1.Container) (out corev1.Container, err error) {
	original, err := json.Marshal(ours)
	if err != nil {
		return out, err
	}
	patch, err := json.Marshal(theirs)
	if err != nil {
		return out, err
	}
	text, err := strategicpatch.StrategicMergePatch(original, patch, corev1.Container{})
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(text, &out)
}

// oursFirst moves added variables behind ours, so that $(POD_IP) in their values
// is expanded.
func oursFirst(ours, merged []corev1.EnvVar) []corev1.EnvVar {
	own := make(map[string]bool, len(ours))
	for _, e := range ours {
		own[e.Name] = true
	}
	slices.SortStableFunc(merged, func(a, b corev1.EnvVar) int {
		switch {
		case own[a.Name] == own[b.Name]:
			return 0
		case own[a.Name]:
			return -1
		default:
			return 1
		}
	})
	return merged
}

// completePorts writes out the default protocol: the list is merged by port and
// protocol, and an entry without one is another entry to an applier.
func completePorts(ports []corev1.ContainerPort) {
	for i := range ports {
		if ports[i].Protocol == "" {
			ports[i].Protocol = corev1.ProtocolTCP
		}
	}
}

// completeVolume writes out what the server fills in inside of lists that are
// replaced as a whole.
func completeVolume(in corev1.Volume) corev1.Volume {
	v := *in.DeepCopy()
	if v.DownwardAPI != nil {
		completeFields(v.DownwardAPI.Items)
	}
	if v.Projected == nil {
		return v
	}
	for _, source := range v.Projected.Sources {
		if source.DownwardAPI != nil {
			completeFields(source.DownwardAPI.Items)
		}
		if t := source.ServiceAccountToken; t != nil && t.ExpirationSeconds == nil {
			t.ExpirationSeconds = new(int64(3600))
		}
	}
	return v
}

func completeFields(items []corev1.DownwardAPIVolumeFile) {
	for _, item := range items {
		if item.FieldRef != nil && item.FieldRef.APIVersion == "" {
			item.FieldRef.APIVersion = "v1"
		}
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"fmt"
	"iter"
	"path"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// duplicates gathers what is wrong with lists whose entries have a key:
// server-side apply refuses an object with two entries of one key.
type duplicates struct {
	seen map[string]bool
	why  []string
}

// add notes a key of an entry of the list at a path; empty means none. It says
// whether the key is there for the first time.
func (d *duplicates) add(list *field.Path, key, value string) bool {
	if value == "" {
		return true
	}
	id := list.String() + " " + key + " " + value
	if d.seen[id] {
		if text := fmt.Sprintf("%s has %s %s twice", list, key, value); !slices.Contains(d.why, text) {
			d.why = append(d.why, text)
		}
		return false
	}
	d.seen[id] = true
	return true
}

func (d *duplicates) wrong(at *field.Path, format string, args ...any) {
	d.why = append(d.why, at.String()+" "+fmt.Sprintf(format, args...))
}

func statefulSet(s *appsv1.StatefulSet) []string {
	var claims []string
	for i := range s.Spec.VolumeClaimTemplates {
		claims = append(claims, s.Spec.VolumeClaimTemplates[i].Name)
	}
	why := podSpec(field.NewPath("spec", "template", "spec"), &s.Spec.Template.Spec, claims)
	if s.Spec.UpdateStrategy.RollingUpdate != nil && s.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		why = append(why, "spec.updateStrategy has rollingUpdate beside the type OnDelete")
	}
	if s.Spec.MinReadySeconds < 0 {
		why = append(why, "spec.minReadySeconds is below zero")
	}
	if n := s.Spec.RevisionHistoryLimit; n != nil && *n < 0 {
		why = append(why, "spec.revisionHistoryLimit is below zero")
	}
	return why
}

// podSpec checks a pod whose volumes are its own and those named.
func podSpec(at *field.Path, spec *corev1.PodSpec, claims []string) []string {
	d := duplicates{seen: map[string]bool{}}
	volumes := map[string]bool{}
	for _, called := range claims {
		d.add(at.Child("volumes"), "name", called)
		volumes[called] = true
	}
	for i := range spec.Volumes {
		d.add(at.Child("volumes"), "name", spec.Volumes[i].Name)
		volumes[spec.Volumes[i].Name] = true
		if n := sources(&spec.Volumes[i].VolumeSource); n != 1 {
			d.wrong(at.Child("volumes").Key(spec.Volumes[i].Name), "has %d sources", n)
		}
	}
	if len(spec.Containers) == 0 {
		d.wrong(at.Child("containers"), "is empty")
	}
	// All containers have one address, so that a port is another's too; and names
	// are unique among both lists.
	for c := range allContainers(spec) {
		d.container(at, c, volumes)
	}
	for _, secret := range spec.ImagePullSecrets {
		d.add(at.Child("imagePullSecrets"), "name", secret.Name)
	}
	for _, alias := range spec.HostAliases {
		d.add(at.Child("hostAliases"), "ip", alias.IP)
	}
	for _, claim := range spec.ResourceClaims {
		d.add(at.Child("resourceClaims"), "name", claim.Name)
	}
	for _, gate := range spec.SchedulingGates {
		d.add(at.Child("schedulingGates"), "name", gate.Name)
	}
	for i := range spec.TopologySpreadConstraints {
		c := &spec.TopologySpreadConstraints[i]
		d.add(at.Child("topologySpreadConstraints"), "topologyKey", c.TopologyKey+" "+string(c.WhenUnsatisfiable))
	}
	return d.why
}

// sources counts what a volume is said to be.
func sources(v *corev1.VolumeSource) int {
	n := 0
	for _, source := range reflect.ValueOf(v).Elem().Fields() {
		if !source.IsNil() {
			n++
		}
	}
	return n
}

func allContainers(spec *corev1.PodSpec) iter.Seq[*corev1.Container] {
	return func(yield func(*corev1.Container) bool) {
		for _, l := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
			for i := range l {
				if !yield(&l[i]) {
					return
				}
			}
		}
	}
}

func (d *duplicates) container(pod *field.Path, c *corev1.Container, volumes map[string]bool) {
	at := pod.Child("containers").Key(c.Name)
	if !d.add(pod.Child("containers"), "name", c.Name) {
		return
	}
	for _, why := range validation.IsDNS1123Label(c.Name) {
		d.wrong(at, "has name %q: %s", c.Name, why)
	}
	if c.Image == "" {
		d.wrong(at, "has no image")
	}
	for i := range c.Env {
		d.add(at.Child("env"), "name", c.Env[i].Name)
		switch {
		case c.Env[i].Name == "" || strings.Contains(c.Env[i].Name, "="):
			d.wrong(at.Child("env"), "has the name %q", c.Env[i].Name)
		case c.Env[i].Value != "" && c.Env[i].ValueFrom != nil:
			d.wrong(at.Child("env").Key(c.Env[i].Name), "has both value and valueFrom")
		}
	}
	for _, port := range c.Ports {
		d.add(pod.Child("containers", "ports"), "name", port.Name)
		d.add(pod.Child("containers", "ports"), "containerPort", fmt.Sprintf("%d/%s", port.ContainerPort, orTCP(port.Protocol)))
		for _, why := range validation.IsValidPortNum(int(port.ContainerPort)) {
			d.wrong(at.Child("ports"), "has %d: %s", port.ContainerPort, why)
		}
	}
	for _, mount := range c.VolumeMounts {
		place := mount.MountPath
		if place == "" {
			d.wrong(at.Child("volumeMounts"), "has no mountPath for %s", mount.Name)
		} else {
			d.add(at.Child("volumeMounts"), "mountPath", path.Clean(place))
		}
		if !volumes[mount.Name] {
			d.wrong(at.Child("volumeMounts"), "names volume %q, which the pod does not have", mount.Name)
		}
	}
	d.probe(at.Child("startupProbe"), c.StartupProbe, true)
	d.probe(at.Child("livenessProbe"), c.LivenessProbe, true)
	d.probe(at.Child("readinessProbe"), c.ReadinessProbe, false)
	for _, device := range c.VolumeDevices {
		d.add(at.Child("volumeDevices"), "devicePath", device.DevicePath)
	}
	for _, claim := range c.Resources.Claims {
		d.add(at.Child("resources", "claims"), "name", claim.Name)
	}
}

// probe checks the numbers of a probe; once says that one success has to do.
func (d *duplicates) probe(at *field.Path, p *corev1.Probe, once bool) {
	if p == nil {
		return
	}
	if min(p.InitialDelaySeconds, p.TimeoutSeconds, p.PeriodSeconds, p.SuccessThreshold, p.FailureThreshold) < 0 {
		d.wrong(at, "has a number below zero")
	}
	if once && p.SuccessThreshold > 1 {
		d.wrong(at, "has a successThreshold other than 1")
	}
}

func orTCP(p corev1.Protocol) corev1.Protocol {
	if p == "" {
		return corev1.ProtocolTCP
	}
	return p
}

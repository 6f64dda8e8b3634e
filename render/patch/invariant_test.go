// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	strict "sigs.k8s.io/json"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// invariants returns which of the properties that every rendered cluster depends
// on do not hold for an object any more. It is written against the types of
// Kubernetes, and on its own: nothing of it is shared with what it holds.
func invariants(before, after *unstructured.Unstructured) []string {
	v := &violated{}
	v.same("identity", []string{before.GetAPIVersion(), before.GetKind(), before.GetNamespace(), before.GetName()},
		[]string{after.GetAPIVersion(), after.GetKind(), after.GetNamespace(), after.GetName()})
	v.same("labels", ours(before.GetLabels()), ours(after.GetLabels()))
	v.same("annotations", ours(before.GetAnnotations()), ours(after.GetAnnotations()))
	v.same("owners", before.GetOwnerReferences(), after.GetOwnerReferences())
	v.same("status", before.Object["status"], after.Object["status"])
	switch before.GetKind() {
	case "StatefulSet":
		was, is := decoded[appsv1.StatefulSet](v, before), decoded[appsv1.StatefulSet](v, after)
		v.statefulSet(&was, &is)
	case "Service":
		was, is := decoded[corev1.Service](v, before), decoded[corev1.Service](v, after)
		v.service(&was.Spec, &is.Spec)
	case "PersistentVolumeClaim":
		was, is := decoded[corev1.PersistentVolumeClaim](v, before), decoded[corev1.PersistentVolumeClaim](v, after)
		v.same("storage class", was.Spec.StorageClassName, is.Spec.StorageClassName)
		v.same("access modes", was.Spec.AccessModes, is.Spec.AccessModes)
		v.same("volume mode", was.Spec.VolumeMode, is.Spec.VolumeMode)
		v.holds("size", is.Spec.Resources.Requests.Storage().Cmp(*was.Spec.Resources.Requests.Storage()) >= 0)
		v.same("prune", was.Annotations["kustomize.toolkit.fluxcd.io/prune"], is.Annotations["kustomize.toolkit.fluxcd.io/prune"])
		v.same("keep", was.Annotations["helm.sh/resource-policy"], is.Annotations["helm.sh/resource-policy"])
	case "ConfigMap":
		was, is := decoded[corev1.ConfigMap](v, before), decoded[corev1.ConfigMap](v, after)
		v.holds("immutable", is.Immutable == nil)
		for key, text := range was.Data {
			v.holds("data "+key, is.Data[key] == text || strings.HasSuffix(was.Name, "-dashboard"))
		}
	case "PodDisruptionBudget":
		was, is := decoded[policyv1.PodDisruptionBudget](v, before), decoded[policyv1.PodDisruptionBudget](v, after)
		v.same("selector", was.Spec.Selector, is.Spec.Selector)
		v.budget(&is.Spec)
	case "NetworkPolicy":
		was, is := decoded[networkingv1.NetworkPolicy](v, before), decoded[networkingv1.NetworkPolicy](v, after)
		v.same("pods", was.Spec.PodSelector, is.Spec.PodSelector)
		v.same("directions", was.Spec.PolicyTypes, is.Spec.PolicyTypes)
		v.holds("ingress", all(was.Spec.Ingress, is.Spec.Ingress))
	case v1alpha1.KindCluster:
		v.same("spec", before.Object["spec"], after.Object["spec"])
	}
	return *v
}

type violated []string

func (v *violated) holds(what string, ok bool) {
	if !ok {
		*v = append(*v, what)
	}
}

func (v *violated) same(what string, before, after any) {
	if !reflect.DeepEqual(before, after) {
		*v = append(*v, fmt.Sprintf("%s: %v became %v", what, before, after))
	}
}

// decoded reads an object as strictly as the API server can.
func decoded[T any](v *violated, obj *unstructured.Unstructured) T {
	var out T
	raw, err := json.Marshal(obj.Object)
	if err == nil {
		var unknown []error
		unknown, err = strict.UnmarshalStrict(raw, &out)
		v.holds(fmt.Sprint("strict: ", unknown), len(unknown) == 0)
	}
	v.holds(fmt.Sprint("type: ", err), err == nil)
	return out
}

func ours(all map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range all {
		if strings.HasPrefix(key, v1alpha1.Group+"/") || strings.HasPrefix(key, "app.kubernetes.io/") && key != "app.kubernetes.io/version" {
			out[key] = value
		}
	}
	return out
}

func all[T any](before, after []T) bool {
	return !slices.ContainsFunc(before, func(a T) bool {
		return !slices.ContainsFunc(after, func(b T) bool { return reflect.DeepEqual(a, b) })
	})
}

func (v *violated) statefulSet(was, is *appsv1.StatefulSet) {
	v.same("selector", was.Spec.Selector, is.Spec.Selector)
	v.same("replicas", was.Spec.Replicas, is.Spec.Replicas)
	v.same("service", was.Spec.ServiceName, is.Spec.ServiceName)
	v.same("ordinals", was.Spec.Ordinals, is.Spec.Ordinals)
	v.same("management", was.Spec.PodManagementPolicy, is.Spec.PodManagementPolicy)
	v.same("update", was.Spec.UpdateStrategy.Type, is.Spec.UpdateStrategy.Type)
	v.same("claims", was.Spec.VolumeClaimTemplates, is.Spec.VolumeClaimTemplates)
	v.same("retention", was.Spec.PersistentVolumeClaimRetentionPolicy, is.Spec.PersistentVolumeClaimRetentionPolicy)
	v.same("pod labels", ours(was.Spec.Template.Labels), ours(is.Spec.Template.Labels))
	v.same("pod annotations", ours(was.Spec.Template.Annotations), ours(is.Spec.Template.Annotations))
	a, b := &was.Spec.Template.Spec, &is.Spec.Template.Spec
	v.same("names of pods", []any{a.Hostname, a.Subdomain, a.SetHostnameAsFQDN}, []any{b.Hostname, b.Subdomain, b.SetHostnameAsFQDN})
	v.same("token and links", []any{a.AutomountServiceAccountToken, a.EnableServiceLinks}, []any{b.AutomountServiceAccountToken, b.EnableServiceLinks})
	v.same("end", []any{a.RestartPolicy, a.ActiveDeadlineSeconds}, []any{b.RestartPolicy, b.ActiveDeadlineSeconds})
	v.same("pod resources", a.Resources, b.Resources)
	grace := int64(30) // what Kubernetes takes for one that does not say
	if b.TerminationGracePeriodSeconds != nil {
		grace = *b.TerminationGracePeriodSeconds
	}
	v.holds("grace", grace >= *a.TerminationGracePeriodSeconds)
	v.keys(b)
	v.holds("volumes", all(a.Volumes, b.Volumes) || !mountsAll(a))
	for _, list := range [][2][]corev1.Container{{a.InitContainers, b.InitContainers}, {a.Containers, b.Containers}} {
		for i := range list[0] {
			at := slices.IndexFunc(list[1], func(c corev1.Container) bool { return c.Name == list[0][i].Name })
			v.holds("container "+list[0][i].Name, at >= 0)
			if at >= 0 {
				v.container(&list[0][i], &list[1][at])
			}
		}
	}
}

// keys holds that no list has two entries of one key: server-side apply refuses
// the object.
func (v *violated) keys(spec *corev1.PodSpec) {
	seen := map[string]bool{}
	once := func(key ...any) {
		id := fmt.Sprint(key...)
		v.holds("one "+id, !seen[id])
		seen[id] = true
	}
	for _, volume := range spec.Volumes {
		once("volume ", volume.Name)
	}
	for _, c := range append(slices.Clone(spec.InitContainers), spec.Containers...) {
		once("container ", c.Name)
		for _, e := range c.Env {
			once("variable ", c.Name, "/", e.Name)
		}
		for _, p := range c.Ports {
			once("port ", p.ContainerPort, p.Protocol)
		}
		for _, m := range c.VolumeMounts {
			once("mount ", c.Name, "/", m.MountPath)
		}
	}
}

// mountsAll says whether every volume is one that a container mounts: the others
// are free.
func mountsAll(spec *corev1.PodSpec) bool {
	for i := range spec.Volumes {
		if !slices.ContainsFunc(spec.Containers, func(c corev1.Container) bool {
			return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == spec.Volumes[i].Name })
		}) {
			return false
		}
	}
	return true
}

func (v *violated) container(was, is *corev1.Container) {
	v.same("start", [][]string{was.Command, was.Args, {was.WorkingDir, was.Image}}, [][]string{is.Command, is.Args, {is.WorkingDir, is.Image}})
	if was.Name == "server" {
		v.same("resources", was.Resources, is.Resources)
		v.same("lifecycle", was.Lifecycle, is.Lifecycle)
	}
	v.same("probes", handlers(was), handlers(is))
	v.holds("ports", all(was.Ports, is.Ports))
	v.holds("mounts", all(was.VolumeMounts, is.VolumeMounts))
	last := -1
	for _, variable := range was.Env {
		at := slices.IndexFunc(is.Env, func(e corev1.EnvVar) bool { return reflect.DeepEqual(e, variable) })
		v.holds("variable "+variable.Name+" in its order", at > last)
		last = at
	}
	for _, variable := range is.Env {
		if strings.HasPrefix(variable.Name, "VALKEY_") || strings.HasPrefix(variable.Name, "POD_") {
			v.holds("variable "+variable.Name, slices.ContainsFunc(was.Env, func(e corev1.EnvVar) bool { return e.Name == variable.Name }) || was.Name != "server")
		}
	}
	for _, from := range is.EnvFrom {
		v.holds("envFrom", from.Prefix != "")
	}
	seen := map[string]bool{}
	for _, mount := range is.VolumeMounts {
		place := path.Clean(mount.MountPath)
		v.holds("one mount of "+place, !seen[place])
		seen[place] = true
		within := strings.HasPrefix(place+"/", "/valkey/") || place == "/" ||
			was.Name == "server" && (strings.HasPrefix(place+"/", "/data/") || strings.HasPrefix(place+"/", "/tmp/"))
		v.holds("mount "+place, !within || slices.ContainsFunc(was.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == mount.MountPath }))
	}
}

func handlers(c *corev1.Container) []corev1.ProbeHandler {
	var out []corev1.ProbeHandler
	for _, p := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if p != nil {
			out = append(out, p.ProbeHandler)
		}
	}
	return out
}

func (v *violated) service(was, is *corev1.ServiceSpec) {
	v.same("selector", was.Selector, is.Selector)
	v.same("address", []string{was.ClusterIP, was.ExternalName}, []string{is.ClusterIP, is.ExternalName})
	v.same("addresses", was.ClusterIPs, is.ClusterIPs)
	v.same("not ready", was.PublishNotReadyAddresses, is.PublishNotReadyAddresses)
	v.holds("type", is.Type == was.Type || was.ClusterIP == "" && is.Type != corev1.ServiceTypeExternalName)
	for _, port := range was.Ports {
		v.holds("port "+port.Name, slices.ContainsFunc(is.Ports, func(p corev1.ServicePort) bool {
			return p.Name == port.Name && p.Port == port.Port && p.TargetPort == port.TargetPort && p.Protocol == port.Protocol
		}))
	}
}

// budget: every budget of the specs here covers two or more pods.
func (v *violated) budget(is *policyv1.PodDisruptionBudgetSpec) {
	v.holds("one of the two", is.MinAvailable == nil || is.MaxUnavailable == nil)
	if m := is.MaxUnavailable; m != nil {
		n, err := intstr.GetScaledValueFromIntOrPercent(m, 2, true)
		v.holds("maxUnavailable "+m.String(), err == nil && n > 0)
	}
	if m := is.MinAvailable; m != nil {
		n, err := intstr.GetScaledValueFromIntOrPercent(m, 100, true)
		v.holds("minAvailable "+m.String(), err == nil && n >= 0 && n < 100)
	}
}

// holds fails the test for every invariant that does not hold.
func holds(t testing.TB, before, after []*unstructured.Unstructured) {
	t.Helper()
	left := map[string]*unstructured.Unstructured{}
	for _, obj := range after {
		left[obj.GetKind()+"/"+obj.GetName()] = obj
	}
	for _, obj := range before {
		is := left[obj.GetKind()+"/"+obj.GetName()]
		if is == obj {
			continue
		}
		if is == nil {
			switch obj.GetKind() {
			case "StatefulSet", "Service", "PersistentVolumeClaim", "Certificate", v1alpha1.KindCluster:
				t.Errorf("%s/%s is gone", obj.GetKind(), obj.GetName())
			}
			continue
		}
		for _, what := range invariants(obj, is) {
			t.Errorf("%s/%s: %s", obj.GetKind(), obj.GetName(), what)
		}
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package localpod

import (
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// declared is what a Host takes from a list of objects.
type declared struct {
	sets                []*appsv1.StatefulSet
	configMaps, secrets map[string]map[string][]byte
	namespace           string
}

func decode(objects []*unstructured.Unstructured) (declared, error) {
	d := declared{configMaps: map[string]map[string][]byte{}, secrets: map[string]map[string][]byte{}}
	var failed []error
	for _, o := range objects {
		if err := d.add(o); err != nil {
			failed = append(failed, fmt.Errorf("%s/%s/%s: %w", o.GetKind(), o.GetNamespace(), o.GetName(), err))
		}
	}
	return d, errors.Join(failed...)
}

func (d *declared) add(o *unstructured.Unstructured) error {
	switch o.GetKind() {
	case "StatefulSet":
		set := &appsv1.StatefulSet{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, set); err != nil {
			return err
		}
		if _, err := server(&set.Spec.Template); err != nil {
			return err
		}
		d.sets = append(d.sets, set)
	case "ConfigMap":
		m := &corev1.ConfigMap{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, m); err != nil {
			return err
		}
		data := map[string][]byte{}
		for key, text := range m.Data {
			data[key] = []byte(text)
		}
		for key, bytes := range m.BinaryData {
			data[key] = bytes
		}
		d.configMaps[m.Name] = data
	case "Secret":
		s := &corev1.Secret{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, s); err != nil {
			return err
		}
		data := map[string][]byte{}
		for key, bytes := range s.Data {
			data[key] = bytes
		}
		for key, text := range s.StringData {
			data[key] = []byte(text)
		}
		d.secrets[s.Name] = data
	default:
		return nil
	}
	return d.in(o.GetNamespace())
}

// in refuses a second namespace: pods are told apart by their names.
func (d *declared) in(namespace string) error {
	if d.namespace != "" && namespace != "" && d.namespace != namespace {
		return fmt.Errorf("another object is of namespace %s: pods of one namespace at a time", d.namespace)
	}
	if namespace != "" {
		d.namespace = namespace
	}
	return nil
}

func replicas(set *appsv1.StatefulSet) int32 {
	if set.Spec.Replicas == nil {
		return 1
	}
	return *set.Spec.Replicas
}

// server is the container that runs the server.
func server(template *corev1.PodTemplateSpec) (*corev1.Container, error) {
	for i := range template.Spec.Containers {
		if c := &template.Spec.Containers[i]; c.Name == v1alpha1.ContainerServer {
			return c, nil
		}
	}
	return nil, fmt.Errorf("no container %q", v1alpha1.ContainerServer)
}

// leftOut are the containers that are not run.
func leftOut(template *corev1.PodTemplateSpec) []string {
	var names []string
	for _, c := range template.Spec.InitContainers {
		names = append(names, c.Name)
	}
	for _, c := range template.Spec.Containers {
		if c.Name != v1alpha1.ContainerServer {
			names = append(names, c.Name)
		}
	}
	return names
}

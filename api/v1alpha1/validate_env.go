// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// variables checks env and envFrom of a container.
func (v *violations) variables(at *field.Path, container *corev1.Container) {
	seen := map[string]bool{}
	for i := range container.Env {
		e, at := &container.Env[i], at.Child("env").Index(i)
		if e.Name == "" {
			v.required(at.Child("name"), "name of a variable")
		} else if why := validation.IsEnvVarName(e.Name); len(why) > 0 {
			v.invalid(at.Child("name"), e.Name, "must be letters, digits, '_', '-' and '.', and begin with no digit")
		}
		if seen[e.Name] {
			v.duplicate(at.Child("name"), e.Name)
		}
		seen[e.Name] = true
		if e.ValueFrom != nil {
			if e.Value != "" {
				v.forbidden(at.Child("valueFrom"), "there is a value already: remove one of the two")
			}
			v.variableSource(at.Child("valueFrom"), e.ValueFrom)
		}
	}
	for i := range container.EnvFrom {
		f, at := &container.EnvFrom[i], at.Child("envFrom").Index(i)
		if f.Prefix != "" && len(validation.IsEnvVarName(f.Prefix)) > 0 {
			v.invalid(at.Child("prefix"), f.Prefix, "must be letters, digits, '_', '-' and '.', and begin with no digit")
		}
		switch {
		case f.ConfigMapRef == nil && f.SecretRef == nil:
			v.required(at, "configMapRef or secretRef")
		case f.ConfigMapRef != nil && f.SecretRef != nil:
			v.forbidden(at.Child("secretRef"), "there is configMapRef already: make it an entry of its own")
		case f.ConfigMapRef != nil:
			v.objectName(at.Child("configMapRef", "name"), f.ConfigMapRef.Name, "name of a ConfigMap")
		default:
			v.objectName(at.Child("secretRef", "name"), f.SecretRef.Name, "name of a Secret")
		}
	}
}

// objectName reports a reference that names nothing, or nothing that can be.
func (v *violations) objectName(at *field.Path, name, what string) {
	if name == "" {
		v.required(at, "%s", what)
	}
	v.subdomain(at, name)
}

// variableSource holds that there is exactly one.
func (v *violations) variableSource(at *field.Path, s *corev1.EnvVarSource) {
	if !v.exactlyOne(at, *s, "fieldRef, resourceFieldRef, configMapKeyRef or secretKeyRef") {
		return
	}
	switch {
	case s.FieldRef != nil:
		v.fieldRef(at.Child("fieldRef"), s.FieldRef, "spec.nodeName", "spec.serviceAccountName",
			"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs")
	case s.ResourceFieldRef != nil:
		v.resourceFieldRef(at.Child("resourceFieldRef"), s.ResourceFieldRef, false)
	case s.ConfigMapKeyRef != nil:
		v.keyRef(at.Child("configMapKeyRef"), s.ConfigMapKeyRef.Name, s.ConfigMapKeyRef.Key, "name of a ConfigMap")
	case s.SecretKeyRef != nil:
		v.keyRef(at.Child("secretKeyRef"), s.SecretKeyRef.Name, s.SecretKeyRef.Key, "name of a Secret")
	case s.FileKeyRef != nil:
		v.forbidden(at.Child("fileKeyRef"), "not every Kubernetes that is supported has it")
	}
}

func (v *violations) keyRef(at *field.Path, name, key, what string) {
	v.objectName(at.Child("name"), name, what)
	if key == "" {
		v.required(at.Child("key"), "key in it")
	}
	v.key(at.Child("key"), key)
}

// subscript is metadata.labels['app'] and metadata.annotations['app'].
var subscript = regexp.MustCompile(`^metadata\.(labels|annotations)\['(.*)'\]$`)

// fieldRef checks a field of the pod. All places know some of the metadata; more
// are those that this one knows besides.
func (v *violations) fieldRef(at *field.Path, f *corev1.ObjectFieldSelector, more ...string) {
	if f.APIVersion != "" && f.APIVersion != "v1" {
		v.invalid(at.Child("apiVersion"), f.APIVersion, "must be v1")
	}
	at = at.Child("fieldPath")
	if f.FieldPath == "" {
		v.required(at, "field of the pod, like metadata.name")
		return
	}
	if m := subscript.FindStringSubmatch(f.FieldPath); m != nil {
		for _, why := range validation.IsQualifiedName(strings.ToLower(m[2])) {
			v.invalid(at, f.FieldPath, "%s", why)
		}
		return
	}
	known := append([]string{"metadata.name", "metadata.namespace", "metadata.uid"}, more...)
	if !slices.Contains(known, f.FieldPath) {
		v.invalid(at, f.FieldPath, "%sone of %s, metadata.labels['<key>'] and metadata.annotations['<key>']",
			didYouMean(f.FieldPath, known), strings.Join(known, ", "))
	}
}

// resourceFieldRef checks a resource of a container, which a volume must name.
func (v *violations) resourceFieldRef(at *field.Path, r *corev1.ResourceFieldSelector, named bool) {
	if named && r.ContainerName == "" {
		v.required(at.Child("containerName"), "container whose resources are meant")
	}
	if r.Resource == "" {
		v.required(at.Child("resource"), "like limits.memory")
		return
	}
	kind, name, _ := strings.Cut(r.Resource, ".")
	known := (kind == "limits" || kind == "requests") &&
		(slices.Contains([]string{"cpu", "memory", "ephemeral-storage"}, name) || isHugePages(corev1.ResourceName(name)))
	if !known {
		v.invalid(at.Child("resource"), r.Resource, "must be limits or requests, a dot, and cpu, memory, ephemeral-storage or hugepages-<size>")
	}
	divisors := []string{"0", "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}
	if name == "cpu" {
		divisors = []string{"0", "1", "1m"}
	}
	if known && !slices.Contains(divisors, r.Divisor.String()) {
		v.invalid(at.Child("divisor"), r.Divisor.String(), "must be one of %s", strings.Join(divisors[1:], ", "))
	}
}

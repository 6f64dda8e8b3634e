// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package crdschema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// variant is what a default may depend on.
type variant struct {
	topology v1alpha1.Topology
	profile  v1alpha1.Profile
}

// compute gives the fields of a ValkeyCluster the defaults that are not in the
// schema: those of Default, in every topology and profile.
func compute(root *Field) {
	found := map[string]map[variant]string{}
	for _, topology := range []v1alpha1.Topology{v1alpha1.TopologyCluster, v1alpha1.TopologyReplication, v1alpha1.TopologySentinel, v1alpha1.TopologyStandalone} {
		for _, profile := range []v1alpha1.Profile{v1alpha1.ProfileCache, v1alpha1.ProfileDurable} {
			for path, value := range defaults(topology, profile) {
				if found[path] == nil {
					found[path] = map[variant]string{}
				}
				found[path][variant{topology, profile}] = value
			}
		}
	}
	for path, values := range found {
		field := root
		for _, part := range strings.Split(path, ".") {
			if field = field.Properties[part]; field == nil {
				break
			}
		}
		if field != nil && field.Default == nil {
			field.Computed = worded(values)
		}
	}
}

// defaults are the scalars that Default sets, by path, when every part of the spec
// is there.
func defaults(topology v1alpha1.Topology, profile v1alpha1.Profile) map[string]string {
	c := &v1alpha1.ValkeyCluster{}
	c.Name = "NAME"
	c.Spec.Topology, c.Spec.Profile = topology, profile
	allocate(reflect.ValueOf(&c.Spec).Elem())
	c.Default()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c)
	if err != nil {
		return nil
	}
	out := map[string]string{}
	flatten(content["spec"], "spec", out)
	delete(out, "spec.topology")
	delete(out, "spec.profile")
	return out
}

// allocate makes every optional part of the API that has fields.
func allocate(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		if f.Kind() == reflect.Pointer && f.IsNil() && own(f.Type().Elem()) {
			f.Set(reflect.New(f.Type().Elem()))
		}
		if f.Kind() == reflect.Pointer {
			f = f.Elem()
		}
		if f.Kind() == reflect.Struct && own(f.Type()) {
			allocate(f)
		}
	}
}

func own(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.PkgPath() == reflect.TypeFor[v1alpha1.ValkeyCluster]().PkgPath()
}

func flatten(value any, path string, out map[string]string) {
	switch v := value.(type) {
	case map[string]any:
		for key, child := range v {
			flatten(child, path+"."+key, out)
		}
	case []any, nil:
	default:
		// What is required and not given is empty.
		if text := literal(v); text != `""` && text != "0" {
			out[path] = text
		}
	}
}

// worded says a default, and what it depends on; "" when that is more than the
// profile or the topology.
func worded(values map[variant]string) string {
	by := func(key func(variant) string) (string, bool) {
		seen := map[string]string{}
		for v, text := range values {
			if was, ok := seen[key(v)]; ok && was != text {
				return "", false
			}
			seen[key(v)] = text
		}
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(seen)) {
			if k == "" {
				return seen[k], true
			}
			parts = append(parts, fmt.Sprintf("%s (%s)", seen[k], k))
		}
		return strings.Join(parts, ", "), true
	}
	for _, key := range []func(variant) string{
		func(variant) string { return "" },
		func(v variant) string { return string(v.profile) },
		func(v variant) string { return string(v.topology) },
	} {
		if text, ok := by(key); ok {
			return text
		}
	}
	return ""
}

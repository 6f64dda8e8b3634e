// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// kubernetesFields are the names of our fields by whether they hold a structure of
// Kubernetes' own types, as a value, a pointer, a list or a map.
func kubernetesFields(of reflect.Type, theirs, ours map[string]bool) {
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		t := f.Type
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		switch {
		case name == "" || name == "metadata":
		case t.Kind() != reflect.Struct:
			ours[name] = true
		case strings.Contains(t.PkgPath(), "valkey-render"):
			ours[name] = true
			kubernetesFields(t, theirs, ours)
		case !marshalsAsText(t):
			theirs[name] = true
		}
	}
}

// marshalsAsText holds for durations, times and quantities.
func marshalsAsText(t reflect.Type) bool {
	_, found := reflect.PointerTo(t).MethodByName("OpenAPISchemaType")
	return found
}

func TestForeignPropertiesAreThoseOfKubernetesTypes(t *testing.T) {
	theirs, ours := map[string]bool{}, map[string]bool{}
	for _, root := range []any{v1alpha1.ValkeyCluster{}, v1alpha1.ValkeyACL{}, v1alpha1.ValkeyNode{}} {
		kubernetesFields(reflect.TypeOf(root), theirs, ours)
	}
	for name := range theirs {
		if !foreign(name) {
			t.Errorf("%s holds a type of Kubernetes and keeps all of its texts", name)
		}
		if ours[name] {
			t.Errorf("%s is both a field of ours and one of Kubernetes' types: its name cannot tell", name)
		}
	}
	var stale []string
	for _, name := range foreignProperties() {
		if !theirs[name] {
			stale = append(stale, name)
		}
	}
	slices.Sort(stale)
	if len(stale) > 0 {
		t.Errorf("no field of Kubernetes' types is called %s", strings.Join(stale, ", "))
	}
}

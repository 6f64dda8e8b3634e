// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package crd_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/crd"
	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

func definitions(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var list []*apiextensionsv1.CustomResourceDefinition
	for _, text := range crd.All() {
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict([]byte(text), definition); err != nil {
			t.Fatal(err)
		}
		list = append(list, definition)
	}
	return list
}

func TestKindsAndShortNames(t *testing.T) {
	got := map[string]string{}
	for _, definition := range definitions(t) {
		names := definition.Spec.Names
		got[names.Kind] = definition.Name + " " + strings.Join(names.ShortNames, ",")
	}
	want := map[string]string{
		"ValkeyCluster": "valkeyclusters.valkey-render.dev vkc",
		"ValkeyACL":     "valkeyacls.valkey-render.dev vkacl",
		"ValkeyNode":    "valkeynodes.valkey-render.dev vkn",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Client-side apply stores the object in an annotation, and annotations end at 256 KiB.
func TestDefinitionsFitAnAnnotation(t *testing.T) {
	for i, text := range crd.All() {
		if kib := len(text) / 1024; kib >= 200 {
			t.Errorf("%s has %d KiB, more than 200", definitions(t)[i].Name, kib)
		}
	}
}

// An object that nobody has looked at yet must not look observed.
func TestStatusBeginsUnobserved(t *testing.T) {
	for _, definition := range definitions(t) {
		for _, version := range definition.Spec.Versions {
			status := version.Schema.OpenAPIV3Schema.Properties["status"]
			if status.Default == nil || !strings.Contains(string(status.Default.Raw), `"observedGeneration":-1`) {
				t.Errorf("%s %s: status defaults to %v, not to observedGeneration -1", definition.Name, version.Name, status.Default)
			}
			if version.Subresources == nil || version.Subresources.Status == nil {
				t.Errorf("%s %s has no status subresource", definition.Name, version.Name)
			}
			if version.Name != v1alpha1.GroupVersion().Version {
				t.Errorf("%s has version %s", definition.Name, version.Name)
			}
		}
	}
}

// Server-side apply merges conditions by type only if the schema says so.
func TestConditionsAreAListMap(t *testing.T) {
	for _, definition := range definitions(t) {
		conditions := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"].Properties["conditions"]
		if conditions.XListType == nil || *conditions.XListType != "map" || !slices.Equal(conditions.XListMapKeys, []string{"type"}) {
			t.Errorf("%s: conditions are no list-map keyed by type", definition.Name)
		}
	}
}

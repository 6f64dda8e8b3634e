// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package crdschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/crd"
	"github.com/valkey-render/valkey-render/api/v1alpha1"
	rendername "github.com/valkey-render/valkey-render/render/name"
)

// Kind is one kind of our API.
type Kind struct {
	// Group, Version and Name are what a manifest says as apiVersion and kind.
	Group, Version, Name string
	// Names are all names that kubectl takes, in lower case: kind, plural, short.
	Names []string
	// Root describes a whole object.
	Root *Field
	// raw is Root as JSON Schema makes it, every keyword kept.
	raw map[string]any
}

// Field is what the schema says about a field, as far as it is explained.
type Field struct {
	Type        string `json:"type"`
	Format      string `json:"format"`
	Description string `json:"description"`
	Default     any    `json:"default"`
	// Computed is the default that depends on other fields, or that only build
	// gives, as text; empty where there is none.
	Computed   string            `json:"-"`
	Enum       []any             `json:"enum"`
	Pattern    string            `json:"pattern"`
	Minimum    *float64          `json:"minimum"`
	Maximum    *float64          `json:"maximum"`
	MinLength  *int64            `json:"minLength"`
	MaxLength  *int64            `json:"maxLength"`
	MinItems   *int64            `json:"minItems"`
	MaxItems   *int64            `json:"maxItems"`
	Required   []string          `json:"required"`
	Properties map[string]*Field `json:"properties"`
	// Items is the schema of a list's items, Values of a map's values.
	Items  *Field `json:"items"`
	Values *Field `json:"additionalProperties"`
	// MapKeys are the fields that tell the items of a list apart.
	MapKeys     []string `json:"x-kubernetes-list-map-keys"`
	IntOrString bool     `json:"x-kubernetes-int-or-string"`
	// Open says that fields without a schema are kept.
	Open bool `json:"x-kubernetes-preserve-unknown-fields"`
	// Rules are checked by the API server, and by build and validate too.
	Rules []Rule `json:"x-kubernetes-validations"`
}

// Rule is a CEL rule.
type Rule struct {
	// Rule is the expression.
	Rule string `json:"rule"`
	// Message says what is wrong when it is false.
	Message string `json:"message"`
}

// definition is the part of a CustomResourceDefinition that is read.
type definition struct {
	Spec struct {
		Group string
		Names struct {
			Kind, Plural, Singular string
			ShortNames             []string
		}
		Versions []struct {
			Name   string
			Schema struct {
				OpenAPIV3Schema *Field
			}
		}
	}
}

// rawDefinition is the same with the schema as it stands.
type rawDefinition struct {
	Spec struct {
		Versions []struct {
			Schema struct {
				OpenAPIV3Schema map[string]any
			}
		}
	}
}

// Kinds are the kinds of the API, in the order in which they are installed.
func Kinds() ([]Kind, error) {
	var kinds []Kind
	for _, text := range crd.All() {
		kind, err := parse(text)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}

func parse(text string) (Kind, error) {
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return Kind{}, fmt.Errorf("embedded CRD: %w", err)
	}
	var d definition
	var raw rawDefinition
	if err := errors.Join(json.Unmarshal(data, &d), json.Unmarshal(data, &raw)); err != nil {
		return Kind{}, fmt.Errorf("embedded CRD: %w", err)
	}
	if len(d.Spec.Versions) == 0 || d.Spec.Versions[0].Schema.OpenAPIV3Schema == nil {
		return Kind{}, fmt.Errorf("embedded CRD %s: no schema", d.Spec.Names.Kind)
	}
	if d.Spec.Names.Kind == v1alpha1.KindCluster {
		compute(d.Spec.Versions[0].Schema.OpenAPIV3Schema)
	}
	describe(d.Spec.Versions[0].Schema.OpenAPIV3Schema, d.Spec.Names.Kind, d.Spec.Group+"/"+d.Spec.Versions[0].Name)
	names := append([]string{d.Spec.Names.Singular, d.Spec.Names.Plural}, d.Spec.Names.ShortNames...)
	return Kind{
		Group: d.Spec.Group, Version: d.Spec.Versions[0].Name, Name: d.Spec.Names.Kind, Names: names,
		Root: d.Spec.Versions[0].Schema.OpenAPIV3Schema,
		raw:  raw.Spec.Versions[0].Schema.OpenAPIV3Schema,
	}, nil
}

// describe replaces what the API machinery says about the fields that every
// object has: a reader of a manifest wants to know what to write.
func describe(root *Field, kind, apiVersion string) {
	for name, text := range map[string]string{
		"apiVersion": "apiVersion is " + apiVersion + ".",
		"kind":       "kind is " + kind + ".",
		"metadata":   "metadata has name, and optionally namespace, labels and annotations.",
	} {
		if f := root.Properties[name]; f != nil {
			f.Description = text
		}
	}
	describeMetadata(root.Properties["metadata"], kind)
}

// describeMetadata adds the fields that a manifest may have; the schema of a
// CustomResourceDefinition leaves them to the API server.
func describeMetadata(meta *Field, kind string) {
	if meta == nil || len(meta.Properties) > 0 {
		return
	}
	words := &Field{Type: "string"}
	short, long := int64(1), int64(253)
	name := &Field{Type: "string", MinLength: &short, MaxLength: &long, Description: "name is the name of the object."}
	if kind == v1alpha1.KindCluster {
		long := int64(v1alpha1.MaxClusterName)
		name.MaxLength = &long
		name.Pattern = "^[a-z]([-a-z0-9]*[a-z0-9])?$"
		name.Description = "name is the name of the cluster, and the first part of the name of everything that is rendered for it. " +
			"It cannot be changed. Endings that rendered objects have are reserved: -<number>, " + strings.Join(rendername.Endings(), ", ") + "."
	}
	meta.Required = []string{"name"}
	meta.Properties = map[string]*Field{
		"name":        name,
		"namespace":   {Type: "string", Description: "namespace is where everything is rendered to. build takes it from --namespace where it is left out."},
		"labels":      {Type: "object", Values: words, Description: "labels are kept on the object itself. Those of rendered objects are set by build."},
		"annotations": {Type: "object", Values: words, Description: "annotations are kept on the object itself."},
	}
}

// APIVersion is the apiVersion of a manifest of this kind.
func (k Kind) APIVersion() string { return k.Group + "/" + k.Version }

// Is reports whether a name, in any case, means this kind.
func (k Kind) Is(name string) bool {
	return slices.Contains(k.Names, strings.ToLower(name))
}

// TypeName is the type as help shows it: string, integer, []Object,
// map[string]string.
func (f *Field) TypeName() string {
	switch {
	case f.isQuantity():
		return "quantity"
	case f.IntOrString:
		return "integer or string"
	case f.Type == "array" && f.Items != nil:
		return "[]" + f.Items.TypeName()
	case f.Type == "object" && f.Values != nil:
		return "map[string]" + f.Values.TypeName()
	case f.Type == "object":
		return "Object"
	case f.Type == "":
		return "any"
	default:
		return f.Type
	}
}

// isQuantity reports whether the value is an amount such as 1Gi or 500m. The
// schema only has the pattern that controller-gen gives resource.Quantity.
func (f *Field) isQuantity() bool {
	return f.IntOrString && strings.Contains(f.Pattern, "KMGTPE")
}

// children are the fields below f, through lists and maps.
func (f *Field) children() map[string]*Field {
	return f.element().Properties
}

// element is what a list or a map holds, or f itself.
func (f *Field) element() *Field {
	for {
		switch {
		case f.Items != nil:
			f = f.Items
		case f.Values != nil:
			f = f.Values
		default:
			return f
		}
	}
}

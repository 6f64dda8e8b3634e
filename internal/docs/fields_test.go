// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/crd"
)

// specPages are the page of each kind.
var specPages = map[string]string{
	"ValkeyCluster": "docs/spec/valkeycluster.md",
	"ValkeyACL":     "docs/spec/valkeyacl.md",
	"ValkeyNode":    "docs/spec/valkeynode.md",
}

// schema is a part of an OpenAPI schema.
type schema struct {
	Type        string            `json:"type"`
	Description string            `json:"description"`
	Default     any               `json:"default"`
	Enum        []any             `json:"enum"`
	Minimum     *int64            `json:"minimum"`
	Maximum     *int64            `json:"maximum"`
	Required    []string          `json:"required"`
	Rules       []rule            `json:"x-kubernetes-validations"`
	Properties  map[string]schema `json:"properties"`
	Items       *schema           `json:"items"`
}

// rule is one in CEL.
type rule struct {
	Message   string `json:"message"`
	FieldPath string `json:"fieldPath"`
}

// apiField is a field of spec or status.
type apiField struct {
	schema
	// Depth is 1 for spec.shards.
	Depth int
	// Needed where the block that it is in has it among its required fields.
	Needed bool
}

// apiFields returns the fields of a kind by path, items of lists as users[].name.
// Those without a description belong to types of Kubernetes.
func apiFields(t *testing.T, kind string) map[string]apiField {
	t.Helper()
	out := map[string]apiField{}
	for _, data := range crd.All() {
		var definition struct {
			Spec struct {
				Names    struct{ Kind string }
				Versions []struct {
					Schema struct{ OpenAPIV3Schema schema }
				}
			}
		}
		if err := yaml.Unmarshal([]byte(data), &definition); err != nil {
			t.Fatal(err)
		}
		if definition.Spec.Names.Kind != kind {
			continue
		}
		whole := definition.Spec.Versions[0].Schema.OpenAPIV3Schema
		for _, part := range []string{"spec", "status"} {
			collect(out, part, whole.Properties[part], 1)
		}
	}
	if len(out) == 0 {
		t.Fatalf("no field of %s", kind)
	}
	return out
}

func collect(out map[string]apiField, path string, s schema, depth int) {
	if s.Items != nil {
		path, s = path+"[]", *s.Items
	}
	for name, child := range s.Properties {
		if child.Description == "" {
			continue
		}
		out[path+"."+name] = apiField{child, depth, slices.Contains(s.Required, name)}
		collect(out, path+"."+name, child, depth+1)
	}
}

// fieldSections are the sections of a page whose heading is a field.
func fieldSections(t *testing.T, p page) map[string]section {
	t.Helper()
	out := map[string]section{}
	for _, s := range p.Sections {
		path := code(s.Title)
		if !strings.HasPrefix(path, "spec.") && !strings.HasPrefix(path, "status.") {
			continue
		}
		if _, twice := out[path]; twice {
			t.Errorf("%s:%d: second heading for %s", p.Path, s.Line, path)
		}
		out[path] = s
	}
	return out
}

// TestEveryFieldHasAHeading: the fields of a kind are the headings of its page, each
// with a text, below the heading of what it is in.
func TestEveryFieldHasAHeading(t *testing.T) {
	for kind, path := range specPages {
		p := read(t, path)
		sections := fieldSections(t, p)
		fields := apiFields(t, kind)
		for name, field := range fields {
			s, ok := sections[name]
			if !ok {
				t.Errorf("%s: no heading for %s", path, name)
				continue
			}
			if want := min(2+field.Depth, 6); s.Level != want {
				t.Errorf("%s:%d: %s is a heading of level %d, want %d", path, s.Line, name, s.Level, want)
			}
			if len(trim(s.Lines)) == 0 {
				t.Errorf("%s:%d: nothing is said about %s", path, s.Line, name)
			}
		}
		parent := ""
		for _, s := range p.Sections {
			name := code(s.Title)
			if _, is := sections[name]; !is {
				continue
			}
			field, ok := fields[name]
			switch {
			case !ok:
				t.Errorf("%s:%d: %s has no field %s", path, s.Line, kind, name)
			case field.Depth > 1 && topOf(name) != parent:
				t.Errorf("%s:%d: %s does not stand below %s", path, s.Line, name, topOf(name))
			case field.Depth == 1:
				parent = name
			}
		}
	}
}

// topOf is the field directly below spec or status that a path is in.
func topOf(path string) string {
	parts := strings.SplitN(path, ".", 3)
	return parts[0] + "." + strings.TrimSuffix(parts[1], "[]")
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package crdschema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Draft is the JSON Schema version that is written: the newest that the
// language servers of YAML in all common editors implement.
const Draft = "http://json-schema.org/draft-07/schema#"

// JSONSchema is the schema of manifests of the kinds: of one kind's, or of any
// one of them. Unlike the API server, which prunes, it refuses unknown fields,
// as build does. config, by directive, describes well-known keys of spec.config
// so that an editor can offer them.
func JSONSchema(kinds []Kind, config map[string]string) ([]byte, error) {
	definitions := map[string]any{}
	var refs []any
	for _, kind := range kinds {
		manifest, err := kind.manifest(config)
		if err != nil {
			return nil, err
		}
		definitions[kind.Name] = manifest
		refs = append(refs, map[string]any{"$ref": "#/definitions/" + kind.Name})
	}
	schema := map[string]any{"$schema": Draft, "definitions": definitions}
	if len(kinds) == 1 {
		schema["title"] = kinds[0].Name
		schema["allOf"] = refs
	} else {
		schema["title"] = "valkey-render"
		// By kind, and not oneOf: a validator then says what is wrong with the
		// kind that is there, instead of that it is none of them.
		var names, branches []any
		for i, kind := range kinds {
			names = append(names, kind.Name)
			branches = append(branches, map[string]any{
				"if":   map[string]any{"properties": map[string]any{"kind": map[string]any{"const": kind.Name}}, "required": []any{"kind"}},
				"then": refs[i],
			})
		}
		schema["type"] = "object"
		schema["required"] = []any{"apiVersion", "kind"}
		schema["properties"] = map[string]any{"kind": map[string]any{"enum": names}}
		schema["allOf"] = branches
	}
	data, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("JSON schema: %w", err)
	}
	return append(data, '\n'), nil
}

// manifest is the schema of a file with one object of the kind.
func (k Kind) manifest(config map[string]string) (map[string]any, error) {
	root, ok := translate(k.raw).(map[string]any)
	if !ok {
		return nil, fmt.Errorf("JSON schema of %s: no object", k.Name)
	}
	properties, ok := root["properties"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("JSON schema of %s: no properties", k.Name)
	}
	// What only the API server or the reconciler writes has no place in a file.
	delete(properties, "status")
	properties["apiVersion"] = map[string]any{"const": k.APIVersion(), "type": "string"}
	properties["kind"] = map[string]any{"const": k.Name, "type": "string"}
	properties["metadata"] = metadata()
	root["required"] = []any{"apiVersion", "kind", "metadata"}
	if slices.Contains(k.Root.Required, "spec") {
		root["required"] = []any{"apiVersion", "kind", "metadata", "spec"}
	}
	if spec, ok := properties["spec"].(map[string]any); ok {
		describeConfig(spec, config)
	}
	return root, nil
}

// Spec is the schema of the spec alone. The caller may change it.
func (k Kind) Spec() (map[string]any, error) {
	root, _ := translate(k.raw).(map[string]any)
	properties, _ := root["properties"].(map[string]any)
	spec, ok := properties["spec"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("JSON schema of %s: no spec", k.Name)
	}
	return spec, nil
}

func metadata() map[string]any {
	texts := map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}}
	return map[string]any{
		"type": "object",
		"properties": map[string]any{
			"name":        map[string]any{"type": "string", "minLength": 1, "maxLength": 253},
			"namespace":   map[string]any{"type": "string", "minLength": 1, "maxLength": 63},
			"labels":      texts,
			"annotations": texts,
		},
		"required":             []any{"name"},
		"additionalProperties": false,
	}
}

// describeConfig adds what is known about directives to spec.config. Other keys
// remain allowed, since names may be written in any case; build knows them all.
func describeConfig(spec map[string]any, config map[string]string) {
	properties, _ := spec["properties"].(map[string]any)
	field, ok := properties["config"].(map[string]any)
	if !ok || len(config) == 0 {
		return
	}
	known := map[string]any{}
	for name, text := range config {
		known[name] = map[string]any{"type": "string", "description": text}
	}
	field["properties"] = known
}

// translate turns a structural OpenAPI schema into JSON Schema.
func translate(node any) any {
	switch v := node.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = translate(item)
		}
		return out
	case map[string]any:
		return translateObject(v)
	default:
		return node
	}
}

func translateObject(in map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range in {
		switch key {
		case "properties":
			// Names of fields, which may be those of keywords.
			fields := map[string]any{}
			named, _ := value.(map[string]any)
			for name, field := range named {
				fields[name] = translate(field)
			}
			out[key] = fields
		case "default", "enum", "example":
			out[key] = value
		case "format":
			// Formats of OpenAPI that JSON Schema does not have; the bounds of
			// an int32 are below.
			if value == "date-time" {
				out[key] = value
			}
		default:
			if !strings.HasPrefix(key, "x-kubernetes-") {
				out[key] = translate(value)
			}
		}
	}
	if in["x-kubernetes-int-or-string"] == true {
		delete(out, "anyOf")
		out["type"] = []any{"integer", "string"}
		if pattern, _ := in["pattern"].(string); strings.Contains(pattern, "KMGTPE") {
			// A quantity may also be written as 0.5.
			out["type"] = []any{"number", "string"}
		}
	}
	limitInt32(in, out)
	closed(in, out)
	return out
}

// limitInt32 adds the bounds that the format stood for.
func limitInt32(in, out map[string]any) {
	if in["format"] != "int32" {
		return
	}
	for key, bound := range map[string]int64{"minimum": -1 << 31, "maximum": 1<<31 - 1} {
		if _, ok := out[key]; !ok {
			out[key] = bound
		}
	}
}

// closed refuses fields that the schema does not have.
func closed(in, out map[string]any) {
	if in["type"] != "object" || in["x-kubernetes-preserve-unknown-fields"] == true {
		return
	}
	_, hasFields := in["properties"]
	_, hasValues := in["additionalProperties"]
	if hasFields && !hasValues {
		out["additionalProperties"] = false
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"fmt"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/crdschema"
)

// own are the schemas of those values of chart valkey-cluster that are no fields of the
// spec.
func own() map[string]any {
	texts := func(about string) map[string]any {
		return map[string]any{"type": "object", "description": about, "additionalProperties": map[string]any{"type": "string"}}
	}
	return map[string]any{
		"global": map[string]any{"type": "object", "description": "Helm's own."},
		"clusterName": map[string]any{
			"type": "string", "maxLength": v1alpha1.MaxClusterName, "pattern": "^([a-z]([-a-z0-9]*[a-z0-9])?)?$",
			"description": "The name of the ValkeyCluster; that of the release when empty.",
		},
		"clusterLabels":      texts("Labels of the ValkeyCluster."),
		"clusterAnnotations": texts("Annotations of the ValkeyCluster."),
		"helmTest": map[string]any{
			"type": "object", "description": "What `helm test` does.", "additionalProperties": false,
			"properties": map[string]any{
				"enabled":        map[string]any{"type": "boolean"},
				"image":          map[string]any{"type": "string"},
				"timeoutSeconds": map[string]any{"type": "integer", "minimum": 1, "maximum": 3600},
			},
		},
	}
}

// ClusterSchema is the schema of the values of chart valkey-cluster: every field of the
// spec, as the definition has it, and the chart's own.
func ClusterSchema() ([]byte, error) {
	kinds, err := crdschema.Kinds()
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		if kind.Name != v1alpha1.KindCluster {
			continue
		}
		spec, err := kind.Spec()
		if err != nil {
			return nil, err
		}
		properties, _ := spec["properties"].(map[string]any)
		for name, schema := range own() {
			if _, taken := properties[name]; taken {
				return nil, fmt.Errorf("value %s: the spec has a field of that name", name)
			}
			properties[name] = schema
		}
		spec["$schema"] = crdschema.Draft
		spec["title"] = "Values of chart valkey-cluster"
		spec["description"] = "Every field of a ValkeyCluster's spec, and a few of the chart."
		data, err := json.MarshalIndent(spec, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("values schema: %w", err)
		}
		return append(data, '\n'), nil
	}
	return nil, fmt.Errorf("no kind %s", v1alpha1.KindCluster)
}

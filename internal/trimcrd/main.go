// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Command trimcrd rewrites the CustomResourceDefinitions named on its command line without
// the descriptions below fields that hold Kubernetes' own types, and with the small schemas
// there on one line. `make generate` runs it: those texts are two thirds of the definitions,
// Kubernetes documents them better, and with them a definition passes what client-side apply
// can store in an annotation. Indentation is half of what is left.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"

	"go.yaml.in/yaml/v3"
	k8syaml "sigs.k8s.io/yaml"
)

const header = `# SPDX-FileCopyrightText: The valkey-render Authors
# SPDX-License-Identifier: Apache-2.0

# Written by make generate from the types in api/v1alpha1.
`

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(files []string, stderr io.Writer) int {
	for _, name := range files {
		if err := rewrite(name); err != nil {
			fmt.Fprintf(stderr, "trimcrd: %v\n", err)
			return 1
		}
	}
	return 0
}

func rewrite(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	trimmed, err := trim(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(name, trimmed, 0o644)
}

// foreignProperties are the names of our fields whose type is one of k8s.io/api, called
// as in a pod. A test holds them to the types.
func foreignProperties() []string {
	return []string{
		"affinity", "allowFrom", "conditions", "containers", "containerSecurityContext", "imagePullSecrets", "resources",
		"securityContext", "tolerations", "topologySpreadConstraints", "volumeMounts", "volumes",
	}
}

// foreign reports whether a property holds a type of k8s.io/api, by its name.
func foreign(property string) bool { return slices.Contains(foreignProperties(), property) }

// trim returns the definition without the descriptions below foreign properties. The
// description of the property itself, which is ours, stays.
func trim(crd []byte) ([]byte, error) {
	var object map[string]any
	if err := k8syaml.Unmarshal(crd, &object); err != nil {
		return nil, err
	}
	walk(object, false)
	text, err := k8syaml.Marshal(object)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	fold(&document, false)
	out := bytes.NewBufferString(header)
	encoder := yaml.NewEncoder(out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(&document); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}

// lineWidth is the most characters of a schema that is written on one line.
const lineWidth = 120

// fold puts the schemas below foreign properties that are short enough on one line each.
func fold(node *yaml.Node, below bool) {
	if below && node.Kind != yaml.ScalarNode && flowWidth(node) <= lineWidth {
		node.Style = yaml.FlowStyle
		return
	}
	if node.Kind != yaml.MappingNode {
		for _, child := range node.Content {
			fold(child, below)
		}
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		fold(value, below || foreign(key.Value) && value.Kind == yaml.MappingNode)
	}
}

// flowWidth is about how many characters a node has on one line.
func flowWidth(node *yaml.Node) int {
	width := len(node.Value) + 2
	for _, child := range node.Content {
		width += flowWidth(child)
	}
	return width
}

// walk goes through a JSON value that holds schemas; below says that a foreign property is
// above it.
func walk(value any, below bool) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			walk(item, below)
		}
	case map[string]any:
		properties, _ := value["properties"].(map[string]any)
		for name, property := range properties {
			schema, ok := property.(map[string]any)
			if !ok {
				continue
			}
			if below {
				delete(schema, "description")
			}
			walk(schema, below || foreign(name))
		}
		for key, child := range value {
			if key == "properties" && properties != nil {
				continue
			}
			if schema, ok := child.(map[string]any); ok && below && (key == "items" || key == "additionalProperties") {
				delete(schema, "description")
			}
			walk(child, below)
		}
	}
}

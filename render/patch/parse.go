// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	syaml "sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/internal/nearest"
	"github.com/valkey-render/valkey-render/internal/oldbool"
)

// parsed is a patch read: operations or merges, never both.
type parsed struct {
	// operations are JSON 6902 operations, as JSON: batches to be applied one after
	// the other.
	operations []string
	// testsOnly says that they change nothing, and are not meant to.
	testsOnly bool
	merges    []mergePatch
}

const (
	// maxBytes is what the API takes for a patch.
	maxBytes = 64 << 10
	// maxDepth is deeper than anything in an object.
	maxDepth = 64
	// maxCopies is how many copy operations one patch may have.
	maxCopies = 16
)

// mergePatch is one document of a strategic merge patch.
type mergePatch struct {
	object unstructured.Unstructured
}

// names says whether the patch names an object: by group, kind and name, and by
// namespace if it has one.
func (m mergePatch) names(obj *unstructured.Unstructured) bool {
	p := &m.object
	return p.GetName() == obj.GetName() && p.GroupVersionKind().GroupKind() == obj.GroupVersionKind().GroupKind() &&
		(p.GetNamespace() == "" || p.GetNamespace() == obj.GetNamespace())
}

func (m mergePatch) String() string { return id(&m.object) }

// parse reads a patch.
func parse(text string) (parsed, error) {
	var out parsed
	if len(text) > maxBytes {
		return parsed{}, fmt.Errorf("has %d bytes; %d are allowed", len(text), maxBytes)
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return parsed{}, fmt.Errorf("is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		}
		if err := check(doc.Content[0], 1); err != nil {
			return parsed{}, err
		}
		raw, err := yaml.Marshal(&doc)
		if err != nil {
			return parsed{}, fmt.Errorf("is not valid YAML: %w", err)
		}
		root := doc.Content[0]
		switch {
		case root.Kind == yaml.SequenceNode:
			if len(out.operations) > 0 || len(out.merges) > 0 {
				return parsed{}, errors.New("has JSON 6902 operations and another document; give them as a patch each")
			}
			if out.operations, out.testsOnly, err = readOperations(raw); err != nil {
				return parsed{}, err
			}
		case root.Kind == yaml.MappingNode:
			if len(out.operations) > 0 {
				return parsed{}, errors.New("has JSON 6902 operations and another document; give them as a patch each")
			}
			m, err := readMerge(raw)
			if err != nil {
				return parsed{}, err
			}
			out.merges = append(out.merges, m)
		case root.Kind == yaml.ScalarNode && root.Tag == "!!null":
		default:
			return parsed{}, errors.New("is neither a strategic merge patch (a mapping) nor JSON 6902 operations (a list)")
		}
	}
	if len(out.operations) == 0 && len(out.merges) == 0 {
		return parsed{}, errors.New("is empty")
	}
	return out, nil
}

// check refuses what readers of YAML disagree about: keys given twice, and words
// and numbers that are one thing in YAML 1.1 and another in 1.2. kustomize reads
// merge patches as 1.2 and operations as 1.1.
func check(n *yaml.Node, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("is nested deeper than %d levels, in line %d", maxDepth, n.Line)
	}
	if n.Kind == yaml.MappingNode {
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind == yaml.ScalarNode && seen[key.Value] {
				return fmt.Errorf("has the key %q twice, again in line %d", key.Value, key.Line)
			}
			seen[key.Value] = true
		}
	}
	if n.Kind == yaml.ScalarNode && n.Style == 0 {
		if value, old := oldbool.Read(n.Value); old {
			return fmt.Errorf("has the word %s in line %d, which only some readers take for a boolean; write %q or %t", n.Value, n.Line, n.Value, value)
		}
		if octal := strings.TrimLeft(n.Value, "+-"); len(octal) > 1 && octal[0] == '0' && strings.Trim(octal, "01234567") == "" {
			return fmt.Errorf("has the number %s in line %d, which only some readers take for octal; write it without the leading zero, or %q", n.Value, n.Line, n.Value)
		}
	}
	for _, item := range n.Content {
		if err := check(item, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func readMerge(raw []byte) (mergePatch, error) {
	content := map[string]any{}
	if err := syaml.Unmarshal(raw, &content); err != nil {
		return mergePatch{}, fmt.Errorf("is not valid YAML: %s", strings.TrimPrefix(err.Error(), "error converting YAML to JSON: yaml: "))
	}
	if len(content) == 0 {
		return mergePatch{}, errors.New("is empty")
	}
	if _, isOperation := content["op"]; isOperation && content["path"] != nil {
		return mergePatch{}, errors.New("has one JSON 6902 operation; operations are a list, so put a dash before it")
	}
	for _, key := range []string{"apiVersion", "kind"} {
		if value, given := content[key]; given {
			if _, isText := value.(string); !isText {
				return mergePatch{}, fmt.Errorf("has %s %v, which is not text", key, value)
			}
		}
	}
	if version, _ := content["apiVersion"].(string); version != "" {
		if _, err := schema.ParseGroupVersion(version); err != nil {
			return mergePatch{}, fmt.Errorf("has apiVersion %q, which is not a group and a version", version)
		}
	}
	if meta, given := content["metadata"]; given {
		if _, isMapping := meta.(map[string]any); !isMapping {
			return mergePatch{}, errors.New("has metadata that is not a mapping")
		}
	}
	return mergePatch{unstructured.Unstructured{Object: content}}, nil
}

// operation is one operation of RFC 6902.
type operation struct {
	Op    string  `json:"op"`
	Path  *string `json:"path"`
	From  *string `json:"from,omitempty"`
	Value any     `json:"value,omitempty"`
}

func readOperations(raw []byte) (batches []string, testsOnly bool, _ error) {
	var operations []operation
	if err := syaml.UnmarshalStrict(raw, &operations); err != nil {
		return nil, false, fmt.Errorf("is no list of JSON 6902 operations: %s", strings.TrimPrefix(err.Error(), "error unmarshaling JSON: "))
	}
	if len(operations) == 0 {
		return nil, false, errors.New("is empty")
	}
	known := []string{"add", "remove", "replace", "move", "copy", "test"}
	for i, op := range operations {
		switch {
		case !slices.Contains(known, op.Op):
			message := fmt.Sprintf("operation %d has op %q; it may be %s", i, op.Op, strings.Join(known, ", "))
			if near := nearest.Word(op.Op, known); near != "" {
				message = fmt.Sprintf("operation %d has op %q; did you mean %q?", i, op.Op, near)
			}
			return nil, false, errors.New(message)
		case op.Path == nil, *op.Path != "" && !strings.HasPrefix(*op.Path, "/"):
			return nil, false, fmt.Errorf("operation %d needs a path that starts with /", i)
		case (op.Op == "move" || op.Op == "copy") && (op.From == nil || !strings.HasPrefix(*op.From, "/")):
			return nil, false, fmt.Errorf("operation %d needs a from that starts with /", i)
		}
	}
	// Read once more without the struct: a value that is null must stay one.
	operationsJSON, err := syaml.YAMLToJSON(raw)
	if err != nil {
		return nil, false, fmt.Errorf("is not valid YAML: %w", err)
	}
	if !slices.ContainsFunc(operations, func(o operation) bool { return o.Op == "copy" }) {
		return []string{string(operationsJSON)}, !slices.ContainsFunc(operations, func(o operation) bool { return o.Op != "test" }), nil
	}
	batches, err = perCopy(operationsJSON, operations)
	return batches, false, err
}

// perCopy ends a batch after each copy: copies of copies double what there is, so
// that the size has to be looked at in between.
func perCopy(operationsJSON []byte, operations []operation) ([]string, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(operationsJSON, &raw); err != nil {
		return nil, fmt.Errorf("cannot be read back: %w", err)
	}
	var batches, batch []string
	copies := 0
	for i, one := range raw {
		batch = append(batch, string(one))
		isCopy := operations[i].Op == "copy"
		if isCopy {
			if copies++; copies > maxCopies {
				return nil, fmt.Errorf("has more than %d copy operations", maxCopies)
			}
		}
		if isCopy || i == len(raw)-1 {
			batches = append(batches, "["+strings.Join(batch, ",")+"]")
			batch = nil
		}
	}
	return batches, nil
}

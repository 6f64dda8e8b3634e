// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/kustomize/api/filters/patchjson6902"
	"sigs.k8s.io/kustomize/api/filters/patchstrategicmerge"
	"sigs.k8s.io/kustomize/kyaml/kio"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// merge applies a strategic merge patch; nil when it deletes the object. As in
// kustomize, the identity that the patch has does not replace the object's.
func merge(obj *unstructured.Unstructured, m mergePatch) (*unstructured.Unstructured, error) {
	p := m.object.DeepCopy()
	p.SetAPIVersion(obj.GetAPIVersion())
	p.SetKind(obj.GetKind())
	p.SetName(obj.GetName())
	p.SetNamespace(obj.GetNamespace())
	node, err := toNode(p)
	if err != nil {
		return nil, err
	}
	return filtered(obj, patchstrategicmerge.Filter{Patch: node})
}

// maxGrowth is how many bytes of JSON several copies may add to an object: what
// fits into all the annotations of one, and as much again.
const maxGrowth = 512 << 10

// operate applies batches of JSON 6902 operations, one after the other.
func operate(obj *unstructured.Unstructured, batches []string) (*unstructured.Unstructured, error) {
	if len(batches) == 1 {
		return filtered(obj, patchjson6902.Filter{Patch: batches[0]})
	}
	most := 0
	for i, batch := range batches {
		raw, err := json.Marshal(obj.Object)
		if err != nil {
			return nil, fmt.Errorf("object cannot be encoded: %w", err)
		}
		if i == 0 {
			most = len(raw) + maxGrowth
		}
		if len(raw) > most {
			return nil, errors.New("it copies more than an object may hold")
		}
		if obj, err = filtered(obj, patchjson6902.Filter{Patch: batch}); err != nil || obj == nil {
			return nil, err
		}
	}
	return obj, nil
}

// filtered runs a filter of kustomize over one object.
func filtered(obj *unstructured.Unstructured, f kio.Filter) (*unstructured.Unstructured, error) {
	node, err := toNode(obj)
	if err != nil {
		return nil, err
	}
	nodes, err := f.Filter([]*kyaml.RNode{node})
	if err != nil {
		return nil, cause(err)
	}
	if len(nodes) == 0 || nodes[0].IsNilOrEmpty() {
		return nil, nil
	}
	return fromNode(nodes[0])
}

// toNode goes through JSON, which YAML reads as it is: text stays quoted.
func toNode(obj *unstructured.Unstructured) (*kyaml.RNode, error) {
	raw, err := json.Marshal(obj.Object)
	if err != nil {
		return nil, fmt.Errorf("object cannot be encoded: %w", err)
	}
	node, err := kyaml.Parse(escaped(string(raw)))
	if err != nil {
		return nil, fmt.Errorf("object cannot be read back: %w", err)
	}
	return node, nil
}

// escaped writes the characters that JSON takes as they are and YAML does not.
func escaped(text string) string {
	odd := func(r rune) bool { return r >= 0x7f && r < 0xa0 || r == 0xfeff || r >= 0xfffe && r <= 0xffff }
	if !strings.ContainsFunc(text, odd) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if odd(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// fromNode returns a canonical object: whole numbers are int64, there are no
// nulls, and quantities are in their canonical form.
func fromNode(node *kyaml.RNode) (*unstructured.Unstructured, error) {
	raw, err := node.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("result cannot be encoded: %w", err)
	}
	content := map[string]any{}
	if err := utiljson.Unmarshal(raw, &content); err != nil {
		return nil, fmt.Errorf("result is no object: %w", err)
	}
	canonical(content)
	return &unstructured.Unstructured{Object: content}, nil
}

// cause keeps the first line of an error: kustomize's carry stack traces and
// whole objects.
func cause(err error) error {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("%s", strings.TrimSuffix(text, ":"))
}

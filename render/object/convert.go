// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// toUnstructured converts a typed object and leaves out the status, which only the
// server writes, and structs that are empty because Go cannot omit them.
func toUnstructured(object any) (map[string]any, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("%T: %w", object, err)
	}
	delete(content, "status")
	prune(content)
	return content, nil
}

// prune drops empty resources and status at any depth. Other empty structs mean
// something: emptyDir: {}, podSelector: {}.
func prune(content map[string]any) {
	for key, value := range content {
		switch v := value.(type) {
		case map[string]any:
			if len(v) == 0 && (key == "resources" || key == "status") {
				delete(content, key)
				continue
			}
			prune(v)
		case []any:
			for _, item := range v {
				if m, ok := item.(map[string]any); ok {
					prune(m)
				}
			}
		}
	}
}

// custom is an object of a kind whose Go types are not used here.
func custom(apiVersion, kind string, meta metav1.ObjectMeta, spec map[string]any) map[string]any {
	metadata := map[string]any{"name": meta.Name, "labels": anyMap(meta.Labels)}
	if meta.Namespace != "" {
		metadata["namespace"] = meta.Namespace
	}
	if len(meta.Annotations) > 0 {
		metadata["annotations"] = anyMap(meta.Annotations)
	}
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata, "spec": spec}
}

func anys(items []string) []any {
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = item
	}
	return out
}

func anyMap(items map[string]string) map[string]any {
	out := make(map[string]any, len(items))
	for k, v := range items {
		out[k] = v
	}
	return out
}

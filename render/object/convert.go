// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"fmt"

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

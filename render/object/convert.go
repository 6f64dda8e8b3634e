// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
)

// toUnstructured converts a typed object and leaves out what only the server
// writes: status, creationTimestamp and structs that are empty because Go cannot
// omit them.
func toUnstructured(object any) (map[string]any, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("%T: %w", object, err)
	}
	delete(content, "status")
	pruneMap(content)
	return content, nil
}

// pruneMap drops fields without a value and empty resources and status, at any
// depth. Other empty maps mean something: emptyDir: {}, podSelector: {}.
func pruneMap(content map[string]any) {
	for key, value := range content {
		switch v := value.(type) {
		case map[string]any:
			if len(v) == 0 && (key == "resources" || key == "status") {
				delete(content, key)
				continue
			}
			pruneMap(v)
		case []any:
			pruneList(v)
		case nil:
			delete(content, key)
		}
	}
}

func pruneList(items []any) {
	for _, item := range items {
		switch v := item.(type) {
		case map[string]any:
			pruneMap(v)
		case []any:
			pruneList(v)
		}
	}
}

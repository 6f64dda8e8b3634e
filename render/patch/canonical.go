// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// canonical removes nulls and writes the quantities under limits and requests
// as the API server does, in place: applying the output twice must change
// nothing.
func canonical(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if value == nil {
				delete(v, key)
				continue
			}
			if amounts, ok := value.(map[string]any); ok && (key == "limits" || key == "requests") {
				quantities(amounts)
			}
			canonical(value)
		}
	case []any:
		for _, item := range v {
			canonical(item)
		}
	}
}

// quantities writes canonical quantities; what is none is left for the API
// server to refuse.
func quantities(amounts map[string]any) {
	for name, value := range amounts {
		var text string
		switch value := value.(type) {
		case string:
			text = value
		case int64:
			text = strconv.FormatInt(value, 10)
		case float64:
			text = strconv.FormatFloat(value, 'f', -1, 64)
		default:
			continue
		}
		if q, err := resource.ParseQuantity(text); err == nil {
			amounts[name] = q.String()
		}
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package node

// Pairs reads a reply of names and values in turn, such as that of CONFIG GET, or a map as it is
// in RESP3. Values that are no text are left out. Of a reply that is neither it is nil.
func Pairs(value any) map[string]string {
	fields := map[string]string{}
	switch v := value.(type) {
	case map[string]any:
		for name, value := range v {
			if text, ok := value.(string); ok {
				fields[name] = text
			}
		}
	case []any:
		if len(v)%2 != 0 {
			return nil
		}
		for i := 0; i < len(v); i += 2 {
			name, isName := v[i].(string)
			if text, ok := v[i+1].(string); ok && isName {
				fields[name] = text
			}
		}
	default:
		return nil
	}
	return fields
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"maps"
	"slices"
	"strings"
)

// mutable tells whether an image reference can mean another image tomorrow: no
// tag, or the tag latest, and no digest.
func mutable(ref string) bool {
	if strings.Contains(ref, "@") {
		return false
	}
	name := ref[strings.LastIndex(ref, "/")+1:]
	_, tag, ok := strings.Cut(name, ":")
	return !ok || tag == "latest"
}

// variables returns the names of $(NAME) references in text; $$(NAME) is an
// escape and no reference (Kubernetes, third_party/forked/golang/expansion).
func variables(text string) []string {
	var names []string
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '$' {
			continue
		}
		if text[i+1] == '$' {
			i++
			continue
		}
		if text[i+1] != '(' {
			continue
		}
		end := strings.IndexByte(text[i:], ')')
		if end < 0 {
			break
		}
		names = append(names, text[i+2:i+end])
		i += end
	}
	return names
}

func sortedKeys(m map[string]string) []string {
	return slices.Sorted(maps.Keys(m))
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package node

import "fmt"

// Pairs reads a reply of names and values in turn, such as that of CONFIG GET.
func Pairs(value any) map[string]string {
	list, _ := value.([]any)
	out := map[string]string{}
	for i := 0; i+1 < len(list); i += 2 {
		out[fmt.Sprint(list[i])] = fmt.Sprint(list[i+1])
	}
	return out
}

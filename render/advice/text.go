// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"strconv"
	"strings"
)

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

// counted is a number with its noun: 1 shard, 2 shards.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

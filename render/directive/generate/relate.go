// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/valkey-render/valkey-render/internal/servertest"
)

// sameAs finds the other names of a directive: those whose value changes with it.
func sameAs(servers, version, name string, f fact, before map[string]string) []string {
	line := name + " " + quote(otherValue(f))
	if name == "replicaof" || name == "slaveof" {
		// Two words; nobody listens there.
		line = name + " 127.0.0.1 1"
	}
	server, err := servertest.Launch(servers, version, servertest.Options{Conf: line + "\n"})
	if err != nil {
		return nil
	}
	defer server.Stop()
	after, err := server.Config("*")
	if err != nil || after[name] == before[name] {
		return nil
	}
	var same []string
	for other, now := range after {
		if other != name && now == after[name] && now != before[other] && before[other] == before[name] {
			same = append(same, other)
		}
	}
	slices.Sort(same)
	return same
}

// otherValue is a value of the type that is not the default.
func otherValue(f fact) string {
	switch f.Type {
	case "bool":
		return map[string]string{"yes": "no", "no": "yes"}[f.Default]
	case "enum", "flags":
		for _, value := range f.Enum {
			if value != f.Default {
				return value
			}
		}
	case "integer", "memory", "memory-or-percent":
		n, err := strconv.ParseInt(f.Default, 10, 64)
		if err == nil && n >= f.Min && (n < 0 || uint64(n) < f.Max) {
			return strconv.FormatInt(n+1, 10)
		}
		return strconv.FormatInt(f.Min, 10)
	case "octal":
		return "700"
	}
	return "0-3"
}

// disagreements tries the default, the ends and every enum value of a live
// directive both ways.
func disagreements(servers, version, name string, f fact, set func(string) string) []string {
	values := append([]string{f.Default}, f.Enum...)
	switch f.Type {
	case "bool":
		values = []string{"yes", "no"}
	case "integer", "memory", "memory-or-percent":
		values = append(values, strconv.FormatInt(f.Min, 10), strconv.FormatUint(f.Max, 10))
	case "string", "special":
		values = append(values, probe, "")
	}
	var refused []string
	for _, value := range values {
		live, atStart := set(value), start(servers, version, name, value)
		if (live == "") == (atStart == "") && (live == "" || f.Type == "string" || f.Type == "special") {
			continue
		}
		refused = append(refused, fmt.Sprintf("%q: live %q, start %q", value, live, atStart))
	}
	return refused
}

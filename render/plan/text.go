// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// count is a number of things.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// their is the pronoun of so many things.
func their(n int) string {
	if n == 1 {
		return "its"
	}
	return "their"
}

// shards names sorted indexes, neighbours as a range: shards 0-2, 5.
func shards(sorted []int32) string {
	var parts []string
	for i := 0; i < len(sorted); {
		last := i
		for last+1 < len(sorted) && sorted[last+1] == sorted[last]+1 {
			last++
		}
		switch last - i {
		case 0:
			parts = append(parts, fmt.Sprint(sorted[i]))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", sorted[i], sorted[last]))
		}
		i = last + 1
	}
	if len(sorted) == 1 {
		return "shard " + parts[0]
	}
	return "shards " + strings.Join(parts, ", ")
}

// most is how many names a line has before it says how many more there are.
const most = 6

func listed(names map[string]bool) string {
	return few(slices.Sorted(maps.Keys(names)))
}

func few(names []string) string {
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most-1], ", "), len(names)-most+1)
	}
	return strings.Join(names, ", ")
}

// differing are the keys of items that are on one side only, or differ.
func differing[T any](before, after []T, key func(T) string) []string {
	index := func(items []T) map[string]T {
		out := map[string]T{}
		for _, item := range items {
			out[key(item)] = item
		}
		return out
	}
	return differingKeys(index(before), index(after))
}

func differingKeys[T any](before, after map[string]T) []string {
	var out []string
	for key, was := range before {
		if is, ok := after[key]; !ok || !reflect.DeepEqual(was, is) {
			out = append(out, key)
		}
	}
	for key := range after {
		if _, ok := before[key]; !ok {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// reasons are what differs between two pod templates: directives of the files that
// are annotations, and fields otherwise.
func reasons(before, after any) []string {
	var paths []string
	walk(before, after, "", &paths)
	var out []string
	for _, path := range paths {
		if !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	if len(out) > most {
		out = append(out[:most-1], fmt.Sprintf("and %d more", len(out)-most+1))
	}
	return out
}

// walk collects the paths of what differs.
func walk(before, after any, path string, found *[]string) {
	if reflect.DeepEqual(before, after) {
		return
	}
	was, wasMap := before.(map[string]any)
	is, isMap := after.(map[string]any)
	if wasMap && isMap {
		for _, key := range differingKeys(was, is) {
			switch key {
			case v1alpha1.AnnotationConfig, v1alpha1.AnnotationSentinelConfig:
				*found = append(*found, configReason(key, was[key], is[key]))
			default:
				walk(was[key], is[key], under(path, key), found)
			}
		}
		return
	}
	wasItems, wasNamed := byName(before)
	isItems, isNamed := byName(after)
	if wasNamed && isNamed {
		for _, key := range differingKeys(wasItems, isItems) {
			walk(wasItems[key], isItems[key], path+"["+key+"]", found)
		}
		return
	}
	*found = append(*found, path)
}

// configReason is a file in an annotation with the directives that differ.
func configReason(key string, before, after any) string {
	file := strings.TrimPrefix(key, "valkey-render.dev/")
	names := directives(before, after)
	if len(names) > most {
		names = append(names[:most-1], "…")
	}
	return strings.Join(append([]string{file}, names...), " ")
}

// under is a field below a path. That it is the specification goes without saying.
func under(path, key string) string {
	if path == "" && key == "spec" {
		return ""
	}
	return strings.TrimPrefix(path+"."+key, ".")
}

// byName is a list whose items all have names.
func byName(list any) (map[string]any, bool) {
	if list == nil {
		return nil, true
	}
	items, ok := list.([]any)
	if !ok {
		return nil, false
	}
	out := map[string]any{}
	for _, item := range items {
		fields, _ := item.(map[string]any)
		n, ok := fields["name"].(string)
		if !ok || out[n] != nil {
			return nil, false
		}
		out[n] = item
	}
	return out, true
}

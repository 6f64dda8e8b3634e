// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// differs compares a field; absent differs from empty.
func differs(before, after *unstructured.Unstructured, path ...string) bool {
	a, inA, _ := unstructured.NestedFieldNoCopy(before.Object, path...)
	b, inB, _ := unstructured.NestedFieldNoCopy(after.Object, path...)
	return inA != inB || !reflect.DeepEqual(a, b)
}

// list is the list at a path; nil when there is none.
func list(obj *unstructured.Unstructured, path ...string) []any {
	found, _, _ := unstructured.NestedFieldNoCopy(obj.Object, path...)
	return items(found)
}

// mapping is the mapping at a path; nil when there is none.
func mapping(obj *unstructured.Unstructured, path ...string) map[string]any {
	found, _, _ := unstructured.NestedFieldNoCopy(obj.Object, path...)
	m, _ := found.(map[string]any)
	return m
}

// text is the text at a path; empty when there is none.
func text(obj *unstructured.Unstructured, path ...string) string {
	found, _, _ := unstructured.NestedFieldNoCopy(obj.Object, path...)
	s, _ := found.(string)
	return s
}

// entry is the text under a key of a mapping; empty when there is none.
func entry(item any, key string) string {
	m, _ := item.(map[string]any)
	s, _ := m[key].(string)
	return s
}

func items(v any) []any {
	l, _ := v.([]any)
	return l
}

// named indexes mappings by their name.
func named(l []any) map[string]map[string]any {
	out := make(map[string]map[string]any, len(l))
	for _, item := range l {
		if m, ok := item.(map[string]any); ok {
			out[entry(m, "name")] = m
		}
	}
	return out
}

// merged has the keys of both.
func merged(a, b map[string]any) map[string]any {
	out := make(map[string]any, len(a)+len(b))
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

func contains(l []any, item any) bool {
	return slices.ContainsFunc(l, func(other any) bool { return reflect.DeepEqual(item, other) })
}

// superset says whether every item of before is in after.
func superset(before, after []any) bool {
	return !slices.ContainsFunc(before, func(item any) bool { return !contains(after, item) })
}

// inOrder says whether after has the items of before in their order.
func inOrder(before, after []any) bool {
	for _, item := range after {
		if len(before) > 0 && reflect.DeepEqual(before[0], item) {
			before = before[1:]
		}
	}
	return len(before) == 0
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

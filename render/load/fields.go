// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"reflect"
	"slices"
	"strings"
)

// structFields are the fields of a struct by their JSON names.
type structFields struct {
	index map[string][]int
	// names in the order of the struct.
	names []string
}

// fieldCache holds the fields of every struct type met in one run.
type fieldCache map[reflect.Type]*structFields

func (c fieldCache) of(t reflect.Type) *structFields {
	if fields, ok := c[t]; ok {
		return fields
	}
	fields := &structFields{index: map[string][]int{}}
	c[t] = fields
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if f.Anonymous && name == "" || strings.Contains(options, "inline") {
			inner := c.of(f.Type)
			for _, name := range inner.names {
				fields.add(name, append([]int{i}, inner.index[name]...))
			}
			continue
		}
		if name == "" {
			name = f.Name
		}
		fields.add(name, []int{i})
	}
	return fields
}

func (f *structFields) add(name string, index []int) {
	if _, ok := f.index[name]; !ok {
		f.names = append(f.names, name)
	}
	f.index[name] = index
}

// structAt returns the struct type at a path of a root type, for `spec.storage`
// or `spec.users[0]`; nil when there is none.
func (c fieldCache) structAt(root reflect.Type, path string) reflect.Type {
	t := root
	for _, s := range segments(path) {
		if s.bracket {
			if k := t.Kind(); k != reflect.Slice && k != reflect.Map {
				return nil
			}
			t = t.Elem()
		} else {
			if t.Kind() != reflect.Struct {
				return nil
			}
			index, ok := c.of(t).index[s.name]
			if !ok {
				return nil
			}
			t = t.FieldByIndex(index).Type
		}
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
	}
	if t.Kind() != reflect.Struct || special(t) {
		return nil
	}
	return t
}

// holders are the blocks of a struct that have a field of the given name.
func (c fieldCache) holders(t reflect.Type, name string) []string {
	var out []string
	fields := c.of(t)
	for _, block := range fields.names {
		inner := t.FieldByIndex(fields.index[block]).Type
		for inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && !special(inner) && slices.Contains(c.of(inner).names, name) {
			out = append(out, block)
		}
	}
	return out
}

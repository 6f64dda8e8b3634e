// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package crdschema

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/internal/nearest"
)

// Place is a field and how it was reached.
type Place struct {
	Kind Kind
	// Path is the full path, spec.users.name; empty for the whole object.
	Path string
	// Field is what the schema says about it.
	Field *Field
	// Description is the field's, or for the value of a map the map's.
	Description string
	// Required says that its parent must have it.
	Required bool
}

// index is what may follow a field in a path and is left out: [0], [], [*],
// [name].
var index = regexp.MustCompile(`\[[^\]]*\]`)

// Find resolves a path as people write it: `vkacl.spec.users[0].name`,
// `spec.tls`, and without the spec. `tls`. The kind, by any name kubectl takes,
// is ValkeyCluster when the path has none.
func Find(kinds []Kind, path string) (Place, error) {
	parts := strings.Split(index.ReplaceAllString(strings.Trim(path, "."), ""), ".")
	if parts[0] == "" {
		parts = nil
	}
	kind := kinds[0]
	if len(parts) > 0 {
		if i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Is(parts[0]) }); i >= 0 {
			kind, parts = kinds[i], parts[1:]
		}
	}
	// A first part that only the spec has means the spec.
	if len(parts) > 0 && kind.Root.Properties[parts[0]] == nil {
		if spec := kind.Root.Properties["spec"]; spec != nil && spec.Properties[parts[0]] != nil {
			parts = append([]string{"spec"}, parts...)
		}
	}
	place := Place{Kind: kind, Field: kind.Root, Description: kind.Root.Description}
	for i, part := range parts {
		// A map's values are reached by any key, also one with dots in it.
		if place.Field.Values != nil && len(place.Field.children()) == 0 {
			place.Path += "." + strings.Join(parts[i:], ".")
			place.Field = place.Field.Values
			return place, nil
		}
		next, err := place.child(part, kinds)
		if err != nil {
			return Place{}, err
		}
		place = next
	}
	return place, nil
}

func (p Place) child(name string, kinds []Kind) (Place, error) {
	children := p.Field.children()
	field, ok := children[name]
	if !ok {
		return Place{}, p.unknown(name, kinds)
	}
	path := name
	if p.Path != "" {
		path = p.Path + "." + name
	}
	return Place{
		Kind: p.Kind, Path: path, Field: field, Description: field.Description,
		Required: slices.Contains(p.Field.element().Required, name),
	}, nil
}

// unknown is the error for a child that does not exist.
func (p Place) unknown(name string, kinds []Kind) error {
	where := p.Kind.Name
	if p.Path != "" {
		where += "." + p.Path
	}
	children := slices.Sorted(maps.Keys(p.Field.children()))
	if len(children) == 0 {
		return fmt.Errorf("%s has no field %q: it is of type %s", where, name, p.Field.TypeName())
	}
	if near := nearest.Word(name, children); near != "" {
		return fmt.Errorf("%s has no field %q; did you mean %q?", where, name, near)
	}
	if p.Path == "" {
		// The first part may have been meant as a kind, or as a field of the spec.
		if spec := p.Kind.Root.Properties["spec"]; spec != nil {
			if near := nearest.Word(name, slices.Sorted(maps.Keys(spec.Properties))); near != "" {
				return fmt.Errorf("%s has no field %q; did you mean %q?", where, name, "spec."+near)
			}
		}
		var names []string
		for _, k := range kinds {
			names = append(names, k.Names...)
		}
		if near := nearest.Word(name, names); near != "" {
			return fmt.Errorf("%q is neither a kind nor a field of %s; did you mean %q?", name, where, near)
		}
	}
	for _, path := range p.elsewhere(name) {
		return fmt.Errorf("%s has no field %q; did you mean %q?", where, name, path)
	}
	return fmt.Errorf("%s has no field %q; it has %s", where, name, strings.Join(children, ", "))
}

// elsewhere are the paths of the spec, shortest first, that end in name.
func (p Place) elsewhere(name string) []string {
	var found []string
	var walk func(path string, f *Field)
	walk = func(path string, f *Field) {
		for child, field := range f.children() {
			if child == name {
				found = append(found, path+"."+child)
			}
			walk(path+"."+child, field)
		}
	}
	if spec := p.Kind.Root.Properties["spec"]; spec != nil {
		walk("spec", spec)
	}
	slices.SortFunc(found, func(a, b string) int {
		if d := strings.Count(a, ".") - strings.Count(b, "."); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return found
}

// Paths are all paths of the kind's spec, sorted, for completion.
func (k Kind) Paths() []string {
	var paths []string
	var walk func(path string, f *Field)
	walk = func(path string, f *Field) {
		paths = append(paths, path)
		for name, child := range f.children() {
			walk(path+"."+name, child)
		}
	}
	if spec := k.Root.Properties["spec"]; spec != nil {
		walk("spec", spec)
	}
	slices.Sort(paths)
	return paths
}

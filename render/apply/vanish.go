// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/ssa"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// dryRunTakeover asks the server what an object becomes once it is taken over. To
// take over is two requests, and a dry run cannot build on another: so what will go
// is taken out here, and the server says what it makes of the rest, its defaults
// and rules included. applied is the dry run of the second request alone.
func (a *Applier) dryRunTakeover(ctx context.Context, live, applied *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	next, err := withoutTaken(applied)
	if err != nil {
		return applied, err
	}
	patch, err := json.Marshal(replacements(live, next))
	if err != nil {
		return next, err
	}
	out := live.DeepCopy()
	err = a.client.Patch(ctx, out, client.RawPatch(types.JSONPatchType, patch), client.DryRunAll, client.FieldOwner(FieldManager))
	if err != nil {
		return next, err
	}
	return out, nil
}

// withoutTaken is an object without the fields, and the leftovers, of those that
// it is taken over from. What somebody else owns too stays.
func withoutTaken(o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	taken, kept := fieldpath.NewSet(), fieldpath.NewSet()
	for _, entry := range o.GetManagedFields() {
		if entry.FieldsV1 == nil {
			continue
		}
		fields, err := ssa.FieldsToSet(*entry.FieldsV1)
		if err != nil {
			return nil, fmt.Errorf("fields of %s: %w", entry.Manager, err)
		}
		if entry.Subresource == "" && isTakenOver(entry) {
			taken = taken.Union(&fields)
		} else {
			kept = kept.Union(&fields)
		}
	}
	var gone []fieldpath.Path
	taken.Difference(kept).Iterate(func(p fieldpath.Path) { gone = append(gone, p.Copy()) })
	// A map or a list item goes as a whole, unless others have something in it.
	slices.SortStableFunc(gone, func(a, b fieldpath.Path) int { return cmp.Compare(len(a), len(b)) })
	out := o.DeepCopy()
	for _, path := range gone {
		if !ownsBelow(kept, path) {
			out.Object, _ = cut(out.Object, path).(map[string]any)
		}
	}
	annotations := out.GetAnnotations()
	for _, key := range leftovers() {
		delete(annotations, key)
	}
	out.SetAnnotations(annotations)
	return out, nil
}

func ownsBelow(set *fieldpath.Set, path fieldpath.Path) bool {
	for _, element := range path {
		set = set.WithPrefix(element)
	}
	return !set.Empty()
}

// cut is a value without what is at a path; it changes the value.
func cut(from any, path fieldpath.Path) any {
	switch from := from.(type) {
	case map[string]any:
		if path[0].FieldName == nil {
			return from
		}
		key := *path[0].FieldName
		below, found := from[key]
		switch {
		case len(path) == 1:
			delete(from, key)
		case found:
			from[key] = cut(below, path[1:])
		}
		return from
	case []any:
		i := slices.IndexFunc(from, func(item any) bool { return isItem(path[0], item) })
		switch {
		case i < 0:
			return from
		case len(path) == 1:
			return slices.Delete(from, i, i+1)
		}
		from[i] = cut(from[i], path[1:])
		return from
	}
	return from
}

// isItem reports whether an element of a path means an item of a list: by the
// fields that are its key, or, in a set, by what it is.
func isItem(element fieldpath.PathElement, item any) bool {
	if element.Value != nil {
		return value.Equals(*element.Value, value.NewValueInterface(item))
	}
	fields, isMap := item.(map[string]any)
	if element.Key == nil || !isMap {
		return false
	}
	for _, key := range *element.Key {
		if has, found := fields[key.Name]; !found || !value.Equals(key.Value, value.NewValueInterface(has)) {
			return false
		}
	}
	return true
}

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// replacements lead from an object to another of the same identity: whole fields of
// the root, labels and annotations.
func replacements(from, to *unstructured.Unstructured) []operation {
	before, after := compared(from), compared(to)
	var out []operation
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if _, stays := after[path]; !stays {
			out = append(out, operation{Op: "remove", Path: path})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(after)) {
		out = append(out, operation{Op: "add", Path: path, Value: after[path]})
	}
	return out
}

// differ reports whether two states of an object differ in what is applied.
func differ(a, b *unstructured.Unstructured) bool {
	return !equality.Semantic.DeepEqual(compared(a), compared(b))
}

// compared is what of an object is applied, by JSON pointer.
func compared(o *unstructured.Unstructured) map[string]any {
	out := map[string]any{}
	for key, field := range o.Object {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, key) {
			out["/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key)] = field
		}
	}
	for key, field := range map[string]map[string]string{"labels": o.GetLabels(), "annotations": o.GetAnnotations()} {
		if len(field) > 0 {
			out["/metadata/"+key] = field
		}
	}
	return out
}

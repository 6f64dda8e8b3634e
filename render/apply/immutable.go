// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ImmutableError says that the server does not let fields of an object change.
// Nothing was deleted to get around it, and nothing will be.
type ImmutableError struct {
	// ID is the object.
	ID ID
	// Fields that differ and may not.
	Fields []FieldChange
	// Err is what the server said.
	Err error
}

// FieldChange is one field of an object that would change.
type FieldChange struct {
	// Path from the object's root: spec.serviceName.
	Path string `json:"path"`
	// Live and Rendered are the values as JSON-like text, "unset" without one.
	Live     string `json:"live"`
	Rendered string `json:"rendered"`
}

// Error implements error.
func (e *ImmutableError) Error() string {
	var fields []string
	for _, f := range e.Fields {
		fields = append(fields, fmt.Sprintf("%s (live %s, rendered %s)", f.Path, f.Live, f.Rendered))
	}
	return fmt.Sprintf("%s: cannot be changed in place: %s; nothing was deleted: bring the spec back, or migrate by hand", e.ID, strings.Join(fields, ", "))
}

func (e *ImmutableError) Unwrap() error { return e.Err }

// changeable are the fields of spec that a kind with an otherwise frozen spec may
// change.
func changeable(kind string) []string {
	switch kind {
	case "StatefulSet":
		return []string{"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}
	case "PersistentVolumeClaim":
		return []string{"resources", "volumeAttributesClassName"}
	}
	return nil
}

// asImmutable turns the refusal of a change of immutable fields into an error that
// names them; nil when err is another one.
func asImmutable(err error, live, rendered *unstructured.Unstructured) error {
	if live == nil || !apierrors.IsInvalid(err) {
		return nil
	}
	var fields []FieldChange
	if status, _ := answer(err); status.Details != nil {
		for _, cause := range status.Details.Causes {
			if strings.Contains(cause.Message, "immutable") || strings.Contains(cause.Message, "updates to ") || strings.Contains(cause.Message, "may not be changed") {
				fields = append(fields, changesBelow(cause.Field, live, rendered)...)
			}
		}
	}
	if len(fields) == 0 {
		return nil
	}
	slices.SortFunc(fields, func(a, b FieldChange) int { return strings.Compare(a.Path, b.Path) })
	return &ImmutableError{ID: idOf(rendered), Fields: slices.Compact(fields), Err: err}
}

// changesBelow lists what differs at or below a path that the server named.
func changesBelow(path string, live, rendered *unstructured.Unstructured) []FieldChange {
	keys := strings.Split(path, ".")
	before, _, errLive := unstructured.NestedFieldNoCopy(live.Object, keys...)
	after, _, errRendered := unstructured.NestedFieldNoCopy(rendered.Object, keys...)
	if errLive != nil || errRendered != nil || strings.Contains(path, "[") {
		return []FieldChange{{Path: path, Live: "another value", Rendered: "this one"}}
	}
	spec, isMap := after.(map[string]any)
	if path == "spec" && isMap {
		frozen := map[string]any{}
		for k, v := range spec {
			if !slices.Contains(changeable(rendered.GetKind()), k) {
				frozen[k] = v
			}
		}
		after = frozen
	}
	return differences(path, before, after)
}

// differences lists the leaves of rendered that are not so in live. What only live
// has is the server's default or somebody else's.
func differences(path string, live, rendered any) []FieldChange {
	switch r := rendered.(type) {
	case map[string]any:
		l, _ := live.(map[string]any)
		var out []FieldChange
		for _, k := range sortedKeys(r) {
			out = append(out, differences(path+"."+k, l[k], r[k])...)
		}
		return out
	case []any:
		l, _ := live.([]any)
		if len(l) != len(r) {
			return []FieldChange{{Path: path, Live: fmt.Sprintf("%d items", len(l)), Rendered: fmt.Sprintf("%d items", len(r))}}
		}
		var out []FieldChange
		for i := range r {
			out = append(out, differences(fmt.Sprintf("%s[%d]", path, i), l[i], r[i])...)
		}
		return out
	}
	if reflect.DeepEqual(live, rendered) {
		return nil
	}
	return []FieldChange{{Path: path, Live: leaf(live), Rendered: leaf(rendered)}}
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func leaf(v any) string {
	switch v := v.(type) {
	case nil:
		return "unset"
	case string:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(v)
}

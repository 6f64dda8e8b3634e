// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/schemalock"
	"github.com/valkey-render/valkey-render/render/name"
)

// Apply returns the objects with the patches applied in order. Neither objs nor
// its objects are changed; objects that no patch changes are returned as they
// are. idle has the paths of patches that change nothing although they mean to.
// Errors are at spec.patches[i], and each has its code (finding.WithCode). Without
// patches it returns objs itself. Calls may run at the same time; they wait while
// load.FromKustomization, which changes what kustomize knows of kinds, runs.
func Apply(objs []*unstructured.Unstructured, patches []v1alpha1.Patch) (_ []*unstructured.Unstructured, idle []*field.Path, _ field.ErrorList) {
	defer schemalock.Shared()()
	var errs field.ErrorList
	for i, p := range patches {
		path := field.NewPath("spec", "patches").Index(i)
		patched, changed, found := applyOne(path, objs, p)
		if len(found) > 0 {
			errs = append(errs, coded(found)...)
			continue
		}
		if !changed {
			idle = append(idle, path.Child("patch"))
		}
		objs = patched
	}
	return objs, idle, errs
}

// applyOne applies one patch: all of it, or nothing and the reasons. changed is
// true for operations that only test as well: they do what they are for.
func applyOne(path *field.Path, objs []*unstructured.Unstructured, p v1alpha1.Patch) (_ []*unstructured.Unstructured, changed bool, _ field.ErrorList) {
	text := path.Child("patch")
	parsed, err := parse(p.Patch)
	if err != nil {
		return nil, false, field.ErrorList{field.Invalid(text, nil, err.Error())}
	}
	var target *selector
	if p.Target != nil {
		var errs field.ErrorList
		if target, errs = newSelector(path.Child("target"), *p.Target); len(errs) > 0 {
			return nil, false, errs
		}
	}
	if target == nil && len(parsed.operations) > 0 {
		return nil, false, field.ErrorList{field.Required(path.Child("target"), "JSON 6902 operations do not name an object; say which")}
	}
	if target != nil && len(parsed.merges) > 1 {
		return nil, false, field.ErrorList{field.Invalid(text, nil, fmt.Sprintf(
			"has %d documents; with a target there may be one", len(parsed.merges)))}
	}
	for _, m := range parsed.merges {
		if target == nil && (m.object.GetAPIVersion() == "" || m.object.GetKind() == "" || m.object.GetName() == "") {
			return nil, false, field.ErrorList{field.Required(path.Child("target"),
				"the patch does not name an object by apiVersion, kind and metadata.name; say which it is for")}
		}
	}
	run := &run{text: text, objs: append([]*unstructured.Unstructured(nil), objs...)}
	switch {
	case len(parsed.operations) > 0:
		run.each(target.matches, path.Child("target"), target.String(), func(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			return operate(obj, parsed.operations)
		})
	case target != nil:
		run.each(target.matches, path.Child("target"), target.String(), func(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			return merge(obj, parsed.merges[0])
		})
	default:
		for _, m := range parsed.merges {
			run.each(m.names, text, m.String(), func(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
				return merge(obj, m)
			})
		}
	}
	run.validate(objs)
	if errs := append(run.errs, run.refused.errors(text)...); len(errs) > 0 {
		return nil, false, errs
	}
	out := run.objs[:0]
	for _, obj := range run.objs {
		if obj != nil {
			out = append(out, obj)
		}
	}
	return out, run.changed || parsed.testsOnly, nil
}

// run is one patch on its way through the objects.
type run struct {
	text *field.Path
	// objs is the caller's slice copied; a deleted object is nil.
	objs    []*unstructured.Unstructured
	errs    field.ErrorList
	refused refusals
	changed bool
}

// validate looks at every object that is not what it was before, for what was
// not wrong then.
func (r *run) validate(before []*unstructured.Unstructured) {
	for i, obj := range r.objs {
		if obj == nil || obj == before[i] || id(obj) != id(before[i]) {
			continue
		}
		why := problems(obj)
		if len(why) == 0 {
			r.refused.budget(obj, r.objs)
			continue
		}
		old := problems(before[i])
		for _, w := range why {
			if !slices.Contains(old, w) {
				r.refused.invalid(obj, w)
			}
		}
	}
}

// each changes every object that matches. what names the target for the error
// when none does.
func (r *run) each(matches func(*unstructured.Unstructured) bool, at *field.Path, what string,
	change func(*unstructured.Unstructured) (*unstructured.Unstructured, error),
) {
	matched := 0
	var failures int
	var first *field.Error
	for i, obj := range r.objs {
		if obj == nil || !matches(obj) {
			continue
		}
		matched++
		changed, err := change(obj)
		switch {
		case err != nil:
			if failures++; failures == 1 {
				first = field.TypeInvalid(r.text, nil, fmt.Sprintf("cannot be applied to %s: %v", id(obj), err))
			}
		case changed == nil:
			r.refused.deletion(obj)
			r.objs[i], r.changed = nil, true
		case !reflect.DeepEqual(obj.Object, changed.Object):
			r.refused.compare(obj, changed)
			r.objs[i], r.changed = changed, true
		}
	}
	if failures > 1 {
		first.Detail += fmt.Sprintf(" (and to %d more objects)", failures-1)
	}
	if first != nil {
		r.errs = append(r.errs, first)
	}
	if matched == 0 {
		r.errs = append(r.errs, field.NotFound(at, nil))
		r.errs[len(r.errs)-1].Detail = "matches none of the rendered objects: " + what
	}
}

// id names an object as findings do.
func id(obj *unstructured.Unstructured) string {
	return name.Subject(obj.GetKind(), obj.GetNamespace(), obj.GetName())
}

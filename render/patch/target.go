// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// selector is a target ready to match.
type selector struct {
	target              v1alpha1.PatchTarget
	expressions         *types.SelectorRegex
	labels, annotations labels.Selector
}

func newSelector(path *field.Path, target v1alpha1.PatchTarget) (*selector, field.ErrorList) {
	var errs field.ErrorList
	s := &selector{target: target}
	// One expression at a time: kustomize's error does not say which is wrong.
	for _, part := range []struct {
		name, expression string
		selector         types.Selector
	}{
		{"group", target.Group, types.Selector{ResId: resid.ResId{Gvk: resid.Gvk{Group: target.Group}}}},
		{"version", target.Version, types.Selector{ResId: resid.ResId{Gvk: resid.Gvk{Version: target.Version}}}},
		{"kind", target.Kind, types.Selector{ResId: resid.ResId{Gvk: resid.Gvk{Kind: target.Kind}}}},
		{"name", target.Name, types.Selector{ResId: resid.ResId{Name: target.Name}}},
	} {
		if _, err := types.NewSelectorRegex(&part.selector); err != nil {
			errs = append(errs, field.Invalid(path.Child(part.name), part.expression, "is not a regular expression: "+err.Error()))
		}
	}
	var err error
	if s.labels, err = labels.Parse(target.LabelSelector); err != nil {
		errs = append(errs, field.Invalid(path.Child("labelSelector"), target.LabelSelector, "is not a selector: "+err.Error()))
	}
	if s.annotations, err = labels.Parse(target.AnnotationSelector); err != nil {
		errs = append(errs, field.Invalid(path.Child("annotationSelector"), target.AnnotationSelector, "is not a selector: "+err.Error()))
	}
	if len(errs) > 0 {
		return nil, errs
	}
	s.expressions, err = types.NewSelectorRegex(&types.Selector{ResId: resid.ResId{
		Gvk:  resid.Gvk{Group: target.Group, Version: target.Version, Kind: target.Kind},
		Name: target.Name,
	}})
	if err != nil {
		return nil, field.ErrorList{field.Invalid(path, nil, err.Error())}
	}
	return s, nil
}

func (s *selector) matches(obj *unstructured.Unstructured) bool {
	gvk := obj.GroupVersionKind()
	return s.expressions.MatchGvk(resid.Gvk{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind}) &&
		s.expressions.MatchName(obj.GetName()) &&
		s.labels.Matches(labels.Set(obj.GetLabels())) &&
		s.annotations.Matches(labels.Set(obj.GetAnnotations()))
}

// String names what was looked for.
func (s *selector) String() string {
	var parts []string
	for _, part := range []struct{ name, value string }{
		{"group", s.target.Group},
		{"version", s.target.Version},
		{"kind", s.target.Kind},
		{"name", s.target.Name},
		{"labelSelector", s.target.LabelSelector},
		{"annotationSelector", s.target.AnnotationSelector},
	} {
		if part.value != "" {
			parts = append(parts, part.name+" "+part.value)
		}
	}
	return strings.Join(parts, ", ")
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package write

import (
	"path"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/name"
)

// Output returns the ResourceList that the function answers with, and the
// findings that are its results: those given, and an error for each rendered
// object that has the identity of an item that is not ours.
//
// An item whose object was rendered is replaced in its place and keeps its file.
// An item that an earlier run rendered for a cluster of this run, and this one
// did not, is left out. New objects come last, each in a file of its own beside
// the spec's file if that has one. Every other item passes as it is. While a
// finding is an error, all items do.
func (l *ResourceList) Output(objs []*unstructured.Unstructured, findings finding.List) ([]byte, finding.List, error) {
	findings = append(append(finding.List(nil), findings...), l.foreign(objs)...).Sorted()
	if findings.HasErrors() {
		objs = nil
	}
	var e emitter
	e.out = append(e.out, "apiVersion: "+l.apiVersion+"\nkind: ResourceList\n"...)
	if err := l.writeItems(&e, objs); err != nil {
		return nil, nil, err
	}
	if l.functionConfig != nil {
		e.out = append(e.out, "functionConfig:\n"...)
		e.indented(encoded(l.functionConfig), "  ", "  ")
	}
	if len(findings) > 0 {
		results := make([]any, len(findings))
		for i, f := range findings {
			results[i] = l.result(f)
		}
		if err := e.mapping(map[string]any{"results": results}, 0, false, ""); err != nil {
			return nil, nil, err
		}
	}
	return e.out, findings, nil
}

// writeItems writes the items key.
func (l *ResourceList) writeItems(e *emitter, objs []*unstructured.Unstructured) error {
	rendered := make(map[id]*unstructured.Unstructured, len(objs))
	clusters := map[[2]string]bool{}
	for _, obj := range objs {
		rendered[idOf(obj)] = obj
		if isSpec(idOf(obj)) && obj.GetKind() == v1alpha1.KindCluster {
			clusters[[2]string{obj.GetNamespace(), obj.GetName()}] = true
		}
	}
	start := len(e.out)
	e.out = append(e.out, "items:\n"...)
	before := len(e.out)
	done := map[id]bool{}
	files := map[[2]string]*item{}
	for _, it := range l.items {
		if it.spec && it.id.kind == v1alpha1.KindCluster {
			files[[2]string{it.id.namespace, it.id.name}] = it
		}
		obj, replaced := rendered[it.id]
		switch {
		case replaced && !done[it.id]:
			done[it.id] = true
			if err := e.item(obj, it.kept); err != nil {
				return err
			}
		case replaced, it.rendered && !it.spec && clusters[[2]string{it.id.namespace, it.cluster}]:
		default:
			e.indented(encoded(it.node), "- ", "  ")
		}
	}
	for _, obj := range objs {
		if done[idOf(obj)] {
			continue
		}
		if err := e.item(obj, beside(files[[2]string{obj.GetNamespace(), obj.GetLabels()[name.LabelCluster]}], obj)); err != nil {
			return err
		}
	}
	if len(e.out) == before {
		e.out = append(e.out[:start], "items: []\n"...)
	}
	return nil
}

// beside are the annotations that give a new object a file of its own in the
// directory of its cluster's spec; none when that has no file.
func beside(spec *item, obj *unstructured.Unstructured) map[string]string {
	if spec == nil || spec.path == "" {
		return nil
	}
	file, err := file(obj, false)
	if err != nil {
		return nil // the orchestrator finds a name
	}
	out := map[string]string{}
	for key := range spec.kept {
		switch strings.TrimPrefix(key, "internal.") {
		case pathAnnotation:
			out[key] = path.Join(path.Dir(spec.path), file)
		case indexAnnotation:
			out[key] = "0"
		}
	}
	return out
}

// foreign finds items that a rendered object would replace though nobody said
// that they are ours.
func (l *ResourceList) foreign(objs []*unstructured.Unstructured) finding.List {
	rendered := make(map[id]bool, len(objs))
	for _, obj := range objs {
		rendered[idOf(obj)] = true
	}
	var out finding.List
	for _, it := range l.items {
		if rendered[it.id] && !it.rendered && !it.spec {
			f := finding.New(finding.OutputCollision,
				"is an item already, and not one that was rendered: it has no annotation "+v1alpha1.AnnotationRenderHash)
			f.File, f.Object = it.path, it.id.String()
			out = append(out, f)
		}
	}
	return out
}

// result is a finding as a result of the function.
func (l *ResourceList) result(f finding.Finding) map[string]any {
	out := map[string]any{
		"message":  f.Message + " (" + string(f.Code) + ")",
		"severity": string(f.Severity),
		"tags":     map[string]any{"code": string(f.Code)},
	}
	if f.Path != "" {
		out["field"] = map[string]any{"path": f.Path}
	}
	var at *item
	for _, it := range l.items {
		if f.Object != "" && it.id.String() == f.Object && (at == nil || it.path == f.File) {
			at = it
		}
	}
	if parts := strings.Split(f.Object, "/"); len(parts) > 1 {
		ref := map[string]any{"kind": parts[0], "name": parts[len(parts)-1]}
		if len(parts) > 2 {
			ref["namespace"] = parts[1]
		}
		switch {
		case at != nil && at.id.apiVersion != "":
			ref["apiVersion"] = at.id.apiVersion
		default:
			ref["apiVersion"] = v1alpha1.Group + "/" + v1alpha1.Version
		}
		out["resourceRef"] = ref
	}
	for _, it := range l.items {
		if f.File != "" && it.path == f.File {
			file := map[string]any{"path": f.File}
			if index, err := strconv.Atoi(it.index); err == nil && at == it {
				file["index"] = int64(index)
			}
			if _, has := out["file"]; !has || at == it {
				out["file"] = file
			}
		}
	}
	return out
}

func idOf(obj *unstructured.Unstructured) id {
	return id{obj.GetAPIVersion(), obj.GetKind(), obj.GetNamespace(), obj.GetName()}
}

func (i id) String() string {
	return name.Subject(i.kind, i.namespace, i.name)
}

// item writes an object as an entry of a list, with more annotations.
func (e *emitter) item(obj *unstructured.Unstructured, annotations map[string]string) error {
	if len(annotations) > 0 {
		obj = obj.DeepCopy()
		all := obj.GetAnnotations()
		if all == nil {
			all = map[string]string{}
		}
		for key, value := range annotations {
			all[key] = value
		}
		obj.SetAnnotations(all)
	}
	var one emitter
	if err := one.object(obj); err != nil {
		return err
	}
	e.indented(one.out, "- ", "  ")
	return nil
}

// indented writes lines further in; empty ones stay empty.
func (e *emitter) indented(text []byte, first, others string) {
	prefix := first
	for line := range strings.Lines(string(text)) {
		if line != "\n" {
			e.out = append(e.out, prefix...)
			prefix = others
		}
		e.out = append(e.out, line...)
	}
}

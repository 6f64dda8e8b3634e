// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package write

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/render/name"
)

// YAML returns the objects in the order given, with `---` between them.
func YAML(objs []*unstructured.Unstructured) ([]byte, error) {
	var out bytes.Buffer
	if err := To(&out, objs); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// To writes what YAML returns, an object at a time, so that the text of a large
// fleet is never in memory as a whole. Nothing is written of an object that cannot
// be, nor of those after it.
func To(w io.Writer, objs []*unstructured.Unstructured) error {
	var e emitter
	for i, obj := range objs {
		e.out = e.out[:0]
		if i > 0 {
			e.out = append(e.out, "---\n"...)
		}
		if err := e.object(obj); err != nil {
			return err
		}
		if _, err := w.Write(e.out); err != nil {
			return fmt.Errorf("%s: write failed: %w", describe(obj), err)
		}
	}
	return nil
}

// Header is the first line of every file of a rendered directory. It names no
// version and no source, so that it never shows up in a diff.
const Header = "# Rendered by valkey-render. Do not edit: change the spec and render again.\n"

// File is an object and where it belongs in a rendered directory.
type File struct {
	// Path is <kind>-<name>.yaml in lower case, below a folder for each namespace
	// when there are several. It has forward slashes and no other special
	// characters.
	Path string
	// Object is what is in it.
	Object *unstructured.Unstructured
}

// Data is the text of the file: Header and the object. It is built in the memory of
// buf, which may be nil, so that whoever writes many files needs that of one.
func (f File) Data(buf []byte) ([]byte, error) {
	e := emitter{out: append(buf[:0], Header...)}
	if err := e.object(f.Object); err != nil {
		return nil, err
	}
	return e.out, nil
}

// Layout returns a file for each object, in the order given. Two objects with one
// path, and names that are no DNS names, are errors; every one is in the error
// returned.
func Layout(objs []*unstructured.Unstructured) ([]File, error) {
	folders := severalNamespaces(objs)
	out := make([]File, 0, len(objs))
	owners := make(map[string]*unstructured.Unstructured, len(objs))
	var errs []error
	for _, obj := range objs {
		path, err := file(obj, folders)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if owner, taken := owners[path]; taken {
			errs = append(errs, fmt.Errorf("%s and %s: both would be written to %s", describe(owner), describe(obj), path))
			continue
		}
		owners[path] = obj
		out = append(out, File{Path: path, Object: obj})
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return out, nil
}

// Files returns the text of every file of a rendered directory by its path; see
// Layout, which does without having all of it in memory.
func Files(objs []*unstructured.Unstructured) (map[string][]byte, error) {
	layout, err := Layout(objs)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]byte, len(layout))
	var errs []error
	for _, f := range layout {
		data, err := f.Data(nil)
		errs = append(errs, err)
		out[f.Path] = data
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

func severalNamespaces(objs []*unstructured.Unstructured) bool {
	namespaces := map[string]bool{}
	for _, obj := range objs {
		namespaces[obj.GetNamespace()] = true
	}
	delete(namespaces, "")
	return len(namespaces) > 1
}

var (
	safeName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)
	safeKind = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)
)

// file is the path of an object. A name with two dots in a row is no DNS name
// and could climb.
func file(obj *unstructured.Unstructured, folders bool) (string, error) {
	parts := []struct {
		what, value string
		shape       *regexp.Regexp
	}{
		{"kind", obj.GetKind(), safeKind},
		{"name", obj.GetName(), safeName},
		{"namespace", obj.GetNamespace(), safeName},
	}
	for _, part := range parts {
		if part.what == "namespace" && part.value == "" {
			continue
		}
		if !part.shape.MatchString(part.value) || strings.Contains(part.value, "..") || len(part.value) > 200 {
			return "", fmt.Errorf("%s: %s %q cannot be part of a file name", describe(obj), part.what, part.value)
		}
	}
	path := strings.ToLower(obj.GetKind()) + "-" + obj.GetName() + ".yaml"
	if folders && obj.GetNamespace() != "" {
		path = obj.GetNamespace() + "/" + path
	}
	return path, nil
}

func describe(obj *unstructured.Unstructured) string {
	return name.Subject(obj.GetKind(), obj.GetNamespace(), obj.GetName())
}

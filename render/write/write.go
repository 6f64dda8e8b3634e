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

// Files returns the objects by path: <kind>-<name>.yaml in lower case, below a
// folder for each namespace when there are several. Paths have forward slashes
// and no other special characters. Two objects with one path, and names that are
// no DNS names, are errors; every one is in the error returned.
func Files(objs []*unstructured.Unstructured) (map[string][]byte, error) {
	folders := severalNamespaces(objs)
	out := make(map[string][]byte, len(objs))
	owners := make(map[string]string, len(objs))
	var errs []error
	for _, obj := range objs {
		path, err := file(obj, folders)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if owner, taken := owners[path]; taken {
			errs = append(errs, fmt.Errorf("%s and %s: both would be written to %s", owner, describe(obj), path))
			continue
		}
		owners[path] = describe(obj)
		var e emitter
		if err := e.object(obj); err != nil {
			errs = append(errs, err)
			continue
		}
		out[path] = e.out
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
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

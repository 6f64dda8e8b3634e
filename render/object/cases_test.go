// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/golden"
	"github.com/valkey-render/valkey-render/render/conf"
	"github.com/valkey-render/valkey-render/render/script"
)

const casesDir = "testdata/cases"

// TestEveryCaseComposesAsPinned renders cluster.yaml of each case and compares what its goldens name.
//
//	StatefulSet.yaml                       every object of the kind, whole
//	StatefulSet@spec.template.spec.yaml    one field of each of them, by name
//	all.txt                                kinds and names of everything
//
// A list item in a path is named by its "name". For a new golden, create the file
// empty and run with -update.
func TestEveryCaseComposesAsPinned(t *testing.T) {
	for _, dir := range caseDirs(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			c, acls := readCase(t, dir)
			objects := compose(t, c, acls)
			goldens := 0
			for _, entry := range readDir(t, dir) {
				if entry == "cluster.yaml" || entry == "acl.yaml" {
					continue
				}
				goldens++
				golden.File(t, filepath.Join(dir, entry), view(t, c, objects, entry))
			}
			if goldens == 0 {
				t.Error("the case has no golden")
			}
		})
	}
}

func caseDirs(t testing.TB) []string {
	t.Helper()
	var dirs []string
	for _, name := range golden.Cases(t, casesDir) {
		dirs = append(dirs, filepath.Join(casesDir, name))
	}
	return dirs
}

func readDir(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// readCase returns the defaulted, valid cluster of a case and its ACLs.
func readCase(t testing.TB, dir string) (*v1alpha1.ValkeyCluster, []*v1alpha1.ValkeyACL) {
	t.Helper()
	c := &v1alpha1.ValkeyCluster{}
	decode(t, filepath.Join(dir, "cluster.yaml"), c)
	c.Default()
	if errs := c.Validate(); len(errs) > 0 {
		t.Fatalf("%s is not valid: %v", dir, errs.ToAggregate())
	}
	if !slices.Contains(readDir(t, dir), "acl.yaml") {
		return c, nil
	}
	a := &v1alpha1.ValkeyACL{}
	decode(t, filepath.Join(dir, "acl.yaml"), a)
	a.Default()
	return c, []*v1alpha1.ValkeyACL{a}
}

func decode(t testing.TB, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(data, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// compose returns the objects by kind and name.
func compose(t testing.TB, c *v1alpha1.ValkeyCluster, acls []*v1alpha1.ValkeyACL) []*unstructured.Unstructured {
	t.Helper()
	objects, err := Compose(c)
	if err != nil {
		t.Fatal(err)
	}
	specs, err := Specs(c, acls)
	if err != nil {
		t.Fatal(err)
	}
	objects = append(objects, specs...)
	slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int {
		return strings.Compare(a.GetKind()+"/"+a.GetName(), b.GetKind()+"/"+b.GetName())
	})
	return objects
}

// view is what a golden shows.
func view(t testing.TB, c *v1alpha1.ValkeyCluster, objects []*unstructured.Unstructured, file string) []byte {
	t.Helper()
	var out bytes.Buffer
	if file == "all.txt" {
		for _, o := range objects {
			fmt.Fprintf(&out, "%s/%s\n", o.GetKind(), o.GetName())
		}
		return out.Bytes()
	}
	kind, path, partial := strings.Cut(strings.TrimSuffix(file, ".yaml"), "@")
	if !slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind }) {
		t.Fatalf("golden %s: there is no %s", file, kind)
	}
	fields := map[string]any{}
	for _, o := range objects {
		if o.GetKind() != kind {
			continue
		}
		content := elide(t, c, o.DeepCopy()).Object
		if !partial {
			out.WriteString("---\n")
			out.Write(toYAML(t, content))
		} else if value := dig(content, path); value != nil {
			fields[o.GetName()] = value
		}
	}
	if partial {
		out.Write(toYAML(t, fields))
	}
	return out.Bytes()
}

// elide replaces text of other packages, which have their own goldens, after
// making sure that it is theirs.
func elide(t testing.TB, c *v1alpha1.ValkeyCluster, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	swap := func(text, what string, err error, path ...string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		got, found, _ := unstructured.NestedString(o.Object, path...)
		if !found {
			return
		}
		if got != text {
			t.Errorf("%s/%s %v is not %s", o.GetKind(), o.GetName(), path, what)
		}
		if err := unstructured.SetNestedField(o.Object, "("+what+")", path...); err != nil {
			t.Fatal(err)
		}
	}
	if o.GetKind() == "StatefulSet" {
		server, err := conf.Server(c)
		swap(server, "conf.Server", err, "spec", "template", "metadata", "annotations", v1alpha1.AnnotationConfig)
		if c.IsSentinel() {
			sentinel, err := conf.Sentinel(c)
			swap(sentinel, "conf.Sentinel", err, "spec", "template", "metadata", "annotations", v1alpha1.AnnotationSentinelConfig)
		}
	}
	if o.GetKind() == "ConfigMap" {
		for _, version := range v1alpha1.Versions() {
			live, err := conf.Live(c, version)
			swap(live, "conf.Live "+version, err, "data", script.LiveFile(version))
		}
		for file, text := range script.Files() {
			swap(text, "script "+file, nil, "data", file)
		}
	}
	return o
}

// dig follows a dotted path; an item of a list is found by its name.
func dig(value any, path string) any {
	for _, key := range strings.Split(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[key]
		case []any:
			i := slices.IndexFunc(v, func(item any) bool { return item.(map[string]any)["name"] == key })
			if i < 0 {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

func toYAML(t testing.TB, value any) []byte {
	t.Helper()
	data, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

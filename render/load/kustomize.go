// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/schemalock"
)

// FromKustomization builds the kustomization in dir and returns a derived source
// for each object of valkey-render.dev in the result; what else it has is left
// out, so that specs can live beside other manifests. Findings call a source by
// its kustomization file.
//
// Strategic merge patches know the lists of our kinds: users, modules,
// containers, volumes, volumeMounts and imagePullSecrets are merged by their
// keys. Name prefixes and suffixes reach the names that our kinds refer to.
// kustomize keeps schemas per process, so a call waits for other builds and for
// patch.Apply to end, and they for it.
//
// Nothing is fetched and nothing is run: remote resources, charts, and
// generators and transformers from files are errors, all of them in one, and
// files outside of their kustomization's directory are refused by kustomize.
func FromKustomization(fs filesys.FileSystem, dir string) ([]Source, error) {
	built, err := Kustomize(fs, dir)
	return built.Sources, err
}

// Kustomized is what a kustomization was built to.
type Kustomized struct {
	// Sources are the objects of valkey-render.dev.
	Sources []Source
	// Ignored counts the objects of other kinds, which were left out.
	Ignored int
}

// Kustomize is FromKustomization with a count of what was left out.
func Kustomize(fs filesys.FileSystem, dir string) (Kustomized, error) {
	scan := &scan{fs: fs, seen: map[string]bool{}}
	file := scan.directory(dir)
	if err := scan.err(); err != nil {
		return Kustomized{}, err
	}
	defer schemalock.Exclusive()()
	openapi.ResetOpenAPI()
	defer openapi.ResetOpenAPI()
	if err := openapi.AddSchema([]byte(schema)); err != nil {
		return Kustomized{}, fmt.Errorf("%s: schema cannot be set: %w", file, err)
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(withNames{fs}, dir)
	if err != nil {
		return Kustomized{}, fmt.Errorf("%s: build failed: %w", file, oneLine(err))
	}
	var out Kustomized
	for _, res := range built.Resources() {
		group, kind := res.GetGvk().Group, res.GetKind()
		if !strings.HasPrefix(group, "valkey-render.") && !(ours(kind) && group == "") {
			out.Ignored++
			continue
		}
		data, err := res.AsYAML()
		if err != nil {
			return Kustomized{}, fmt.Errorf("%s: %s/%s cannot be written: %w", file, kind, res.GetName(), err)
		}
		out.Sources = append(out.Sources, Source{Name: file, Data: data, Derived: true})
	}
	return out, nil
}

// oneLine makes kustomize's errors, which may span lines, one.
func oneLine(err error) error { return lineError{err} }

type lineError struct{ error }

func (e lineError) Error() string { return strings.Join(strings.Fields(e.error.Error()), " ") }

func (e lineError) Unwrap() error { return e.error }

// schema tells kustomize which lists of our kinds are merged by a key; the rest
// of a spec it merges without. A test holds it to the markers of the API types.
const schema = `{
"definitions": {
  "dev.valkey-render.v1alpha1.ValkeyCluster": {
    "type": "object",
    "x-kubernetes-group-version-kind": [{"group": "` + v1alpha1.Group + `", "version": "` + v1alpha1.Version + `", "kind": "ValkeyCluster"}],
    "properties": {
      "apiVersion": {"type": "string"}, "kind": {"type": "string"},
      "metadata": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
      "spec": {"type": "object", "properties": {
        "imagePullSecrets": {"type": "array", "items": {"type": "object"},
          "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge"},
        "modules": {"type": "array", "items": {"type": "object"},
          "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge"},
        "users": {"type": "array", "items": {"type": "object"},
          "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge"},
        "pod": {"type": "object", "properties": {
          "containers": {"type": "array", "items": {"$ref": "#/definitions/io.k8s.api.core.v1.Container"},
            "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge"},
          "volumes": {"type": "array", "items": {"$ref": "#/definitions/io.k8s.api.core.v1.Volume"},
            "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge,retainKeys"},
          "volumeMounts": {"type": "array", "items": {"type": "object"},
            "x-kubernetes-patch-merge-key": "mountPath", "x-kubernetes-patch-strategy": "merge"}
        }},
        "jobsTemplate": {"type": "object", "properties": {
          "imagePullSecrets": {"type": "array", "items": {"type": "object"},
            "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge"}
        }}
      }}
    }
  },
  "dev.valkey-render.v1alpha1.ValkeyACL": {
    "type": "object",
    "x-kubernetes-group-version-kind": [{"group": "` + v1alpha1.Group + `", "version": "` + v1alpha1.Version + `", "kind": "ValkeyACL"}],
    "properties": {
      "apiVersion": {"type": "string"}, "kind": {"type": "string"},
      "metadata": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
      "spec": {"type": "object", "properties": {
        "users": {"type": "array", "items": {"type": "object"},
          "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge"}
      }}
    }
  }
}}`

// join is where an entry of a kustomization in dir leads.
func join(dir, entry string) string {
	if path.IsAbs(entry) {
		return entry
	}
	return path.Join(dir, entry)
}

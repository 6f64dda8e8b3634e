// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/load"
)

// kustomization builds a kustomization and keeps the specs in it. Other objects
// are the business of whoever applies the kustomization.
func (r *reader) kustomization(dir string) {
	if !r.first(dir) {
		return
	}
	sources, err := load.FromKustomization(filesys.MakeFsOnDisk(), filepath.ToSlash(dir))
	if err != nil {
		// One line for each error, with the file in front.
		for line := range strings.Lines(err.Error()) {
			file, message := split(dir, strings.TrimSpace(line))
			r.find(finding.Kustomization, file, message)
		}
		return
	}
	if len(sources) == 0 {
		r.find(finding.NothingFound, dir, "no object of "+v1alpha1.Group+" in the kustomization")
	}
	r.sources = append(r.sources, sources...)
}

// split takes the file from the front of an error, where it is one.
func split(dir, text string) (file, message string) {
	file, message, ok := strings.Cut(text, ": ")
	if !ok || strings.ContainsAny(file, " '") {
		return dir, text
	}
	return file, message
}

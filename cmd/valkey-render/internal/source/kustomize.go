// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
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
	built, err := load.Kustomize(filesys.MakeFsOnDisk(), filepath.ToSlash(dir))
	if err != nil {
		// One line for each error, with the file in front.
		for line := range strings.Lines(err.Error()) {
			file, message := split(dir, strings.TrimSpace(line))
			r.find(finding.Kustomization, file, message)
		}
		return
	}
	if len(built.Sources) == 0 {
		r.find(finding.NothingFound, dir, "no object of "+v1alpha1.Group+" in the kustomization")
	}
	if built.Ignored > 0 && len(built.Sources) > 0 {
		message := fmt.Sprintf("%d objects of other kinds are left out", built.Ignored)
		if built.Ignored == 1 {
			message = "1 object of another kind is left out"
		}
		r.find(finding.ObjectIgnored, dir, message)
	}
	r.sources = append(r.sources, built.Sources...)
}

// split takes the file from the front of an error, where it is one.
func split(dir, text string) (file, message string) {
	file, message, ok := strings.Cut(text, ": ")
	if !ok || strings.ContainsAny(file, " '") {
		return dir, text
	}
	return file, message
}

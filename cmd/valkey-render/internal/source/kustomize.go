// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/finding"
)

// kustomization builds a kustomization and keeps the specs in it. Other objects
// are the business of whoever applies the kustomization; they are counted.
func (r *reader) kustomization(dir string) {
	if !r.first(dir) {
		return
	}
	built, err := buildKustomization(dir)
	if err != nil {
		r.find(finding.Kustomization, dir, err.Error())
		return
	}
	data, left, err := specs(built)
	switch {
	case err != nil:
		r.find(finding.Kustomization, dir, err.Error())
		return
	case len(data) == 0:
		r.find(finding.NothingFound, dir, "no object of "+v1alpha1.Group+" in the kustomization")
		return
	}
	if len(left) > 0 {
		r.find(finding.ObjectIgnored, dir, "left out of the rendering: "+strings.Join(left, ", "))
	}
	r.sources = append(r.sources, Source{Name: filepath.ToSlash(dir), Data: data})
}

// specs returns the objects of our API group as a YAML stream, and the names of
// the others.
func specs(built resmap.ResMap) (data []byte, left []string, err error) {
	for _, resource := range built.Resources() {
		if resource.GetGvk().Group != v1alpha1.Group {
			left = append(left, resource.GetKind()+"/"+resource.GetName())
			continue
		}
		text, err := resource.AsYAML()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", resource.CurId(), err)
		}
		if len(data) > 0 {
			data = append(data, "---\n"...)
		}
		data = append(data, text...)
	}
	return data, left, nil
}

// buildKustomization runs kustomize with its defaults: no plugins, no helm, no
// file above a kustomization's own directory; and, unlike kustomize, no network.
func buildKustomization(dir string) (resmap.ResMap, error) {
	onDisk := filesys.MakeFsOnDisk()
	confirmed, err := filesys.ConfirmDir(onDisk, dir)
	if err != nil {
		return nil, errors.New("is not a directory")
	}
	top, err := newTop(onDisk, confirmed)
	if err != nil {
		return nil, err
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(top, top.dir.String())
	if err != nil {
		return nil, refusal(err)
	}
	return built, nil
}

// refusal shortens kustomize's chain of attempts to the one that matters.
func refusal(err error) error {
	if remote, ok := errors.AsType[*remoteError](err); ok {
		return remote
	}
	return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// scan walks the kustomizations that a build would read, before it does:
// kustomize takes an entry that is no local file for a repository to clone.
type scan struct {
	fs   filesys.FileSystem
	seen map[string]bool
	errs []error
}

func (s *scan) err() error { return errors.Join(s.errs...) }

func (s *scan) refuse(file, field, value, why string) {
	if value != "" {
		field = fmt.Sprintf("%s %q", field, value)
	}
	s.errs = append(s.errs, fmt.Errorf("%s: %s %s", file, field, why))
}

// directory scans the kustomization of a directory and those below it, and
// returns its file.
func (s *scan) directory(dir string) (file string) {
	file = path.Join(dir, konfig.DefaultKustomizationFileName())
	if s.seen[path.Clean(dir)] {
		return file
	}
	s.seen[path.Clean(dir)] = true
	var data []byte
	found := 0
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if content, err := s.fs.ReadFile(path.Join(dir, name)); err == nil {
			file, data = path.Join(dir, name), content
			found++
		}
	}
	switch {
	case found == 0 && !s.fs.IsDir(dir):
		s.errs = append(s.errs, fmt.Errorf("%s: is not a directory", dir))
		return file
	case found == 0:
		s.errs = append(s.errs, fmt.Errorf("%s: has no kustomization.yaml", dir))
		return file
	case found > 1:
		s.errs = append(s.errs, fmt.Errorf("%s: has more than one kustomization file", dir))
		return file
	}
	var k types.Kustomization
	if err := k.Unmarshal(data); err != nil {
		s.errs = append(s.errs, fmt.Errorf("%s: cannot be read: %w", file, oneLine(err)))
		return file
	}
	k.FixKustomization()
	s.refused(file, &k)
	s.local(file, &k)
	for i, entry := range k.Resources {
		s.entry(dir, file, fmt.Sprintf("resources[%d]", i), entry, false)
	}
	for i, entry := range k.Components {
		s.entry(dir, file, fmt.Sprintf("components[%d]", i), entry, true)
	}
	return file
}

// refused names the fields that run something or fetch something.
func (s *scan) refused(file string, k *types.Kustomization) {
	const why = "is not supported: nothing but plain kustomizations is built"
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"helmCharts", len(k.HelmCharts) > 0},
		{"helmGlobals", k.HelmGlobals != nil},
		{"helmChartInflationGenerator", len(k.HelmChartInflationGenerator) > 0},
		{"generators", len(k.Generators) > 0},
		{"transformers", len(k.Transformers) > 0},
		{"validators", len(k.Validators) > 0},
	} {
		if f.given {
			s.refuse(file, f.name, "", why)
		}
	}
}

// local refuses addresses where a file is read.
func (s *scan) local(file string, k *types.Kustomization) {
	check := func(field, value string) {
		if remote(value) {
			s.refuse(file, field, value, "is remote: only local files are read")
		}
	}
	for i, entry := range k.Crds {
		check(fmt.Sprintf("crds[%d]", i), entry)
	}
	for i, entry := range k.Configurations {
		check(fmt.Sprintf("configurations[%d]", i), entry)
	}
	for i, p := range k.Patches {
		check(fmt.Sprintf("patches[%d].path", i), p.Path)
	}
	for i, p := range k.PatchesJson6902 { //nolint:staticcheck // deprecated, and still read by kustomize
		check(fmt.Sprintf("patchesJson6902[%d].path", i), p.Path)
	}
	for i, p := range k.PatchesStrategicMerge { //nolint:staticcheck // deprecated, and still read by kustomize
		if !strings.Contains(string(p), "\n") {
			check(fmt.Sprintf("patchesStrategicMerge[%d]", i), string(p))
		}
	}
	for i, r := range k.Replacements {
		check(fmt.Sprintf("replacements[%d].path", i), r.Path)
	}
	check("openapi.path", k.OpenAPI["path"])
	for i, g := range k.ConfigMapGenerator {
		s.generator(file, fmt.Sprintf("configMapGenerator[%d]", i), g.KvPairSources)
	}
	for i, g := range k.SecretGenerator {
		s.generator(file, fmt.Sprintf("secretGenerator[%d]", i), g.KvPairSources)
	}
}

func (s *scan) generator(file, field string, sources types.KvPairSources) {
	for _, entry := range append(append([]string{sources.EnvSource}, sources.EnvSources...), sources.FileSources...) {
		if _, value, named := strings.Cut(entry, "="); named && !remote(entry[:strings.IndexByte(entry, '=')]) {
			entry = value
		}
		if remote(entry) {
			s.refuse(file, field, entry, "is remote: only local files are read")
		}
	}
}

// entry follows a resource or component.
func (s *scan) entry(dir, file, field, entry string, mustBeDir bool) {
	if strings.Contains(entry, "\n") {
		return // an object written in place
	}
	at := join(dir, entry)
	switch {
	case remote(entry):
		s.refuse(file, field, entry, "is remote: only local files are read")
	case s.fs.IsDir(at):
		s.directory(at)
	case mustBeDir || !s.fs.Exists(at):
		s.refuse(file, field, entry, "is not there; only local files and directories are read")
	}
}

// remote says whether an entry is an address rather than a path.
func remote(entry string) bool {
	return strings.Contains(entry, "://") || strings.Contains(entry, "::") || strings.HasPrefix(entry, "git@") ||
		strings.Contains(entry, "?ref=")
}

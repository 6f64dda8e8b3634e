// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/finding"
)

// emitFindings writes findings to standard output as text, json, sarif or
// github.
func emitFindings(sys system.System, form, version string, findings finding.List) error {
	var data []byte
	var err error
	switch form {
	case "json":
		data, err = findings.JSON()
	case "sarif":
		data, err = inRepository(sys, findings).SARIF(version)
	case "github":
		data = inRepository(sys, findings).GitHub()
	default:
		data = findings.Text()
	}
	if err != nil {
		return err
	}
	return emit(sys.Out, data)
}

// inRepository makes paths relative to the repository where GitHub Actions
// checked it out: a step may run in a directory below it, and annotations and
// SARIF are matched with the files of the repository.
func inRepository(sys system.System, findings finding.List) finding.List {
	root := sys.Getenv("GITHUB_WORKSPACE")
	if root == "" {
		return findings
	}
	here, err := sys.Files.Getwd()
	if err != nil {
		return findings
	}
	out := slices.Clone(findings)
	for i, f := range out {
		if f.File == "" || strings.HasPrefix(f.File, "<") {
			continue
		}
		file := filepath.FromSlash(f.File)
		if !filepath.IsAbs(file) {
			file = filepath.Join(here, file)
		}
		if relative, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(relative) {
			out[i].File = filepath.ToSlash(relative)
		}
	}
	return out
}

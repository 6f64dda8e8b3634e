// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/nearest"
	"github.com/valkey-render/valkey-render/render/finding"
)

// unknown reports a field that the schema does not have, with the name or the
// place that was most likely meant: a name from elsewhere, the same name in
// another block, else the nearest name in this one.
func (d *decoder) unknown(key *yaml.Node, t reflect.Type, path, name string) {
	full := child(path, name)
	if left, value, found := strings.Cut(name, ":"); found && value != "" && hidden(child(path, left), value) {
		d.report(key, finding.UnknownField, child(path, left), "unknown field; a space is missing after the colon")
		return
	}
	if advice := d.renamed(full); advice != "" {
		d.report(key, finding.RenamedField, full, "unknown field; "+advice)
		return
	}
	d.report(key, finding.UnknownField, full, "unknown field"+d.suggest(t, path, name))
}

func (d *decoder) suggest(t reflect.Type, path, name string) string {
	ask := func(what string) string { return fmt.Sprintf("; did you mean %q?", what) }
	if key, value, found := strings.Cut(name, ":"); found && value != "" {
		return fmt.Sprintf("; a space is missing after the colon: %s: %s", key, value)
	}
	if path == "" || strings.HasPrefix(path, "spec.") {
		if spec := d.types.structAt(d.root, "spec"); spec != nil {
			if _, ok := d.types.of(spec).index[name]; ok {
				return ask("spec." + name)
			}
		}
	}
	if holders := d.types.holders(t, name); len(holders) > 0 && len(holders) <= 3 {
		for i, holder := range holders {
			holders[i] = fmt.Sprintf("%q", child(path, holder)+"."+name)
		}
		return "; did you mean " + strings.Join(holders, " or ") + "?"
	}
	if near := nearest.Word(name, d.types.of(t).names); near != "" {
		return ask(near)
	}
	return ""
}

// renamed says what to do about a field of another operator, or of another
// spelling: what the API knows of it, or "".
func (d *decoder) renamed(path string) string {
	if d.kind != v1alpha1.KindCluster {
		return ""
	}
	return d.renamings[index.ReplaceAllString(path, "")].Sentence
}

// index is the index of a list in a path.
var index = regexp.MustCompile(`\[[0-9]+\]`)

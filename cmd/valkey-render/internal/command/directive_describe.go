// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/directive"
)

// describedDirective is a directive in JSON and YAML.
type describedDirective struct {
	Name       string   `json:"name"`
	Aliases    []string `json:"aliases,omitempty"`
	Type       string   `json:"type"`
	Enum       []string `json:"enum,omitempty"`
	Minimum    *int64   `json:"minimum,omitempty"`
	Maximum    *uint64  `json:"maximum,omitempty"`
	Default    string   `json:"default"`
	Class      string   `json:"class"`
	Repeatable bool     `json:"repeatable,omitempty"`
	// Reserved is why spec.config does not take it, Instead the field that does.
	Reserved    string `json:"reserved,omitempty"`
	Instead     string `json:"instead,omitempty"`
	Secret      bool   `json:"secret,omitempty"`
	Conditional string `json:"conditional,omitempty"`
	Since       string `json:"since,omitempty"`
	Until       string `json:"until,omitempty"`
	Note        string `json:"note,omitempty"`
}

func described(all []directive.Directive) []describedDirective {
	out := make([]describedDirective, len(all))
	for i, d := range all {
		out[i] = describedDirective{
			Name: d.Name, Aliases: d.Aliases, Type: string(d.Type), Enum: d.Enum, Default: d.Default,
			Class: string(d.Class), Repeatable: d.Repeatable, Reserved: d.Reserved, Instead: d.Instead,
			Secret: d.Secret, Conditional: d.Conditional, Since: d.Since, Until: d.Until, Note: d.Note,
		}
		if hasRange(d) {
			out[i].Minimum, out[i].Maximum = &d.Min, &d.Max
		}
	}
	return out
}

// directiveHints says in a line what each directive takes, by name, over all
// versions: what an editor shows for a key of spec.config.
func directiveHints() map[string]string {
	hints := map[string]string{}
	// Oldest first, so that the newest version has the last word.
	for _, version := range v1alpha1.Versions() {
		for _, d := range directive.All(version) {
			if d.Reserved != "" {
				continue
			}
			hint := string(d.Type)
			if v := values(d); v != "" {
				hint += ": " + v
			}
			hint += "; default " + cell(d.Default, 60)
			if d.Class == directive.Live {
				hint += "; applies live"
			} else {
				hint += "; restarts the pods"
			}
			hints[d.Name] = hint
		}
	}
	return hints
}

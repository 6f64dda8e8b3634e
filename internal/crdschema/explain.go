// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package crdschema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// width is where descriptions are wrapped.
const width = 80

// Explain describes a place in the layout of `kubectl explain`; recursive lists
// all fields below it by name and type instead of one level with descriptions.
func Explain(p Place, recursive bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "KIND:       %s\nVERSION:    %s\n\n", p.Kind.Name, p.Kind.APIVersion())
	if p.Path != "" {
		fmt.Fprintf(&b, "FIELD: %s <%s>%s\n", p.Path, p.Field.TypeName(), required(p.Required))
		facts(&b, p.Field, "  ")
		b.WriteString("\n")
	}
	b.WriteString("DESCRIPTION:\n")
	paragraphs(&b, p.Description, "    ")
	b.WriteString("\n")
	for i, rule := range p.Field.Rules {
		if i == 0 {
			b.WriteString("RULES:\n")
		}
		paragraphs(&b, "- "+rule.Message, "    ")
		if i == len(p.Field.Rules)-1 {
			b.WriteString("\n")
		}
	}
	if len(p.Field.children()) > 0 {
		b.WriteString("FIELDS:\n")
		fields(&b, p.Field.element(), "  ", recursive)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func required(is bool) string {
	if is {
		return " -required-"
	}
	return ""
}

// fields lists the fields of an object, those of the API machinery left out
// below the top.
func fields(b *strings.Builder, f *Field, indent string, recursive bool) {
	for _, name := range slices.Sorted(maps.Keys(f.Properties)) {
		child := f.Properties[name]
		fmt.Fprintf(b, "%s%s\t<%s>%s\n", indent, name, child.TypeName(), required(slices.Contains(f.Required, name)))
		if recursive {
			fields(b, child.element(), indent+"  ", true)
			continue
		}
		facts(b, child, indent+"  ")
		paragraphs(b, child.Description, indent+"  ")
		b.WriteString("\n")
	}
}

// facts are what the schema holds a value to.
func facts(b *strings.Builder, f *Field, indent string) {
	element := f.element()
	if len(element.Enum) > 0 {
		values := make([]string, len(element.Enum))
		for i, v := range element.Enum {
			values[i] = literal(v)
		}
		fmt.Fprintf(b, "%senum: %s\n", indent, strings.Join(values, ", "))
	}
	if f.Default != nil {
		fmt.Fprintf(b, "%sdefault: %s\n", indent, literal(f.Default))
	} else if f.Computed != "" {
		fmt.Fprintf(b, "%sdefault: %s\n", indent, f.Computed)
	}
	between(b, indent+"range", f.Minimum, f.Maximum)
	between(b, indent+"length", f.MinLength, f.MaxLength)
	between(b, indent+"items", f.MinItems, f.MaxItems)
	if f.Pattern != "" && !f.isQuantity() {
		fmt.Fprintf(b, "%spattern: %s\n", indent, f.Pattern)
	}
	if len(f.MapKeys) > 0 {
		fmt.Fprintf(b, "%sitems are told apart by: %s\n", indent, strings.Join(f.MapKeys, ", "))
	}
	if element.Open {
		fmt.Fprintf(b, "%stakes any fields\n", indent)
	}
}

func between[N int64 | float64](b *strings.Builder, what string, low, high *N) {
	switch {
	case low != nil && high != nil:
		fmt.Fprintf(b, "%s: %v to %v\n", what, *low, *high)
	case low != nil:
		fmt.Fprintf(b, "%s: at least %v\n", what, *low)
	case high != nil:
		fmt.Fprintf(b, "%s: at most %v\n", what, *high)
	}
}

// literal is a value as one writes it in YAML: text that YAML would read as
// something else is in quotes.
func literal(v any) string {
	if s, ok := v.(string); ok {
		var read any
		if err := yaml.Unmarshal([]byte(s), &read); err == nil && read == any(s) {
			return s
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// paragraphs writes a description, each paragraph wrapped. Line breaks of the
// source are wrapping, an empty line begins a paragraph; an indented or listed
// line stays one.
func paragraphs(b *strings.Builder, text, indent string) {
	if strings.TrimSpace(text) == "" {
		fmt.Fprintf(b, "%s<empty>\n", indent)
		return
	}
	var words []string
	flush := func() {
		line := indent
		for i, word := range words {
			if i > 0 && len(line)+1+len(word) > width {
				b.WriteString(line + "\n")
				line = indent + word
				continue
			}
			if i > 0 {
				line += " "
			}
			line += word
		}
		if len(words) > 0 {
			b.WriteString(line + "\n")
		}
		words = nil
	}
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "":
			flush()
			b.WriteString("\n")
		case strings.HasPrefix(line, " ") || strings.HasPrefix(trimmed, "- ") && len(words) > 0:
			flush()
			words = strings.Fields(trimmed)
		default:
			words = append(words, strings.Fields(trimmed)...)
		}
	}
	flush()
}

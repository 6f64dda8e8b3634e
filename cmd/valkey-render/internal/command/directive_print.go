// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/directive"
)

func hasRange(d directive.Directive) bool {
	switch d.Type {
	case directive.Integer, directive.Memory, directive.MemoryOrPercent:
		return d.Min != 0 || d.Max != 0
	}
	return false
}

// values are what a directive takes: its words, its range, or its type.
func values(d directive.Directive) string {
	switch {
	case d.Type == directive.Bool:
		return "yes or no"
	case len(d.Enum) > 0:
		return strings.Join(d.Enum, ", ")
	case hasRange(d):
		return between(d.Min, d.Max)
	default:
		return ""
	}
}

// between words a range; the ends of the server's own number types are none.
func between(low int64, high uint64) string {
	switch unbounded := high >= math.MaxInt64; {
	case low == math.MinInt64 && unbounded:
		return "any number"
	case unbounded:
		return fmt.Sprintf("at least %d", low)
	default:
		return fmt.Sprintf("%d to %d", low, high)
	}
}

// table is one line for each directive, none longer than width. ours are the values
// that build gives.
func table(all []directive.Directive, sentinel bool, ours map[string]string, width int) []byte {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tTYPE\tSERVER DEFAULT\tCHANGE\tREMARK")
	for _, d := range all {
		change, remarks := changeOf(d, sentinel), []string{values(d), d.Conditional}
		if d.Reserved != "" {
			change, remarks = "reserved", []string{d.Reserved}
		} else if text := ours[d.Name]; text != "" {
			remarks = append([]string{"set to " + text}, remarks...)
		}
		remark := strings.Join(slices.DeleteFunc(remarks, func(s string) bool { return s == "" }), "; ")
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", d.Name, cell(string(d.Type), 17), cell(d.Default, 14), change, cell(remark, 1<<10))
	}
	// A bytes.Buffer takes everything.
	_ = w.Flush()
	var trimmed bytes.Buffer
	for line := range bytes.Lines(b.Bytes()) {
		text := string(bytes.TrimRight(line, " \n"))
		if width > 0 {
			text = cell(text, width)
		}
		trimmed.WriteString(text + "\n")
	}
	return trimmed.Bytes()
}

// changeOf says how a change reaches servers. Sentinels have no live file: what
// they are told is in their pod template.
func changeOf(d directive.Directive, sentinel bool) string {
	if sentinel {
		return string(directive.Restart)
	}
	return string(d.Class)
}

// cell is a text for one column.
func cell(text string, most int) string {
	text = strings.ReplaceAll(text, "\n", "; ")
	if text == "" {
		return "-"
	}
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// detail is all that is known of one directive.
func detail(d directive.Directive, version string, sentinel bool, ours map[string]string) []byte {
	var b bytes.Buffer
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-13s %s\n", label+":", strings.ReplaceAll(text, "\n", "; "))
		}
	}
	line("DIRECTIVE", d.Name)
	line("VALKEY", version)
	line("OLD NAMES", strings.Join(d.Aliases, ", "))
	line("TYPE", string(d.Type))
	line("VALUES", values(d))
	fmt.Fprintf(&b, "%-13s %s (the server's)\n", "DEFAULT:", cell(d.Default, 1<<10))
	if d.Reserved == "" {
		line("SET TO", ours[d.Name])
	}
	switch {
	case d.Reserved != "":
		line("RESERVED", d.Reserved)
		line("INSTEAD", d.Instead)
	case changeOf(d, sentinel) == string(directive.Live):
		line("CHANGE", "applies live")
	default:
		line("CHANGE", "restarts the pods")
	}
	if d.Repeatable {
		line("REPEATABLE", "one line of the value for each")
	}
	if d.Secret {
		line("SECRET", "its value belongs in a Secret")
	}
	line("CONDITION", d.Conditional)
	if versions := v1alpha1.Versions(); d.Since != "" && (d.Since != versions[0] || d.Until != versions[len(versions)-1]) {
		line("VERSIONS", d.Since+" to "+d.Until)
	}
	line("NOTE", d.Note)
	return b.Bytes()
}

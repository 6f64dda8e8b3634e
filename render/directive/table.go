// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package directive

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/nearest"
)

// Class says how a directive's value reaches a server.
type Class string

const (
	// Live directives are changed by CONFIG SET while the server runs.
	Live Class = "live"
	// Restart directives are read once, at startup.
	Restart Class = "restart"
)

// Type says what values a directive takes.
type Type string

const (
	// Bool is yes or no.
	Bool Type = "bool"
	// Enum is one of Directive.Enum.
	Enum Type = "enum"
	// Flags is one or more of Directive.Enum, separated by spaces.
	Flags Type = "flags"
	// Integer is a decimal number between Min and Max.
	Integer Type = "integer"
	// Memory is bytes with an optional unit: b, k, kb, m, mb, g, gb, where k, m
	// and g are powers of 1000 and kb, mb and gb powers of 1024.
	Memory Type = "memory"
	// MemoryOrPercent is Memory, or 1% to 100% (of maxmemory).
	MemoryOrPercent Type = "memory-or-percent"
	// Octal is a file mode.
	Octal Type = "octal"
	// Text is any line of text.
	Text Type = "text"
	// Word is text without white space.
	Word Type = "word"
	// CPUList is processors, such as 0-7:2,9.
	CPUList Type = "cpulist"
	// Template is text with the variables of proc-title-template.
	Template Type = "template"
	// Save is pairs of seconds and changes.
	Save Type = "save"
	// OutputBufferLimit is a client class, two sizes and seconds.
	OutputBufferLimit Type = "client-output-buffer-limit"
	// OOMScoreValues is three numbers.
	OOMScoreValues Type = "oom-score-adj-values"
	// KeyspaceEvents is letters for classes of events.
	KeyspaceEvents Type = "keyspace-events"
	// Percentiles is numbers from 0 to 100, separated by spaces.
	Percentiles Type = "percentiles"
	// String and Special are of reserved directives alone, whose values are not
	// checked.
	String Type = "string"
	// Special is a value with a syntax of its own.
	Special Type = "special"
)

// Directive is what holds for one directive in one version.
type Directive struct {
	// Name is the present name; Aliases are the old ones the server still knows.
	Name    string
	Aliases []string
	Type    Type
	// Enum are the values of Enum and Flags, in the server's spelling and order.
	Enum []string
	// Min and Max are the ends of Integer and Memory (bytes), inclusive.
	Min int64
	Max uint64
	// Default is the value without a configuration, as CONFIG GET prints it.
	Default string
	Class   Class
	// Repeatable directives take one line of the value per line of the file.
	Repeatable bool
	// Reserved is why the renderer keeps the directive to itself, or empty; then
	// Instead is the field of the spec that says the same, where there is one.
	Reserved, Instead string
	// Conditional is when the directive may be set, or empty.
	Conditional string
	// Secret values belong in a Secret, never in a spec.
	Secret bool
	// Since and Until are the first and the last supported version that has it.
	Since, Until string
	// Note is what else to know.
	Note string
}

//go:embed directives.json
var tableText []byte

// entry is one directive of directives.json; facts that hold for several versions
// are there once.
type entry struct {
	Name        string   `json:"name"`
	Aliases     []string `json:"aliases"`
	Reserved    string   `json:"reserved"`
	Instead     string   `json:"instead"`
	Conditional string   `json:"conditional"`
	Secret      bool     `json:"secret"`
	Repeatable  bool     `json:"repeatable"`
	Note        string   `json:"note"`
	In          []struct {
		Versions []string `json:"versions"`
		Type     Type     `json:"type"`
		Enum     []string `json:"enum"`
		Min      int64    `json:"min"`
		Max      uint64   `json:"max"`
		Default  string   `json:"default"`
		Class    Class    `json:"class"`
	} `json:"in"`
}

// tables is version to name (old names too) to directive. It is read once.
var tables = sync.OnceValue(func() map[string]map[string]Directive {
	result, err := readTable(tableText)
	if err != nil {
		// The text is compiled in and read by every test.
		panic(err)
	}
	return result
})

func readTable(text []byte) (map[string]map[string]Directive, error) {
	var entries []entry
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("directives.json: %w", err)
	}
	result := map[string]map[string]Directive{}
	for _, version := range v1alpha1.Versions() {
		result[version] = map[string]Directive{}
	}
	for _, e := range entries {
		e.into(result)
	}
	// An old name may have been the only one in an older version.
	for _, e := range entries {
		for _, version := range v1alpha1.Versions() {
			d, exists := result[version][e.Name]
			for _, alias := range d.Aliases {
				if _, taken := result[version][alias]; exists && !taken {
					result[version][alias] = d
				}
			}
		}
	}
	return result, nil
}

func (e entry) into(result map[string]map[string]Directive) {
	first, last := e.In[0].Versions, e.In[len(e.In)-1].Versions
	for _, in := range e.In {
		for _, version := range in.Versions {
			result[version][e.Name] = Directive{
				Name: e.Name, Aliases: e.Aliases, Type: in.Type, Enum: in.Enum, Min: in.Min, Max: in.Max,
				Default: in.Default, Class: in.Class, Repeatable: e.Repeatable, Reserved: e.Reserved,
				Instead: e.Instead, Conditional: e.Conditional, Secret: e.Secret,
				Since: first[0], Until: last[len(last)-1], Note: e.Note,
			}
		}
	}
}

// Lookup finds a directive of a version ("9.1") by its present or an old name, in
// any case.
func Lookup(version, name string) (Directive, bool) {
	d, found := tables()[version][strings.ToLower(name)]
	d.Aliases, d.Enum = slices.Clone(d.Aliases), slices.Clone(d.Enum)
	return d, found
}

// All lists the directives of a version by their present names, sorted.
func All(version string) []Directive {
	var list []Directive
	for name, d := range tables()[version] {
		if name == d.Name {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b Directive) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// ClassOf is the class of a directive, or empty for an unknown one.
func ClassOf(version, name string) Class {
	d, _ := Lookup(version, name)
	return d.Class
}

// Closest is the known name that is most like an unknown one, for "did you mean",
// or empty when none is near. Names that may be set come before reserved ones.
func Closest(version, name string) string {
	name = strings.ToLower(name)
	known := make([]string, 0, len(tables()[version]))
	for candidate := range tables()[version] {
		known = append(known, candidate)
	}
	slices.SortFunc(known, func(a, b string) int {
		first, second := tables()[version][a], tables()[version][b]
		if (first.Reserved == "") != (second.Reserved == "") {
			if first.Reserved == "" {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return nearest.Word(name, known)
}

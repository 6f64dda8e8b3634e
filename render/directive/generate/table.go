// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// fact is what holds for a directive in some versions; the fields are those of
// the embedded table (render/directive reads the same JSON).
type fact struct {
	Versions []string `json:"versions"`
	Type     string   `json:"type"`
	Enum     []string `json:"enum,omitempty"`
	Min      int64    `json:"min,omitempty"`
	Max      uint64   `json:"max,omitempty"`
	Default  string   `json:"default"`
	Class    string   `json:"class"`
}

// equal compares what was measured, not for which versions.
func (f fact) equal(g fact) bool {
	return f.Type == g.Type && slices.Equal(f.Enum, g.Enum) && f.Min == g.Min && f.Max == g.Max &&
		f.Default == g.Default && f.Class == g.Class
}

// entry is one directive of the table.
type entry struct {
	Name        string   `json:"name"`
	Aliases     []string `json:"aliases,omitempty"`
	Reserved    string   `json:"reserved,omitempty"`
	Instead     string   `json:"instead,omitempty"`
	Conditional string   `json:"conditional,omitempty"`
	Secret      bool     `json:"secret,omitempty"`
	Repeatable  bool     `json:"repeatable,omitempty"`
	Note        string   `json:"note,omitempty"`
	In          []fact   `json:"in"`
}

// versions are the columns of the table, oldest first.
func versions() []string { return []string{"8.0", "8.1", "9.0", "9.1"} }

// oldName tells the names that are kept for old configurations from the present.
var oldName = regexp.MustCompile(`slave|master|ziplist|slowlog|_|^lua-time-limit$`)

// hiddenReason reserves what the server itself does not show.
const hiddenReason = "for debugging the server, which hides it"

// build makes the table from what the servers said (9.0 derived) and the overlay.
func build(servers map[string]map[string]measured, o overlay) ([]entry, error) {
	entries := map[string]*entry{}
	for _, version := range versions() {
		for _, name := range slices.Sorted(maps.Keys(servers[version])) {
			m := servers[version][name]
			if oldName.MatchString(name) && len(m.same) > 0 {
				current := m.same[0]
				add(entries, current).alias(name)
				continue
			}
			e := add(entries, name)
			if m.hidden && e.Reserved == "" && len(e.In) == 0 {
				e.Reserved = hiddenReason
			}
			e.put(version, m.fact)
		}
	}
	for _, a := range o.FileOnly {
		e := add(entries, a.Name)
		for _, version := range versions() {
			e.put(version, fact{Type: "special", Class: "restart"})
		}
		if err := a.apply(e); err != nil {
			return nil, err
		}
	}
	for _, a := range o.Directives {
		for _, name := range a.Names {
			e := entries[name]
			if e == nil {
				return nil, fmt.Errorf("overlay.yaml: no server has %q", name)
			}
			if err := a.apply(e); err != nil {
				return nil, err
			}
		}
	}
	return finish(entries)
}

func add(entries map[string]*entry, name string) *entry {
	if entries[name] == nil {
		entries[name] = &entry{Name: name}
	}
	return entries[name]
}

func (e *entry) alias(name string) {
	if !slices.Contains(e.Aliases, name) {
		e.Aliases = append(e.Aliases, name)
		slices.Sort(e.Aliases)
	}
}

// put adds a version's facts, to the versions before it when they are the same.
func (e *entry) put(version string, f fact) {
	if n := len(e.In); n > 0 && e.In[n-1].equal(f) {
		e.In[n-1].Versions = append(e.In[n-1].Versions, version)
		return
	}
	f.Versions = []string{version}
	e.In = append(e.In, f)
}

func (a addition) apply(e *entry) error {
	if a.Reserved != "" && e.Reserved != "" {
		return fmt.Errorf("overlay.yaml: %s is reserved twice", e.Name)
	}
	if a.Reserved != "" {
		e.Reserved, e.Instead = a.Reserved, a.Instead
	}
	e.Conditional, e.Secret, e.Repeatable, e.Note = a.Conditional, a.Secret, a.Repeatable, a.Note
	for i := range e.In {
		f := &e.In[i]
		if a.Class != "" {
			f.Class = a.Class
		}
		if a.Type != "" {
			f.Type, f.Enum = a.Type, nil
		}
		if a.Enum != nil {
			f.Enum = a.Enum
		}
		if a.Min != 0 {
			f.Min = a.Min
		}
		if a.Max != 0 {
			f.Max = a.Max
		}
		if own := a.MaxIn[f.Versions[0]]; own != 0 {
			f.Max = own
		}
	}
	return nil
}

// finish orders the table, merges facts that the overlay made equal, and refuses
// directives whose values nobody can check.
func finish(entries map[string]*entry) ([]entry, error) {
	var table []entry
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		merged := entry{}
		for _, f := range e.In {
			for _, version := range f.Versions {
				merged.put(version, f)
			}
			if e.Reserved == "" && (f.Type == "special" || f.Type == "string") {
				return nil, fmt.Errorf("%s: overlay.yaml says neither its syntax nor why it is reserved", name)
			}
		}
		e.In = merged.In
		table = append(table, *e)
	}
	return table, nil
}

// encode writes the table with one fact a line, so that a change is a short diff.
func encode(table []entry) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("[\n")
	for i, e := range table {
		facts := e.In
		e.In = nil
		head, err := marshal(e)
		if err != nil {
			return nil, err
		}
		out.WriteString(" " + strings.TrimSuffix(head, `"in":null}`) + `"in": [`)
		for j, f := range facts {
			line, err := marshal(f)
			if err != nil {
				return nil, err
			}
			out.WriteString("\n  " + line)
			if j+1 < len(facts) {
				out.WriteString(",")
			}
		}
		out.WriteString("]}")
		if i+1 < len(table) {
			out.WriteString(",")
		}
		out.WriteString("\n")
	}
	out.WriteString("]\n")
	return out.Bytes(), nil
}

func marshal(value any) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	return strings.TrimSpace(out.String()), nil
}

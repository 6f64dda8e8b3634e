// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package directive

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// Kind says what is wrong with a directive.
type Kind string

const (
	// Unknown names exist in no or in another version.
	Unknown Kind = "unknown"
	// Reserved directives are set by the renderer.
	Reserved Kind = "reserved"
	// Secret values may not be in a spec.
	Secret Kind = "secret"
	// Value is a wrong value.
	Value Kind = "value"
	// Duplicate is one directive under two names.
	Duplicate Kind = "duplicate"
	// Conflict is a value that does not fit another directive's.
	Conflict Kind = "conflict"
)

// Problem is one violation. It is an error.
type Problem struct {
	// Name is the directive as it was written.
	Name string
	Kind Kind
	// Message is for people, without the name. It never holds a secret's value.
	Message string
}

func (p *Problem) Error() string { return fmt.Sprintf("%s: %s", p.Name, p.Message) }

// Check judges one directive of a spec for a version: nil, or a *Problem whose
// message has the nearest right name or value.
func Check(version, name, value string) error {
	if p := check(version, name, value); p != nil {
		return p
	}
	return nil
}

func check(version, name, value string) *Problem {
	d, found := Lookup(version, name)
	if !found {
		return unknown(version, name)
	}
	return d.check(name, value)
}

// check judges a value; name is the directive as it was written.
func (d Directive) check(name, value string) *Problem {
	if d.Reserved != "" {
		kind, message := Reserved, "reserved: "+d.Reserved
		if d.Secret {
			kind = Secret
		}
		if d.Instead != "" {
			message += "; use " + d.Instead
		}
		return &Problem{Name: name, Kind: kind, Message: message}
	}
	if _, err := d.canonical(value); err != nil {
		return &Problem{Name: name, Kind: Value, Message: fmt.Sprintf("value %q %v", value, err)}
	}
	return nil
}

func unknown(version, name string) *Problem {
	p := &Problem{Name: name, Kind: Unknown}
	if !slices.Contains(v1alpha1.Versions(), version) {
		p.Message = fmt.Sprintf("version %q is not supported: %s are", version, strings.Join(v1alpha1.Versions(), ", "))
		return p
	}
	for _, other := range v1alpha1.Versions() {
		if d, found := Lookup(other, name); found {
			p.Message = otherVersions(version, d)
			return p
		}
	}
	p.Message = "unknown directive"
	if near := Closest(version, name); near != "" {
		p.Message += fmt.Sprintf("; did you mean %q?", near)
	}
	return p
}

// otherVersions says which versions know a directive that this one does not.
func otherVersions(version string, d Directive) string {
	until := "to " + d.Until
	if all := v1alpha1.Versions(); d.Until == all[len(all)-1] {
		until = "on"
	}
	return fmt.Sprintf("unknown to Valkey %s; it exists from %s %s", version, d.Since, until)
}

// Canonical returns the present name, and the value as CONFIG GET prints it:
// the server's spelling, sizes in bytes, the lines of a repeatable directive in
// one. Reserved directives are not refused; their words are returned as they are.
func Canonical(version, name, value string) (canonicalName, canonicalValue string, err error) {
	d, found := Lookup(version, name)
	if !found {
		return "", "", unknown(version, name)
	}
	canonicalValue, err = d.canonical(value)
	if err != nil {
		return "", "", &Problem{Name: name, Kind: Value, Message: fmt.Sprintf("value %q %v", value, err)}
	}
	return d.Name, canonicalValue, nil
}

// CheckAll judges a whole map of directives, sorted by name: each of them, names
// that mean the same one, and values that do not fit together.
func CheckAll(version string, config map[string]string) []Problem {
	var problems []Problem
	names := make([]string, 0, len(config))
	for name := range config {
		names = append(names, name)
	}
	slices.Sort(names)
	first := map[string]string{}
	for _, name := range names {
		if p := check(version, name, config[name]); p != nil {
			problems = append(problems, *p)
		}
		d, found := Lookup(version, name)
		if !found {
			continue
		}
		if other, seen := first[d.Name]; seen {
			problems = append(problems, Problem{
				Name: name, Kind: Duplicate, Message: fmt.Sprintf("is the same directive as %s", other),
			})
			continue
		}
		first[d.Name] = name
	}
	return append(problems, conflicts(version, config, first)...)
}

// pairs are directives of which the first may not be above the second: the server
// takes them and then does not do what was asked.
func pairs() [][2]string {
	return [][2]string{
		{"active-defrag-cycle-min", "active-defrag-cycle-max"},
		{"active-defrag-threshold-lower", "active-defrag-threshold-upper"},
	}
}

// conflicts compares pairs of which at least one was written; names maps present
// names to written ones.
func conflicts(version string, config, names map[string]string) []Problem {
	var problems []Problem
	for _, pair := range pairs() {
		var values [2]int64
		written, valid := "", true
		for i, name := range pair {
			d, _ := Lookup(version, name)
			text := d.Default
			if own, isWritten := names[name]; isWritten {
				text, written = config[own], own
				valid = valid && check(version, own, text) == nil
			}
			// A default is a number, and so is a value that passed the check.
			values[i], _ = strconv.ParseInt(text, 10, 64)
		}
		if written != "" && valid && values[0] > values[1] {
			problems = append(problems, Problem{Name: written, Kind: Conflict, Message: fmt.Sprintf(
				"%s (%d) is above %s (%d)", pair[0], values[0], pair[1], values[1])})
		}
	}
	return problems
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

//go:embed overlay.yaml
var overlayText []byte

// overlay is overlay.yaml.
type overlay struct {
	NineZero   nineZero   `yaml:"nineZero"`
	Directives []addition `yaml:"directives"`
	FileOnly   []addition `yaml:"fileOnly"`
}

// nineZero maps names to the reason for what 9.0 has.
type nineZero struct {
	Absent      map[string]string            `yaml:"absent"`
	AsBefore    map[string]string            `yaml:"asBefore"`
	AsAfter     map[string]string            `yaml:"asAfter"`
	EnumWithout map[string]map[string]string `yaml:"enumWithout"`
}

// addition is what we say about directives; fields that are set replace what was
// measured.
type addition struct {
	Name        string   `yaml:"name"`
	Names       []string `yaml:"names"`
	Reserved    string   `yaml:"reserved"`
	Instead     string   `yaml:"instead"`
	Conditional string   `yaml:"conditional"`
	Note        string   `yaml:"note"`
	Secret      bool     `yaml:"secret"`
	Repeatable  bool     `yaml:"repeatable"`
	Class       string   `yaml:"class"`
	Type        string   `yaml:"type"`
	Enum        []string `yaml:"enum"`
	Min         int64    `yaml:"min"`
	Max         uint64   `yaml:"max"`
	// MaxIn is Max for some versions.
	MaxIn map[string]uint64 `yaml:"maxIn"`
}

func loadOverlay() (overlay, error) {
	var o overlay
	decoder := yaml.NewDecoder(bytes.NewReader(overlayText))
	decoder.KnownFields(true)
	if err := decoder.Decode(&o); err != nil {
		return o, fmt.Errorf("overlay.yaml: %w", err)
	}
	return o, nil
}

// derive makes the facts of 9.0. A difference between 8.1 and 9.1 that is in no
// list, or a list's entry that does not differ, is an error.
func (z nineZero) derive(before, after map[string]measured) (map[string]measured, error) {
	var errs []error
	result := maps.Clone(after)
	names := slices.Concat(slices.Collect(maps.Keys(before)), slices.Collect(maps.Keys(after)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		old, had := before[name]
		now, has := after[name]
		differs := had != has || !old.equal(now.fact)
		_, absent := z.Absent[name]
		_, asBefore := z.AsBefore[name]
		_, asAfter := z.AsAfter[name]
		without, fewer := z.EnumWithout[name]
		if differs != (absent || asBefore || asAfter || fewer) {
			errs = append(errs, fmt.Errorf("%s: differs between 8.1 and 9.1: %t; overlay.yaml does not say what 9.0 has", name, differs))
		}
		switch {
		case absent:
			delete(result, name)
		case asBefore:
			result[name] = old
		case fewer:
			now.Enum = slices.DeleteFunc(slices.Clone(now.Enum), func(value string) bool { return without[value] != "" })
			result[name] = now
		}
	}
	return result, errors.Join(errs...)
}

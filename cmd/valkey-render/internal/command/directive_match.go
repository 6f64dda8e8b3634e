// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/nearest"
	"github.com/valkey-render/valkey-render/render/directive"
)

// directiveSource is one of the tables of a version.
type directiveSource struct {
	// what names it in messages.
	what   string
	all    []directive.Directive
	lookup func(name string) (directive.Directive, bool)
	// nearest is the name that a misspelt one most likely means, or empty.
	nearest func(name string) string
	// versions are those that have a directive.
	versions func(name string) []string
}

func serverDirectives(version string) directiveSource {
	return directiveSource{
		what: "directive of Valkey " + version,
		all:  directive.All(version),
		lookup: func(name string) (directive.Directive, bool) {
			return directive.Lookup(version, name)
		},
		nearest: func(name string) string { return directive.Closest(version, name) },
		versions: func(name string) []string {
			return slices.DeleteFunc(v1alpha1.Versions(), func(v string) bool {
				_, ok := directive.Lookup(v, name)
				return !ok
			})
		},
	}
}

// sentinelDirectives are those of sentinel.conf; the shape of their arguments is
// told with the note.
func sentinelDirectives(version string) directiveSource {
	s := directiveSource{what: "directive of Valkey Sentinel " + version}
	plain := func(d directive.SentinelDirective) directive.Directive {
		out := d.Directive
		if d.Args != "" {
			out.Note = strings.TrimPrefix(out.Note+"; takes "+d.Args, "; ")
		}
		return out
	}
	var names []string
	for _, d := range directive.AllSentinel(version) {
		s.all = append(s.all, plain(d))
		names = append(names, d.Name)
	}
	s.lookup = func(name string) (directive.Directive, bool) {
		d, ok := directive.LookupSentinel(version, name)
		return plain(d), ok
	}
	s.nearest = func(name string) string { return nearest.Word(name, names) }
	s.versions = func(string) []string { return nil }
	return s
}

// matching finds the directives that a pattern in lower case names: one by its
// name, else all by glob or as a part of the name.
func (s directiveSource) matching(pattern string) ([]directive.Directive, error) {
	if pattern == "" {
		return s.all, nil
	}
	if d, ok := s.lookup(pattern); ok {
		return []directive.Directive{d}, nil
	}
	matches := func(name string) bool { return strings.Contains(name, pattern) }
	if strings.ContainsAny(pattern, `*?[\`) {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("pattern %q: %w", pattern, err)
		}
		matches = func(name string) bool {
			// The pattern is good, so there is no error.
			ok, _ := path.Match(pattern, name)
			return ok
		}
	}
	var found []directive.Directive
	for _, d := range s.all {
		if matches(d.Name) || slices.ContainsFunc(d.Aliases, matches) {
			found = append(found, d)
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	if others := s.versions(pattern); len(others) > 0 {
		return nil, fmt.Errorf("no %s matches %q; it is in %s", s.what, pattern, strings.Join(others, ", "))
	}
	if near := s.nearest(pattern); near != "" {
		return nil, fmt.Errorf("no %s matches %q; did you mean %q?", s.what, pattern, near)
	}
	return nil, fmt.Errorf("no %s matches %q", s.what, pattern)
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"errors"
	"fmt"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/directive"
	"github.com/valkey-render/valkey-render/render/script"
)

// setting is one directive before it is written as a line: with a value as CONFIG
// SET takes it, or with the words of the line where only a file has the directive. A
// comment is neither: it is for start.sh.
type setting struct {
	name, value string
	words       []string
	comment     string
}

// group is a titled block of the text.
type group struct {
	title    string
	settings []setting
}

// add appends a directive with its value.
func (g *group) add(name, value string) {
	g.settings = append(g.settings, setting{name: name, value: value})
}

// addWords appends a directive that only a file has, with the words of its line.
func (g *group) addWords(name string, words ...string) {
	g.settings = append(g.settings, setting{name: name, words: words})
}

// lines writes the setting; package directive alone turns values into text.
func (s setting) lines() (string, error) {
	if s.comment != "" {
		return s.comment, nil
	}
	if s.words != nil {
		return directive.Words(s.name, s.words...)
	}
	return directive.Line(s.name, s.value)
}

// write returns the groups as the text of a file, with its end marker. Empty groups
// are left out; every line that cannot be written is in the error.
func write(groups []group, file string) (string, error) {
	var text strings.Builder
	var problems []error
	for _, g := range groups {
		if len(g.settings) == 0 {
			continue
		}
		fmt.Fprintf(&text, "# %s\n", g.title)
		for _, s := range g.settings {
			line, err := s.lines()
			if err != nil {
				problems = append(problems, err)
				continue
			}
			text.WriteString(line)
			text.WriteByte('\n')
		}
		text.WriteByte('\n')
	}
	text.WriteString(script.EndMarker(file))
	text.WriteByte('\n')
	if err := errors.Join(problems...); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	return text.String(), nil
}

// Server returns the text of valkey.conf for the pod annotation: directives that
// take a restart, of the cluster's version, ending with its script.EndMarker. An error
// names every directive that cannot be written; Check reports the same with paths.
func Server(c *v1alpha1.ValkeyCluster) (string, error) {
	return write(serverGroups(c), script.ServerFile)
}

// Live returns the text of the key <version>.conf of the ConfigMap <cluster>-live:
// directives that CONFIG SET can change, as far as that version knows and accepts
// them, ending with its script.EndMarker.
func Live(c *v1alpha1.ValkeyCluster, version string) (string, error) {
	return write(liveGroups(c, version), script.LiveFile(version))
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"errors"
	"fmt"
	"strings"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/directive"
)

const (
	// ServerMarker is the last line of Server's text; start.sh refuses a file
	// without it.
	ServerMarker = "# valkey-render: end of valkey.conf"
	// SentinelMarker is the last line of Sentinel's text.
	SentinelMarker = "# valkey-render: end of sentinel.conf"
	// LiveInclude is the live file that start.sh accepted.
	LiveInclude = "/valkey/run/live.conf"
	// AuthInclude holds the credentials for replication; start.sh writes it.
	AuthInclude = "/valkey/run/auth.conf"
)

// LiveMarker is the last line of Live's text for a version.
func LiveMarker(version string) string {
	return "# valkey-render: end of " + version + ".conf"
}

// ModulePath is where the module's file is in the server container.
func ModulePath(module string) string { return "/valkey/modules/" + module + ".so" }

// setting is one directive before it is written as a line: with a value as CONFIG
// SET takes it, or with the words of the line where only a file has the directive.
type setting struct {
	name, value string
	words       []string
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
	if s.words != nil {
		return directive.Words(s.name, s.words...)
	}
	return directive.Line(s.name, s.value)
}

// write returns the groups as text that ends with the marker. Empty groups are
// left out; every line that cannot be written is in the error.
func write(groups []group, marker string) (string, error) {
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
	text.WriteString(marker)
	text.WriteByte('\n')
	if err := errors.Join(problems...); err != nil {
		return "", fmt.Errorf("config text of %q: %w", marker, err)
	}
	return text.String(), nil
}

// Server returns the text of valkey.conf for the pod annotation: directives that
// take a restart, of the cluster's version, ending with ServerMarker. An error
// names every directive that cannot be written; Check reports the same with paths.
func Server(c *v1alpha1.ValkeyCluster) (string, error) {
	return write(serverGroups(c), ServerMarker)
}

// Live returns the text of the key <version>.conf of the ConfigMap <cluster>-live:
// directives that CONFIG SET can change, as far as that version knows and accepts
// them, ending with LiveMarker.
func Live(c *v1alpha1.ValkeyCluster, version string) (string, error) {
	return write(liveGroups(c, version), LiveMarker(version))
}

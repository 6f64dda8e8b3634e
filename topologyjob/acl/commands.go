// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/agnivade/levenshtein"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// commandTable has a line for each command, subcommand and @category: its name
// and the first version, of those supported, that knows it. It is derived from
// real servers by the process test, which writes it with -update.
//
//go:embed commands.txt
var commandTable string

// table is the parsed command table.
var table = sync.OnceValue(func() map[string]string {
	names := map[string]string{"@all": v1alpha1.Versions()[0]}
	for line := range strings.Lines(commandTable) {
		if name, first, found := strings.Cut(strings.TrimSpace(line), " "); found {
			names[name] = first
		}
	}
	return names
})

// since returns the first version that knows a command, subcommand or category.
// argument says that it is a command without subcommands and a first argument,
// such as select|0.
func since(command string) (version string, argument, found bool) {
	if version, found = table()[command]; found {
		return version, false, true
	}
	name, _, hasArgument := strings.Cut(command, "|")
	if version, found = table()[name]; !hasArgument || !found || isContainer(name) {
		return "", false, false
	}
	return version, true, true
}

// atLeast compares two supported versions.
func atLeast(version, least string) bool {
	all := v1alpha1.Versions()
	return slices.Index(all, version) >= slices.Index(all, least)
}

func isContainer(command string) bool {
	for name := range table() {
		if strings.HasPrefix(name, command+"|") {
			return true
		}
	}
	return false
}

// closest returns the known name that is nearest to command, or nothing when
// none is near.
func closest(command string) string {
	best, least := "", 3
	for name := range table() {
		distance := levenshtein.ComputeDistance(command, name)
		if distance < least || distance == least && best != "" && name < best {
			best, least = name, distance
		}
	}
	return best
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/nearest"
)

// measured has a line for each command, subcommand and @category: its name and
// the first version, of those supported, that knows it. It is derived from real
// servers by the process test, which writes it with -update.
//
//go:embed commands.txt
var measured string

// table is the parsed table.
var table = sync.OnceValue(func() map[string]string {
	names := map[string]string{"@all": v1alpha1.Versions()[0]}
	for line := range strings.Lines(measured) {
		if name, first, found := strings.Cut(strings.TrimSpace(line), " "); found {
			names[name] = first
		}
	}
	return names
})

// since returns the first version that knows a command, subcommand or category.
// argument says that it is a command without subcommands and a first argument,
// such as select|0.
func since(name string) (version string, argument, found bool) {
	if version, found = table()[name]; found {
		return version, false, true
	}
	command, _, hasArgument := strings.Cut(name, "|")
	if version, found = table()[command]; !hasArgument || !found || isContainer(command) {
		return "", false, false
	}
	return version, true, true
}

func isContainer(command string) bool {
	for name := range table() {
		if strings.HasPrefix(name, command+"|") {
			return true
		}
	}
	return false
}

// closest returns the known name that is nearest to name, or nothing when none is
// near.
func closest(name string) string {
	return nearest.Word(name, slices.Sorted(maps.Keys(table())))
}

// hasForm says whether name, in lower case, has the form of a command, of a
// subcommand or first argument after `|`, or of a category after `@`.
func hasForm(name string) bool {
	first, sub, hasSub := strings.Cut(strings.TrimPrefix(name, "@"), "|")
	return isWord(first) && (!hasSub || isWord(sub) && name[0] != '@')
}

func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

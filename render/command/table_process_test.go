// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/internal/golden"
	"github.com/valkey-render/valkey-render/internal/servertest"
)

// TestProcessCommandTableIsWhatServersKnow derives commands.txt again. 9.0 has no
// server here: it is 9.1 without what is documented to be newer.
func TestProcessCommandTableIsWhatServersKnow(t *testing.T) {
	t.Parallel()
	first := map[string]string{}
	for _, version := range servertest.Versions() {
		for name, introduced := range commandsOf(t, version) {
			if first[name] != "" {
				continue
			}
			first[name] = version
			if version == "9.1" && !strings.HasPrefix(introduced, "9.1") {
				first[name] = "9.0"
			}
		}
	}
	var lines []string
	for name, version := range first {
		lines = append(lines, name+" "+version+"\n")
	}
	slices.Sort(lines)
	golden.File(t, "commands.txt", []byte(strings.Join(lines, "")))
}

// commandsOf returns commands, subcommands and @categories with the version that
// each is documented to be introduced in.
func commandsOf(t *testing.T, version string) map[string]string {
	t.Helper()
	server := servertest.Start(t, version, servertest.Options{})
	names := map[string]string{}
	for _, category := range list(t, server, "ACL", "CAT") {
		names["@"+category.(string)] = ""
	}
	for _, command := range list(t, server, "COMMAND", "LIST") {
		names[command.(string)] = ""
	}
	docs := list(t, server, "COMMAND", "DOCS")
	for i := 0; i+1 < len(docs); i += 2 {
		introduced(names, docs[i].(string), docs[i+1].([]any))
	}
	return names
}

func introduced(names map[string]string, name string, doc []any) {
	for i := 0; i+1 < len(doc); i += 2 {
		switch doc[i] {
		case "since":
			names[name] = doc[i+1].(string)
		case "subcommands":
			sub := doc[i+1].([]any)
			for k := 0; k+1 < len(sub); k += 2 {
				introduced(names, sub[k].(string), sub[k+1].([]any))
			}
		}
	}
}

func list(t *testing.T, server *servertest.Server, command ...string) []any {
	t.Helper()
	reply, err := server.Do(command...)
	if err != nil {
		t.Fatalf("%v: %v", command, err)
	}
	return reply.([]any)
}

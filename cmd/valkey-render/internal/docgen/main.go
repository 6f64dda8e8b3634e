// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Command docgen writes docs/cli.md from the commands themselves.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/command"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
)

// file is the page, seen from the directories of docgen and of command, where
// go generate runs.
const file = "../../../../docs/cli.md"

func main() {
	if err := os.WriteFile(file, page(), 0o666); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// page is docs/cli.md.
func page() []byte {
	sys := system.System{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Files: system.Disk(), Getenv: func(string) string { return "" }}
	root := command.NewRoot(sys, "")
	var b bytes.Buffer
	b.WriteString("<!-- Written by go generate from cmd/valkey-render. -->\n\n# The command line\n\n")
	b.WriteString("Standard output is data, standard error is what is said about it. ")
	b.WriteString("The same text is in `valkey-render COMMAND --help`.\n\n")
	section(&b, root, "##")
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() && cmd.Name() != "help" {
			section(&b, cmd, "##")
		}
	}
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n')
}

func section(b *bytes.Buffer, cmd *cobra.Command, heading string) {
	fmt.Fprintf(b, "%s %s\n\n%s.\n\n", heading, cmd.CommandPath(), strings.TrimRight(cmd.Short, "."))
	if cmd.Runnable() {
		fenced(b, "", cmd.UseLine())
	}
	if cmd.Long != "" {
		b.WriteString(escape(strings.TrimSpace(cmd.Long)) + "\n\n")
	}
	if cmd.Example != "" {
		fenced(b, "sh", unindent(cmd.Example))
	}
	if flags := cmd.NonInheritedFlags(); flags.HasAvailableFlags() {
		fenced(b, "", strings.TrimRight(flags.FlagUsages(), "\n"))
	}
}

func fenced(b *bytes.Buffer, language, text string) {
	fmt.Fprintf(b, "```%s\n%s\n```\n\n", language, text)
}

// escape keeps Markdown from reading flags and lists into plain text.
func escape(text string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`).Replace(text)
}

func unindent(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimPrefix(strings.TrimRight(line, "\n"), "  "))
	}
	return strings.Join(lines, "\n")
}

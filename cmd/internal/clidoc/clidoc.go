// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Package clidoc writes the page of a program's commands from the commands
// themselves.
package clidoc

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Page is the page of a program, as Markdown: title, intro, then a section for the
// program and each of its commands. source is the directory the page is made from.
func Page(root *cobra.Command, source, title, intro string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- Written by go generate from %s. -->\n\n# %s\n\n%s\n\n", source, title, intro)
	section(&b, root)
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() && cmd.Name() != "help" {
			section(&b, cmd)
		}
	}
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n')
}

func section(b *bytes.Buffer, cmd *cobra.Command) {
	fmt.Fprintf(b, "## %s\n\n%s.\n\n", cmd.CommandPath(), strings.TrimRight(cmd.Short, "."))
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

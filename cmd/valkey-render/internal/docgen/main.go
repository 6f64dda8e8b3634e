// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Command docgen writes docs/cli.md from the commands themselves.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/valkey-render/valkey-render/cmd/internal/clidoc"
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
	return clidoc.Page(command.NewRoot(sys, ""), "cmd/valkey-render", "The command line",
		"Standard output is data, standard error is what is said about it. The same text is in `valkey-render COMMAND --help`.")
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Command docgen writes docs/valkey-topology.md from the commands themselves.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/valkey-render/valkey-render/cmd/internal/clidoc"
	"github.com/valkey-render/valkey-render/cmd/valkey-topology/internal/command"
)

// file is the page, seen from the directories of docgen and of command, where
// go generate runs.
const file = "../../../../docs/valkey-topology.md"

func main() {
	if err := os.WriteFile(file, page(), 0o666); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// page is docs/valkey-topology.md.
func page() []byte {
	return clidoc.Page(command.NewRoot(command.System{Out: io.Discard, Err: io.Discard}, ""), "cmd/valkey-topology", "What Jobs run",
		"`valkey-topology` is in the image of the Jobs, at `/valkey-topology`. People can run it too. Standard output is how it ended, standard error is what is said about it. The same text is in `valkey-topology COMMAND --help`.")
}

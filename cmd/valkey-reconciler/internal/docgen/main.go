// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Command docgen writes docs/valkey-reconciler.md from the command itself.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/valkey-render/valkey-render/cmd/internal/clidoc"
	"github.com/valkey-render/valkey-render/cmd/valkey-reconciler/internal/command"
)

// file is the page, seen from the directories of docgen and of command, where
// go generate runs.
const file = "../../../../docs/valkey-reconciler.md"

func main() {
	if err := os.WriteFile(file, page(), 0o666); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// page is docs/valkey-reconciler.md.
func page() []byte {
	return clidoc.Page(command.NewRoot(command.System{Out: io.Discard, Err: io.Discard}, ""), "cmd/valkey-reconciler", "What runs in the cluster",
		"`valkey-reconciler` is in the same image as the programs of the Jobs, at `/valkey-reconciler`. The same text is in `valkey-reconciler --help`.")
}

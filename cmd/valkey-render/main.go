// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Command valkey-render turns ValkeyCluster specs into Kubernetes manifests and
// checks them before they are committed.
package main

import (
	"os"

	"golang.org/x/term"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/command"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
)

// version is set by the release build: -ldflags "-X main.version=v1.2.3".
var version string

// columns is the width of the terminal that standard output is; 0 when it is none.
func columns() int {
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return width
}

func main() {
	sys := system.System{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Files: system.Disk(), Getenv: os.Getenv, Columns: columns,
		Terminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
	os.Exit(command.Main(sys, version, os.Args[1:]))
}

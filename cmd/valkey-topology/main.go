// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Command valkey-topology is what runs inside the Jobs of a cluster: it does one
// thing, tells how it ended, and can be killed and started again anywhere.
package main

import (
	"crypto/rand"
	"os"

	"golang.org/x/term"
	"k8s.io/utils/clock"

	"github.com/valkey-render/valkey-render/cmd/valkey-topology/internal/command"
)

// version is set by the release build: -ldflags "-X main.version=v1.2.3".
var version string

func main() {
	os.Exit(command.Main(command.System{
		Out: os.Stdout, Err: os.Stderr, Terminal: term.IsTerminal(int(os.Stderr.Fd())),
		Getenv: os.Getenv, Files: command.Disk(), Random: rand.Reader, Clock: clock.RealClock{},
	}, version, os.Args[1:]))
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Command valkey-render turns ValkeyCluster specs into Kubernetes manifests and
// checks them before they are committed.
package main

import (
	"os"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/command"
	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
)

// version is set by the release build: -ldflags "-X main.version=v1.2.3".
var version string

func main() {
	sys := system.System{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Files: system.Disk(), Getenv: os.Getenv}
	os.Exit(command.Main(sys, version, os.Args[1:]))
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

// Command valkey-reconciler watches the ValkeyClusters of a Kubernetes cluster: it writes
// their status, starts the Jobs that they need, and replaces their pods in order.
package main

import (
	"crypto/rand"
	"os"

	"k8s.io/utils/clock"

	"github.com/valkey-render/valkey-render/cmd/valkey-reconciler/internal/command"
)

// version is set by the release build: -ldflags "-X main.version=v1.2.3".
var version string

func main() {
	os.Exit(command.Main(command.System{
		Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Hostname: os.Hostname, ReadFile: os.ReadFile,
		Random: rand.Reader, Clock: clock.RealClock{},
	}, version, os.Args[1:]))
}

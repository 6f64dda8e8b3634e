// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package servertest

import "os/exec"

// dieWithParent needs Linux, as the servers themselves do.
func dieWithParent(*exec.Cmd) {}

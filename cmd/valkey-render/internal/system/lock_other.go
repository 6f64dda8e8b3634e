// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix || solaris || illumos || aix

package system

import "context"

// lock locks nothing: this system has no locks for directories.
func lock(context.Context, string) (unlock func(), locked bool, err error) {
	return func() {}, false, nil
}

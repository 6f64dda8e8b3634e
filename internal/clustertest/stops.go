// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustertest

import (
	"iter"
	"slices"
	"testing"

	"github.com/valkey-render/valkey-render/internal/servertest"
)

// Stops are after how many commands a run is to be stopped, without an end: 0, 1, 2, … In a
// short test the versions share them, so that each command is one to stop after on one of
// them. With a stride only every so manieth is.
func Stops(version string, stride int) iter.Seq[int] {
	first := 0
	if testing.Short() {
		first = stride * max(0, slices.Index(servertest.Versions(), version))
		stride *= len(servertest.Versions())
	}
	return func(yield func(int) bool) {
		for after := first; yield(after); after += stride {
		}
	}
}

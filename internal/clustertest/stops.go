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
// short test its versions share them, so that each command is one to stop after on one of
// them. With a stride only every so manieth is.
func Stops(tb testing.TB, version string, stride int) iter.Seq[int] {
	first := 0
	if testing.Short() {
		versions := servertest.Sample(tb)
		first = stride * max(0, slices.Index(versions, version))
		stride *= len(versions)
	}
	return func(yield func(int) bool) {
		for after := first; yield(after); after += stride {
		}
	}
}

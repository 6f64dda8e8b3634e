// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/valkey-render/valkey-render/internal/golden"
)

func TestPageIsUpToDate(t *testing.T) {
	golden.File(t, file, page())
}

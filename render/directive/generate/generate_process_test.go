// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/internal/servertest"
)

func TestProcessTableIsWhatTheServersSay(t *testing.T) {
	want, err := generate(servertest.Dir(t))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../directives.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("go generate ./render/directive would change directives.json (- measured, + checked in):\n%s", diff)
	}
}

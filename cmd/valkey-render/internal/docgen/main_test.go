// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite docs/cli.md")

func TestPageIsUpToDate(t *testing.T) {
	file := filepath.Join("..", "..", "..", "..", "docs", "cli.md")
	if *update {
		if err := os.WriteFile(file, page(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(committed), string(page())); diff != "" {
		t.Errorf("docs/cli.md is out of date: run go generate ./cmd/... (-committed +generated)\n%s", diff)
	}
}

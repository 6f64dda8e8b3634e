// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package parts_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/parts"
)

func TestSourceIsTheSameFromAnywhereInACheckout(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(here, "..", "..", "..")
	for in, dirs := range map[string][]string{
		here:                      {".", "..", here},
		want:                      {".", want, "localcluster"},
		filepath.Join(want, ".."): {".", "test", "docs"},
	} {
		t.Chdir(in)
		for _, dir := range dirs {
			if got, err := parts.FindSource(dir); got != want || err != nil {
				t.Errorf("%s in %s: %s, %v", dir, in, got, err)
			}
		}
	}
}

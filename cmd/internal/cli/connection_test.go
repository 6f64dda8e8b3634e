// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io/fs"
	"testing"
	"testing/fstest"
)

func TestTheNamespaceOfAPodIsItsOwn(t *testing.T) {
	const file = "var/run/secrets/kubernetes.io/serviceaccount/namespace"
	for want, files := range map[string]fstest.MapFS{
		"shop":    {file: {Data: []byte("shop\n")}},
		"default": {},
	} {
		read := func(name string) ([]byte, error) { return fs.ReadFile(files, name[1:]) }
		if got := podNamespace(read); got != want {
			t.Errorf("namespace %q, want %q", got, want)
		}
	}
}

func TestAnEmptyNamespaceFileIsNoNamespace(t *testing.T) {
	if got := podNamespace(func(string) ([]byte, error) { return []byte("\n"), nil }); got != "default" {
		t.Errorf("namespace %q", got)
	}
}

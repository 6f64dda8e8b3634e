// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const tried1 = `apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: cache, namespace: shop}
spec: {topology: Standalone, version: "9.1"}
`

func TestTryRefusesWhatItCannotRun(t *testing.T) {
	s := newSession(t, map[string]string{
		"spec.yaml": tried1, "wrong.yaml": tried1 + "specs: {}\n",
		"two.yaml": tried1 + "---\n" + strings.Replace(tried1, "cache", "other", 1),
		"old.yaml": strings.Replace(tried1, "9.1", "8.1", 1),
	})
	for _, name := range []string{"valkey-server", "valkey-cli"} {
		s.write(filepath.Join("bin", name), "#!/bin/sh\necho Valkey server v=8.1.4 sha=0\n")
		if err := os.Chmod(filepath.Join("bin", name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.env["PATH"] = "/nowhere"
	for line, want := range map[string]string{
		"try":                                              "nothing to read: name a file",
		"try spec.yaml":                                    `operand "spec.yaml" is not understood`,
		"try -f spec.yaml":                                 "valkey-server: not on PATH. Install it",
		"try -f spec.yaml --server none":                   "none: no valkey-server there, in bin, or in 9.1/bin",
		"try -f spec.yaml --server .":                      "version 8.1.4, and the spec asks for 9.1: name the directory of a server of 9.1 with --server, or try the spec as if it asked for 8.1 with --as-version 8.1",
		"try -f wrong.yaml":                                "1 error, 0 warnings; nothing was started",
		"try -f two.yaml":                                  "the input holds 2 clusters (cache, other): try one at a time",
		"try -f spec.yaml --once -- true":                  "--once takes no command",
		"try -f spec.yaml --":                              "there is no command after --",
		"try -f spec.yaml --as-version 7.2":                "--as-version 7.2: must be one of 8.0, 8.1, 9.0, 9.1",
		"try -f spec.yaml --port 80":                       "--port 80: must be from 1024 to 55535",
		"try -f spec.yaml --port 0":                        "--port 0: must be from 1024 to 55535",
		"try -f spec.yaml --dir=":                          "must not be empty",
		"try -f spec.yaml --output yaml":                   "must be one of text, json",
		"try -f old.yaml --server . --module json=none.so": "none.so: no such file",
	} {
		got := s.run(strings.Fields(line)...)
		if got.code != exitError || !strings.Contains(got.err, want) || got.out != "" {
			t.Errorf("%s: exit code %d\n%s%s\nlacks %q", line, got.code, got.out, got.err, want)
		}
	}
}

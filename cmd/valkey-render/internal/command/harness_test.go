// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
)

// invocation is what became of one command line.
type invocation struct {
	code     int
	out, err string
}

// session runs command lines in a directory of their own, through the real
// command tree.
type session struct {
	t     *testing.T
	stdin io.Reader
	files system.Files
	env   map[string]string
}

// newSession lays files in a new working directory.
func newSession(t *testing.T, files map[string]string) *session {
	t.Helper()
	t.Chdir(t.TempDir())
	s := &session{t: t, stdin: strings.NewReader(""), files: system.Disk(), env: map[string]string{}}
	for name, text := range files {
		s.write(name, text)
	}
	return s
}

func (s *session) write(name, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) read(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

func (s *session) run(args ...string) invocation {
	s.t.Helper()
	return s.runIn(s.t.Context(), args...)
}

func (s *session) runIn(ctx context.Context, args ...string) invocation {
	s.t.Helper()
	var out, err bytes.Buffer
	sys := system.System{
		In: s.stdin, Out: &out, Err: &err, Files: s.files,
		Getenv: func(name string) string { return s.env[name] },
	}
	code := Run(ctx, sys, "v1.2.3", args)
	return invocation{code, out.String(), err.String()}
}

// must runs a command line that has to end with a code.
func (s *session) must(code int, args ...string) invocation {
	s.t.Helper()
	got := s.run(args...)
	if got.code != code {
		s.t.Fatalf("valkey-render %s: exit %d, not %d\n%s%s", strings.Join(args, " "), got.code, code, got.out, got.err)
	}
	return got
}

// transcript is a session as one would see it in a terminal.
func (s *session) transcript(lines ...string) string {
	s.t.Helper()
	var b strings.Builder
	for _, line := range lines {
		got := s.run(words(line)...)
		fmt.Fprintf(&b, "$ valkey-render %s\n", line)
		for _, stream := range []struct{ name, text string }{{"stdout", got.out}, {"stderr", got.err}} {
			if stream.text != "" {
				fmt.Fprintf(&b, "[%s]\n%s", stream.name, stream.text)
			}
		}
		fmt.Fprintf(&b, "[exit %d]\n\n", got.code)
	}
	return b.String()
}

// words splits a line at spaces, outside of single quotes.
func words(line string) []string {
	var out []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}

// smallest is the least one can write.
const smallest = `apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata:
  name: cache
  namespace: shop
spec:
  topology: Standalone
  image: docker.io/valkey/valkey:9.1.2
  resources: {limits: {memory: 1Gi}}
`

// wrong has several errors at known places.
const wrong = `apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata:
  name: cache
  namespace: shop
spec:
  shard: 3
  config:
    maxmemory-polcy: allkeys-lru
    io-threads: "900"
`

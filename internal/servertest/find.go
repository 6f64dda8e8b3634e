// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Versions are the minor versions that have a real server, oldest first.
func Versions() []string { return []string{"8.0", "8.1", "9.1"} }

// Sample are the versions that a test is for: all, in a short one a single one.
func Sample(tb testing.TB) []string { return Share(tb, Versions()) }

// Share is the part of what a test would do that it does: all of it, in a short one a single
// thing. The name of the test says which, so that all are done by one test or another.
func Share(tb testing.TB, of []string) []string {
	if !testing.Short() {
		return of
	}
	name, _, _ := strings.Cut(tb.Name(), "/")
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name))
	i := int(hash.Sum32()) % len(of)
	return of[i : i+1 : i+1]
}

// Find returns the directory that holds <version>/bin and tools/bin: VALKEY_SERVERS
// when set, else what test/servers/fetch.sh prints, which downloads them the first
// time. The script is looked for in the working directory and its parents.
func Find() (string, error) {
	if dir := os.Getenv("VALKEY_SERVERS"); dir != "" {
		if _, err := os.Stat(filepath.Join(dir, "9.1", "bin", "valkey-server")); err != nil {
			return "", fmt.Errorf("VALKEY_SERVERS=%s holds no servers, run test/servers/fetch.sh: %w", dir, err)
		}
		return dir, nil
	}
	script, err := fetchScript()
	if err != nil {
		return "", err
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(script)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("fetching valkey servers failed, run test/servers/fetch.sh: %w\n%s", err, stderr.String())
	}
	return strings.TrimSpace(stdout.String()), nil
}

func fetchScript() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("working directory: %w", err)
	}
	for {
		script := filepath.Join(dir, "test", "servers", "fetch.sh")
		if _, err := os.Stat(script); err == nil {
			return script, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("test/servers/fetch.sh is in no parent directory, set VALKEY_SERVERS to what it prints")
		}
		dir = parent
	}
}

// Dir is Find for tests.
func Dir(tb testing.TB) string {
	tb.Helper()
	dir, err := Find()
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// Program is the path of valkey-server, valkey-cli, valkey-sentinel,
// valkey-check-rdb, valkey-check-aof or valkey-benchmark of a version.
func Program(tb testing.TB, version, name string) string {
	tb.Helper()
	return program(tb, version, name)
}

// Tool is the path of dash, busybox or shellcheck.
func Tool(tb testing.TB, name string) string {
	tb.Helper()
	return program(tb, "tools", name)
}

func program(tb testing.TB, group, name string) string {
	tb.Helper()
	path := filepath.Join(Dir(tb), group, "bin", name)
	if _, err := os.Stat(path); err != nil {
		tb.Fatalf("%s of %s is missing, run test/servers/fetch.sh: %v", name, group, err)
	}
	return path
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/render/load"
)

func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "trial")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// programs is a directory with programs that do nothing.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program(t, filepath.Join(dir, serverProgram), "exit 1")
	program(t, filepath.Join(dir, clientProgram), "exit 1")
	return dir
}

func program(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestServersAreFoundByVersion(t *testing.T) {
	says := func(version string) string {
		return "echo 'Valkey server v=" + version + " sha=00000000:0 malloc=jemalloc'"
	}
	root := t.TempDir()
	at := func(dir string) string { return filepath.Join(root, dir) }
	for dir, text := range map[string]string{
		"path": says("9.1.2"), "old": says("8.1.4"), "many/9.1/bin": says("9.1.0"), "many/8.0/bin": says("8.0.1"),
		"prefix/bin": says("9.1.7"), "broken": "echo oops; exit 3", "silent": "echo",
	} {
		program(t, filepath.Join(at(dir), serverProgram), text)
		program(t, filepath.Join(at(dir), clientProgram), "exit 0")
	}
	program(t, filepath.Join(at("alone"), serverProgram), says("9.1.0"))
	for _, c := range []struct{ dir, path, version, want, err string }{
		{path: at("none") + ":" + at("path") + ":" + at("old"), version: "9.1", want: at("path")},
		{path: at("old") + ":" + at("path"), version: "9.1", err: "version 8.1.4, and the spec asks for 9.1"},
		{path: at("none"), version: "9.1", err: "not on PATH"},
		{dir: at("many"), version: "9.1", want: at("many/9.1/bin")},
		{dir: at("many"), version: "8.0", want: at("many/8.0/bin")},
		{dir: at("many"), version: "8.1", err: "no valkey-server there"},
		{dir: at("prefix"), version: "9.1", want: at("prefix/bin")},
		{dir: at("path"), path: at("old"), version: "9.1", want: at("path")},
		{dir: at("alone"), version: "9.1", err: "no valkey-cli beside it"},
		{dir: at("broken"), version: "9.1", err: "--version failed: exit status 3: oops"},
		{dir: at("silent"), version: "9.1", err: "says no version"},
	} {
		got, err := FindPrograms(t.Context(), c.dir, c.path, c.version)
		if c.err == "" && (err != nil || got != c.want) {
			t.Errorf("%+v: %s, %v", c, got, err)
		}
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	_, err := FindPrograms(t.Context(), at("old"), "", "9.1")
	if other, ok := errors.AsType[*VersionError](err); !ok || other.Minor() != "8.1" || other.Wanted != "9.1" {
		t.Errorf("%#v", err)
	}
}

func TestWordsAreQuotedForAShell(t *testing.T) {
	for word, want := range map[string]string{
		"/tmp/x-1.y": "/tmp/x-1.y", "a b": "'a b'", "": "''", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "ä": "'ä'",
	} {
		if got := shellWord(word); got != want {
			t.Errorf("%q is %s, not %s", word, got, want)
		}
	}
}

func TestEnvironmentHoldsWhatClientsNeed(t *testing.T) {
	c := Connection{
		Topology: "Cluster", Addresses: []string{"127.16.0.1:6379", "127.16.0.2:6379"}, Primary: "127.16.0.1:6379",
		Username: "default", PasswordFile: "/d/p", CAFile: "/d/ca", password: "a/b@c d",
	}
	want := []string{
		"VALKEY_ADDRESSES=127.16.0.1:6379,127.16.0.2:6379", "VALKEY_CA_FILE=/d/ca", "VALKEY_PASSWORD=a/b@c d", "VALKEY_PASSWORD_FILE=/d/p",
		"VALKEY_TOPOLOGY=Cluster", "VALKEY_URL=valkeys://default:a%2Fb%40c%20d@127.16.0.1:6379", "VALKEY_USERNAME=default",
	}
	if diff := cmp.Diff(want, c.Environment()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if text := fmt.Sprintf("%+v", c.Addresses) + c.command("valkey-cli", edit(t, "9.1").Cluster); strings.Contains(text, c.password) {
		t.Errorf("the password shows: %s", text)
	}
}

func TestOneClusterIsTriedAtATime(t *testing.T) {
	two := parse(t, edited1("a")+"\n---\n"+edited1("b"))
	if _, err := Render(two, Override{}); err == nil || !strings.Contains(err.Error(), "2 clusters (a, b)") {
		t.Error(err)
	}
	if _, err := Render(load.Set{}, Override{}); err == nil || !strings.Contains(err.Error(), "no ValkeyCluster") {
		t.Error(err)
	}
}

func edited1(name string) string {
	return "apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: " + name + "}\nspec: {topology: Standalone}"
}

func TestOverridesReachTheRendering(t *testing.T) {
	set := parse(t, edited1("a"))
	r, err := Render(set, Override{Version: "8.0", Port: 7000})
	if err != nil || r.Findings.HasErrors() {
		t.Fatal(err, r.Findings)
	}
	if r.Cluster.ServerVersion() != "8.0" || r.Cluster.Port() != 7000 {
		t.Errorf("%s, %d", r.Cluster.ServerVersion(), r.Cluster.Port())
	}
	if set.Clusters[0].Object.Spec.Networking != nil {
		t.Error("the set was changed")
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Comments above a fenced block say what the tests do with it:
//
//	file: NAME   it is the content of that file
//	run          it is run by sh, and exits with 0
//	run: STATUS  and exits with that status
//	output       it is what the block run before has printed; a line … stands
//	             for any number of lines
//
// The blocks of a page share one directory and run in their order.

// program builds valkey-render and returns the directory it is in.
func program(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "valkey-render"), "./cmd/valkey-render")
	build.Dir = root
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return dir
}

func TestCommandsOfThePagesRun(t *testing.T) {
	bin, ran := program(t), 0
	for name, p := range pages(t) {
		for _, f := range p.Fences {
			if f.Comment != "" {
				ran++
				t.Run(strings.TrimSuffix(filepath.Base(name), ".md"), func(t *testing.T) { follow(t, p, bin) })
				break
			}
		}
	}
	if ran < 6 {
		t.Errorf("only %d pages have commands", ran)
	}
}

// follow does what a page says; the program is in bin.
func follow(t *testing.T, p page, bin string) {
	t.Parallel()
	dir := t.TempDir()
	said := ""
	for _, f := range p.Fences {
		what, argument, _ := strings.Cut(f.Comment, ": ")
		switch what {
		case "":
		case "file":
			store(t, filepath.Join(dir, filepath.FromSlash(argument)), f.Text)
		case "run":
			want, _ := strconv.Atoi(argument)
			var status int
			said, status = shell(t, bin, dir, f.Text)
			if status != want {
				t.Fatalf("%s:%d: exit status %d, want %d:\n%s", p.Path, f.Line, status, want, said)
			}
		case "output":
			if !matches(f.Text, said) {
				t.Errorf("%s:%d: this was printed:\n%s", p.Path, f.Line, said)
			}
		default:
			t.Errorf("%s:%d: the tests do not know the comment %q", p.Path, f.Line, f.Comment)
		}
	}
}

func store(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// shell runs a block; what it prints is both streams as a terminal shows them.
func shell(t *testing.T, bin, dir, text string) (said string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-euc", text)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(out), 0
}

// matches compares line by line; … in want is any number of lines, none included.
func matches(want, got string) bool {
	return matchLines(strings.Split(strings.TrimSpace(want), "\n"), strings.Split(strings.TrimSpace(got), "\n"))
}

func matchLines(want, got []string) bool {
	for len(want) > 0 {
		if want[0] == "…" {
			for i := range len(got) + 1 {
				if matchLines(want[1:], got[i:]) {
					return true
				}
			}
			return false
		}
		if len(got) == 0 || want[0] != got[0] {
			return false
		}
		want, got = want[1:], got[1:]
	}
	return len(got) == 0
}

// TestTheDemoRuns: it compares every exit code with what it says, and shows the plan.
func TestTheDemoRuns(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "bash", "examples/demo.sh")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "VALKEY_RENDER_BIN="+program(t))
	out, err := cmd.CombinedOutput()
	for _, want := range []string{"plan: shop/sessions: live: timeout: ", "plan: shop/sessions: rolls: 6 pods of shards 0-2", "once the reconciler has moved its slots away", "error VR0605", "error VR0201"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q", want)
		}
	}
	if err != nil || t.Failed() {
		t.Errorf("%v: %s", err, out)
	}
}

// TestProcessTheDemoRunsServers: the second half of it, on real servers.
func TestProcessTheDemoRunsServers(t *testing.T) {
	t.Parallel()
	bin := program(t)
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "demo"), "./internal/demo")
	build.Dir = root
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "examples/demo-servers.sh")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "VALKEY_RENDER_BIN="+bin)
	out, err := cmd.CombinedOutput()
	for _, want := range []string{
		"10000 keys written through a cluster client", "timeout is 60 on every server", "every primary has its replica in sync",
		"primary 10923-16383", "10000 keys read through a cluster client",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q", want)
		}
	}
	if err != nil || t.Failed() {
		t.Errorf("%v: %s", err, out)
	}
}

// TestTheEmbeddingExampleRuns: the program of the page on embedding compiles in this
// module and renders.
func TestTheEmbeddingExampleRuns(t *testing.T) {
	dir := files(t, "docs/guide/embedding.md")
	cmd := exec.CommandContext(t.Context(), "go", "run", filepath.Join(dir, "main.go"), "examples/smallest-cache/cluster.yaml")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "kind: StatefulSet\n") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestTheKustomizeFunctionRuns: kustomize renders with the function of the page on
// Argo CD.
func TestTheKustomizeFunctionRuns(t *testing.T) {
	t.Setenv("PATH", program(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	options := krusty.MakeDefaultOptions()
	options.PluginConfig = types.EnabledPluginConfig(types.BploUseStaticallyLinked)
	options.PluginConfig.FnpLoadingOptions.EnableExec = true
	built, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), filepath.Join(files(t, "docs/guide/argocd.md"), "specs"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := built.AsYaml()
	if err != nil || !strings.Contains(string(text), "kind: StatefulSet\n") || strings.Contains(string(text), "config.kubernetes.io/") {
		t.Errorf("%v: %s", err, text)
	}
}

// files stores the files of a page in a new directory.
func files(t *testing.T, path string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range read(t, path).Fences {
		if name, is := strings.CutPrefix(f.Comment, "file: "); is {
			store(t, filepath.Join(dir, filepath.FromSlash(name)), f.Text)
		}
	}
	return dir
}

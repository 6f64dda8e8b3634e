// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/internal/golden"
)

// everyCommand calls do for the root and all below.
func everyCommand(do func(*cobra.Command)) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		do(cmd)
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	walk(NewRoot(system.System{}, ""))
}

// TestUsage pins how operands are spelled and which flags there are: changing
// either breaks someone's pipeline.
func TestUsage(t *testing.T) {
	var got []string
	everyCommand(func(cmd *cobra.Command) {
		got = append(got, cmd.UseLine())
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" {
				got = append(got, "  -"+f.Shorthand+" --"+f.Name+" "+f.Value.Type()+" = "+f.DefValue)
			}
		})
	})
	golden.Dir(t, "testdata/usage", map[string][]byte{"usage.txt": []byte(strings.Join(got, "\n") + "\n")})
}

func TestEveryCommandHasHelpWithAnExample(t *testing.T) {
	everyCommand(func(cmd *cobra.Command) {
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: Short is %q", cmd.CommandPath(), cmd.Short)
		}
		if !strings.Contains(cmd.Example, "valkey-render") {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Long + "\n" + cmd.Example) {
			if len(line) > 81 {
				t.Errorf("%s: line is too long for a terminal: %s", cmd.CommandPath(), line)
			}
		}
		s := newSession(t, nil)
		got := s.must(exitOK, append(strings.Fields(strings.TrimPrefix(cmd.CommandPath(), "valkey-render")), "--help")...)
		if got.err != "" || !strings.Contains(got.out, cmd.Example) {
			t.Errorf("%s --help:\n%s%s", cmd.CommandPath(), got.out, got.err)
		}
	})
}

// TestExamplesAreUnderstood: every example line names commands and flags that
// there are.
func TestExamplesAreUnderstood(t *testing.T) {
	everyCommand(func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Example) {
			_, rest, ok := strings.Cut(line, "valkey-render ")
			if !ok || strings.Contains(line, "# ") {
				continue
			}
			rest = strings.NewReplacer(`"`, "'", ")", "").Replace(rest)
			rest, _, _ = strings.Cut(rest, "|")
			rest, _, _ = strings.Cut(rest, "> ")
			rest, _, _ = strings.Cut(rest, "< ")
			root := NewRoot(system.System{}, "")
			found, args, err := root.Find(words(rest))
			if err == nil {
				err = found.ParseFlags(args)
			}
			if err != nil || found == root {
				t.Errorf("%s: example %q: %v", cmd.CommandPath(), line, err)
			}
		}
	})
}

// TestTranscripts pins what is said, on which stream, and with which exit code.
func TestTranscripts(t *testing.T) {
	type files = map[string]string
	transcripts := map[string][]byte{}
	for name, c := range map[string]struct {
		files files
		lines []string
	}{
		"usage": {lines: []string{
			"biuld", "build --nope", "build", "build cluster.yaml", "build -o xml -f a.yaml", "build -o json -d out -f a.yaml",
			"build -o krm -f a.yaml", "build -d '' -f a.yaml", "build -f", "validate --fail-on never -f a.yaml",
			"check -f a.yaml", "check -f a.yaml one two", "check one", "version x", "schema --kind ValkeyNode",
			"explain one two", "directives one two", "completion", "completion tcsh", "build -f a.yaml --timeout soon",
			"build -f a.yaml --timeout -1s", "--nope", "help biuld", "help build extra",
		}},
		"unreadable": {files: files{"empty/notes.txt": "", "k/x.yaml": ""}, lines: []string{
			"build -f nope.yaml -f empty -k k -k gone", "validate -f nope.yaml -o github", "check -f nope.yaml out",
		}},
		"wrong": {files: files{"a/wrong.yaml": wrong, "a/other.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n"}, lines: []string{
			"validate -f a", "validate -f a -o json", "validate -f a -o github", "build -f a", "build -f a -d out", "check -f a out --update",
		}},
		"other-kinds": {files: files{"other.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n"}, lines: []string{
			"validate -f other.yaml", "validate -f other.yaml --ignore-other-kinds",
		}},
		"in-the-way": {files: files{
			"a.yaml": smallest, "file": "", "out/statefulset-cache-0.yaml": "mine: true\n", "out/service-cache.yaml/x": "", "golden.yaml/x": "",
		}, lines: []string{
			"build -f a.yaml -d file", "build -f a.yaml -d file/below", "build -f a.yaml -d out", "check -f a.yaml out --update",
			"check -f a.yaml file/below", "check -f a.yaml file/golden.yaml --update", "check -f a.yaml nope/golden.yaml",
		}},
		"explain": {lines: []string{
			"explain shards", "explain vkacl.spec.users.keys --recursive", "explain config.maxmemory", "explain spec.shard",
		}},
		"directives": {lines: []string{
			"directives maxmemory-policy", "directives PORT", "directives slaveof", "directives 'repl-d*' --version 8.0",
			"directives appendfsync -o yaml", "directives hash-max-listpack -o json", "directives maxmemory-polcy", "directives '['",
			"directives --class reserved aclfile", "directives --class live aclfile", "directives --version 7.2", "directives --sentinel parallel-syncs",
			"directives --sentinel monitr",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			transcripts[name+".txt"] = []byte(newSession(t, c.files).transcript(c.lines...))
		})
	}
	golden.Dir(t, "testdata/transcripts", transcripts)
}

func TestChoicesAreCompleted(t *testing.T) {
	s := newSession(t, nil)
	for line, want := range map[string]string{
		"__complete build --output ''":          "yaml json krm :4",
		"__complete validate --fail-on ''":      "error warning :4",
		"__complete directives maxmemory-p":     "maxmemory-policy :4",
		"__complete explain spec.tls.sec":       "spec.tls.secretName :6",
		"__complete explain vkacl":              ":6",
		"__complete explain valkeyacl.spec.us":  "valkeyacl.spec.users :6",
		"__complete completion ''":              "bash fish powershell zsh :4",
		"__complete directives --version ''":    "9.1 9.0 8.1 8.0 :4",
		"__complete schema --kind ''":           "all ValkeyCluster ValkeyACL :4",
		"__complete check --output ''":          "diff text json sarif github :4",
		"__complete explain spec.memory.maxmem": "spec.memory.maxmemoryPercent :6",
	} {
		got := s.run(words(line)...)
		if diff := cmp.Diff(want, strings.Join(strings.Fields(got.out), " ")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", line, diff)
		}
	}
}

func TestCompletionScripts(t *testing.T) {
	s := newSession(t, nil)
	for _, shell := range []string{"bash", "fish", "powershell", "zsh"} {
		if got := s.must(exitOK, "completion", shell); !strings.Contains(got.out, "__complete") || got.err != "" {
			t.Errorf("%s: %d bytes, %s", shell, len(got.out), got.err)
		}
	}
}

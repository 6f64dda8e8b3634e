// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/write"
)

// identities are "Kind/namespace/name" of the objects in a YAML stream.
func identities(t *testing.T, stream string) []string {
	t.Helper()
	var out []string
	for _, document := range strings.Split("\n"+stream, "\n---\n") {
		var object struct {
			Kind     string
			Metadata struct{ Name, Namespace string }
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		if object.Kind != "" {
			out = append(out, object.Kind+"/"+object.Metadata.Namespace+"/"+object.Metadata.Name)
		}
	}
	return out
}

func TestBuildWritesManifestsToStandardOutput(t *testing.T) {
	s := newSession(t, map[string]string{"a.yaml": smallest, "b.yaml": strings.ReplaceAll(smallest, "cache", "other")})
	got := s.must(exitOK, "build", "-f", "a.yaml", "-f", "b.yaml")
	all := strings.Join(identities(t, got.out), " ")
	for _, want := range []string{"StatefulSet/shop/cache-0", "StatefulSet/shop/other-0"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
	if shuffled := s.must(exitOK, "build", "-f", "b.yaml", "-f", "a.yaml"); shuffled.out != got.out {
		t.Error("the order of the input changes the output")
	}
	if directory := s.must(exitOK, "build", "-f", "."); directory.out != got.out {
		t.Error("a directory renders differently from its files")
	}
	s.stdin = strings.NewReader(smallest + "---\n" + s.read("b.yaml"))
	if piped := s.must(exitOK, "build", "-f", "-"); piped.out != got.out {
		t.Error("standard input renders differently from files")
	}
}

func TestBuildJSONIsAListOfTheSameObjects(t *testing.T) {
	s := newSession(t, map[string]string{"a.yaml": smallest})
	var list struct {
		APIVersion, Kind string
		Items            []struct {
			Kind     string
			Metadata struct{ Name, Namespace string }
		}
	}
	if err := json.Unmarshal([]byte(s.must(exitOK, "build", "-f", "a.yaml", "-o", "json").out), &list); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, item := range list.Items {
		got = append(got, item.Kind+"/"+item.Metadata.Namespace+"/"+item.Metadata.Name)
	}
	if diff := cmp.Diff(identities(t, s.must(exitOK, "build", "-f", "a.yaml").out), got); diff != "" || list.APIVersion+list.Kind != "v1List" {
		t.Errorf("%s%s (-yaml +json)\n%s", list.APIVersion, list.Kind, diff)
	}
}

func TestBuildGivesTheNamespace(t *testing.T) {
	s := newSession(t, map[string]string{"a.yaml": strings.Replace(smallest, "  namespace: shop\n", "", 1), "b.yaml": smallest})
	for _, id := range identities(t, s.must(exitOK, "build", "-f", "a.yaml", "-n", "web").out) {
		if !strings.Contains(id, "/web/") {
			t.Errorf("%s is not in namespace web", id)
		}
	}
	if got := s.must(exitError, "build", "-f", "b.yaml", "-n", "web"); got.out != "" || !strings.Contains(got.err, "VR0405") {
		t.Errorf("another namespace: %s%s", got.out, got.err)
	}
}

func TestBuildKeepsAnOutputDirectory(t *testing.T) {
	s := newSession(t, map[string]string{
		"specs/a.yaml": smallest, "specs/b.yaml": strings.ReplaceAll(smallest, "cache", "other"),
		"out/kustomization.yaml": "resources: []\n", "out/statefulset-mine.yaml": "kind: StatefulSet\n",
	})
	s.must(exitOK, "build", "-f", "specs", "-d", "out")
	before := listed(t, "out")
	if len(before) < 6 {
		t.Errorf("only %v", before)
	}
	got := s.must(exitOK, "build", "-f", "specs", "-d", "out")
	if got.out != "" || !strings.Contains(got.err, "out: 0 written,") {
		t.Errorf("the second build: %s%s", got.out, got.err)
	}
	got = s.must(exitOK, "build", "-f", "specs/a.yaml", "-d", "out")
	after := listed(t, "out")
	for _, name := range after {
		if strings.Contains(name, "other") {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range []string{"kustomization.yaml", "statefulset-mine.yaml"} {
		if strings.HasPrefix(s.read("out/"+name), write.Header) {
			t.Errorf("%s was written", name)
		}
	}
	if !strings.Contains(got.err, "out: removed ") || len(after) >= len(before) {
		t.Errorf("nothing was removed: %s", got.err)
	}
}

func listed(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestBuildWithErrorsWritesNothing(t *testing.T) {
	s := newSession(t, map[string]string{"a.yaml": smallest, "b.yaml": wrong})
	for _, args := range [][]string{{"-d", "out"}, {"-o", "yaml"}, {"-o", "json"}} {
		got := s.must(exitError, append([]string{"build", "-f", "a.yaml", "-f", "b.yaml"}, args...)...)
		if got.out != "" {
			t.Errorf("%v: %s", args, got.out)
		}
	}
	if _, err := os.Stat("out"); err == nil {
		t.Error("the output directory was made")
	}
}

func TestBuildRefusesToWriteIntoItsInput(t *testing.T) {
	s := newSession(t, map[string]string{"specs/a.yaml": smallest, "specs/deep/b.yaml": smallest})
	for _, args := range [][]string{
		{"build", "-f", "specs", "-d", "specs"},
		{"build", "-f", "specs/", "-d", "./specs/../specs"},
		{"build", "-R", "-f", "specs", "-d", "specs/rendered"},
		{"check", "-f", "specs", "specs", "--update"},
		{"check", "-f", "specs/a.yaml", "specs/a.yaml", "--update"},
		{"check", "-f", "specs", "specs/golden.yaml", "--update"},
	} {
		if got := s.must(exitError, args...); !strings.Contains(got.err, "is read as input by") {
			t.Errorf("%v: %s", args, got.err)
		}
	}
	s.must(exitOK, "build", "-f", "specs", "-d", "specs/rendered")
	if s.read("specs/a.yaml") != smallest {
		t.Error("the input was changed")
	}
}

func TestBuildAnEnvironment(t *testing.T) {
	s := newSession(t, map[string]string{
		"base/cluster.yaml": smallest, "base/kustomization.yaml": "resources: [cluster.yaml]\n",
		"dev/kustomization.yaml":  "resources: [../base]\nnamePrefix: dev-\nnamespace: dev\n",
		"prod/kustomization.yaml": "resources: [../base]\nnamespace: prod\n",
	})
	all := strings.Join(identities(t, s.must(exitOK, "build", "-k", "dev", "-k", "prod", "-f", "base").out), " ")
	for _, want := range []string{"StatefulSet/dev/dev-cache-0", "StatefulSet/prod/cache-0", "StatefulSet/shop/cache-0"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
	s.must(exitOK, "build", "-k", "dev", "-k", "prod", "-d", "out")
	if diff := cmp.Diff([]string{"dev", "prod"}, listed(t, "out")); diff != "" {
		t.Errorf("folders of namespaces (-want +got)\n%s", diff)
	}
	s.must(exitOK, "check", "-k", "dev", "-k", "prod", "out")
	// One environment less: its folder goes.
	s.must(exitOK, "build", "-k", "prod", "-k", "base", "-d", "out")
	if diff := cmp.Diff([]string{"prod", "shop"}, listed(t, "out")); diff != "" {
		t.Errorf("folders of namespaces (-want +got)\n%s", diff)
	}
}

// broken is a pipe whose reader is gone, or a full disk.
type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestStandardOutputThatFails(t *testing.T) {
	s := newSession(t, map[string]string{"a.yaml": smallest})
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"closed pipe is no news": {&os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}, ""},
		"full disk is":           {&os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}, "valkey-render: standard output: write /dev/stdout: no space left on device\n"},
	} {
		for _, args := range [][]string{{"build", "-f", "a.yaml"}, {"schema"}, {"version"}, {"directives"}, {"explain"}} {
			var said strings.Builder
			sys := system.System{In: s.stdin, Out: broken{c.err}, Err: &said, Files: s.files, Getenv: func(string) string { return "" }}
			code := Run(t.Context(), sys, "", args)
			got := said.String()
			if args[0] == "build" {
				// Warnings come first.
				if i := strings.Index(got, "valkey-render: "); i >= 0 {
					got = got[i:]
				} else {
					got = ""
				}
			}
			if code != exitError || got != c.want {
				t.Errorf("%s, %v: exit %d, %q", name, args, code, got)
			}
		}
	}
}

func TestTimeoutAndInterruptEndAWaitForInput(t *testing.T) {
	s := newSession(t, nil)
	reader, writer := io.Pipe()
	defer writer.Close()
	s.stdin = reader
	got := s.must(exitTimeout, "build", "-f", "-", "--timeout", "20ms")
	if diff := cmp.Diff("valkey-render: the time given by --timeout ran out\n", got.out+got.err); diff != "" {
		t.Error(diff)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(errors.New("signal")) })
	interrupted := s.runIn(ctx, "validate", "-f", "-")
	if diff := cmp.Diff(invocation{exitInterrupted, "", "valkey-render: interrupted\n"}, interrupted, cmp.AllowUnexported(invocation{})); diff != "" {
		t.Error(diff)
	}
}

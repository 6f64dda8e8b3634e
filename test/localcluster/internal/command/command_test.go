// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/command"
)

// run runs a command line as in an empty cache and the source tree.
func run(t *testing.T, environment map[string]string, args ...string) (out, said string, err error) {
	t.Helper()
	cache := t.TempDir()
	directory, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string {
		if name == "VALKEY_RENDER_CACHE" {
			return cache
		}
		return environment[name]
	}
	var stdout, stderr bytes.Buffer
	root := command.Root(getenv, directory)
	root.SetArgs(args)
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	err = root.ExecuteContext(t.Context())
	return stdout.String(), stderr.String(), err
}

func TestErrorsSayWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"too many nodes":       {[]string{"up", "--nodes", "4"}, "nodes 4: want 1 to 3"},
		"no nodes":             {[]string{"up", "--nodes", "0"}, "nodes 0: want 1 to 3, or --apiserver-only"},
		"no port":              {[]string{"up", "--port", "70000"}, "port 70000: want 1 to 65535, or 0 for any that is free"},
		"nodes without any":    {[]string{"up", "--nodes", "2", "--apiserver-only"}, "none of the others can be"},
		"a name that is none":  {[]string{"up", "--name", "Local_1"}, `name "Local_1": want lower case letters, digits and dashes`},
		"no source":            {[]string{"up", "--source", "/"}, "source: / is not in a checkout of valkey-render"},
		"status while down":    {[]string{"status"}, "cluster local: not up; start it with: go run ./localcluster up"},
		"named and down":       {[]string{"status", "--name", "other"}, "cluster other: not up; start it with: go run ./localcluster up --name other"},
		"config while down":    {[]string{"kubeconfig"}, "cluster local: not up"},
		"fault while down":     {[]string{"stop-node", "1"}, "cluster local: not up"},
		"fault without node":   {[]string{"heal", "first"}, `node "first": want its number, or its name, node1`},
		"image that is none":   {[]string{"load-image", "/nonexistent.tar"}, "image: stat /nonexistent.tar"},
		"program while down":   {[]string{"run", "--", "true"}, "cluster local: not up"},
		"spec that is not one": {[]string{"host", "/nonexistent"}, "spec: open /nonexistent"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := run(t, nil, c.args...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %s", err, c.want)
			}
		})
	}
}

func TestDownOfWhatIsDownIsFine(t *testing.T) {
	if _, _, err := run(t, nil, "down"); err != nil {
		t.Error(err)
	}
}

func TestTheClusterOfKubeconfigIsUsedAndLeftAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	foreign := map[string]string{"KUBECONFIG": file}
	if _, _, err := run(t, foreign, "up"); err == nil || !strings.Contains(err.Error(), "there is no such file") {
		t.Errorf("up with no such file: %v", err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, said, err := run(t, foreign, "up"); err != nil || !strings.Contains(said, "using that cluster, starting none") {
		t.Errorf("up: %q, %v", said, err)
	}
	if out, _, err := run(t, foreign, "kubeconfig"); err != nil || out != file+"\n" {
		t.Errorf("kubeconfig: %q, %v", out, err)
	}
	if _, said, err := run(t, foreign, "down"); err != nil || !strings.Contains(said, "not ours to take down") {
		t.Errorf("down: %q, %v", said, err)
	}
	for _, args := range [][]string{{"partition", "1"}, {"heal", "1"}, {"stop-node", "1"}, {"run", "--", "true"}} {
		if _, _, err := run(t, foreign, args...); err == nil || !strings.Contains(err.Error(), "works on a cluster of localcluster only") {
			t.Errorf("%s: got error %v", args[0], err)
		}
	}
}

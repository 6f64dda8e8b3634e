// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/valkey-render/valkey-render/topologyjob/outcome"
)

// memory is a file system in memory.
type memory map[string]string

func (m memory) ReadFile(name string) ([]byte, error) {
	text, found := m[name]
	if !found {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

func (m memory) Exists(name string) bool { _, found := m[name]; return found }

func (m memory) Replace(name string, data []byte) error {
	if strings.HasPrefix(name, "/full/") {
		return errors.New("no space left on device")
	}
	m[name] = string(data)
	return nil
}

// session is what one command line said.
type session struct {
	out, err bytes.Buffer
	code     int
}

func run(t *testing.T, files memory, env map[string]string, args ...string) *session {
	t.Helper()
	s := &session{}
	s.code = Run(t.Context(), System{
		Out: &s.out, Err: &s.err, Getenv: func(key string) string { return env[key] },
		Files: files, Random: rand.NewChaCha8([32]byte{}), Clock: clock.RealClock{},
	}, "v1.2.3", args)
	return s
}

func TestUsage(t *testing.T) {
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{}, 0, ""},
		{[]string{"--version"}, 0, ""},
		{[]string{"runn"}, outcome.ExitBadInput, "valkey-topology: unknown command \"runn\"; did you mean run?\nRun 'valkey-topology --help' for usage.\n"},
		{[]string{"help", "nope"}, outcome.ExitBadInput, "valkey-topology: unknown command \"nope\"\nRun 'valkey-topology --help' for usage.\n"},
		{[]string{"run"}, outcome.ExitBadInput, "valkey-topology: --kind is missing: must be one of " + strings.Join(kindNames(), "|") + "\nRun 'valkey-topology run --help' for usage.\n"},
		{[]string{"run", "--kind", "nope"}, outcome.ExitBadInput, "valkey-topology: invalid argument \"nope\" for \"--kind\" flag: must be one of " + strings.Join(kindNames(), ", ") + "\nRun 'valkey-topology run --help' for usage.\n"},
		{[]string{"run", "--kind", "secrets", "--deadline", "-1s"}, outcome.ExitBadInput, "valkey-topology: --deadline -1s: must not be negative\nRun 'valkey-topology run --help' for usage.\n"},
		{[]string{"run", "here"}, outcome.ExitBadInput, "valkey-topology: operand \"here\" is not understood: 'valkey-topology run' takes none\nRun 'valkey-topology run --help' for usage.\n"},
		{[]string{"completion"}, outcome.ExitBadInput, "valkey-topology: name one shell: bash, fish, powershell, zsh\nRun 'valkey-topology completion --help' for usage.\n"},
		{[]string{"completion", "bash"}, 0, ""},
	} {
		s := run(t, memory{}, nil, test.args...)
		if diff := cmp.Diff(test.want, s.err.String()); s.code != test.code || diff != "" {
			t.Errorf("%q: exit code %d, want %d (-want +got)\n%s", test.args, s.code, test.code, diff)
		}
	}
}

func TestEveryKindHasHelpAndAName(t *testing.T) {
	seen := map[string]bool{}
	help := run(t, nil, nil, "run", "--help").out.String()
	for _, k := range kinds() {
		if seen[k.name] || k.about == "" || k.work == nil || !strings.Contains(help, "  "+k.name+" ") || !strings.Contains(help, k.about) {
			t.Errorf("kind %q", k.name)
		}
		seen[k.name] = true
	}
}

// kubeconfig names a server that does not answer.
const kubeconfig = `
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: a, user: {}}]
contexts: [{name: a, context: {cluster: a, user: a, namespace: shop}}]
current-context: a
`

func TestBadInputIsToldBeforeAnythingIsAsked(t *testing.T) {
	const good = "apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: cache}\nspec: {}\n"
	config := writeFile(t, kubeconfig)
	for _, test := range []struct{ name, file, want string }{
		{"no file", "", "open cluster.yaml: file does not exist"},
		{"not YAML", "\t", "cluster.yaml"},
		{"unknown field", good + "  more: 1\n", "cluster.yaml"},
		{"no cluster", "apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyACL\nmetadata: {name: cache}\nspec: {clusterRef: {name: cache}, users: [{name: app}]}\n", "0 ValkeyClusters in what was given, must be one"},
		{"two clusters", good + "---\n" + strings.ReplaceAll(good, "cache", "other"), "2 ValkeyClusters in what was given, must be one"},
		{"invalid", strings.ReplaceAll(good, "{}", "{users: [{name: default}]}"), "spec.users[0].name"},
		{"the same user twice", strings.ReplaceAll(good, "{}", "{users: [{name: app}]}") +
			"---\napiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyACL\nmetadata: {name: more}\nspec: {clusterRef: {name: cache}, users: [{name: app}]}\n", "app"},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := memory{defaultLog: "before"}
			if test.file != "" {
				files["cluster.yaml"] = test.file
			}
			s := run(t, files, nil, "run", "--kind", "secrets", "--kubeconfig", config, "-f", "cluster.yaml")
			o, err := outcome.Parse([]byte(files[defaultLog]))
			if s.code != outcome.ExitBadInput || err != nil || o.Result != outcome.BadInput || o.Reason != "InputInvalid" || !strings.Contains(o.Message, test.want) || !strings.Contains(s.err.String(), test.want) {
				t.Errorf("exit code %d, %v\n%+v\n%s", s.code, err, o, s.err.String())
			}
			if s.out.String() != "secrets: BadInput (InputInvalid)\n" {
				t.Errorf("printed %q", s.out.String())
			}
		})
	}
}

func TestNoConnectionIsBadInput(t *testing.T) {
	s := run(t, memory{}, nil, "run", "--kind", "secrets", "-f", "x", "-o", "json")
	o, err := outcome.Parse(s.out.Bytes())
	if s.code != outcome.ExitBadInput || err != nil || o.Reason != "NoConnection" || !strings.Contains(o.Message, "names no cluster: set KUBECONFIG") {
		t.Errorf("exit code %d, %v, %+v", s.code, err, o)
	}
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	config := writeFile(t, kubeconfig)
	files := memory{"cluster.yaml": "apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: cache}\n"}
	args := []string{"run", "--kind", "secrets", "--kubeconfig", config, "-f", "cluster.yaml", "--termination-log", "log", "--output", "json"}
	s := run(t, files, nil, args...)
	if o, err := outcome.Parse([]byte(files["log"])); s.code != 1 || err != nil || o.Result != outcome.Failed || !strings.Contains(o.Message, "Secret/shop/cache-system read failed: ") {
		t.Errorf("without a deadline: exit code %d, %v, %+v", s.code, err, o)
	}
	s = run(t, files, nil, append(args, "--deadline", "300ms")...)
	if o, err := outcome.Parse([]byte(files["log"])); s.code != 124 || err != nil || o.Result != outcome.Deadline || o.Milliseconds < 300 || !strings.Contains(s.err.String(), "waiting: ") {
		t.Errorf("with a deadline: exit code %d, %v, %+v\n%s", s.code, err, o, s.err.String())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, said bytes.Buffer
	code := Run(ctx, System{Out: &out, Err: &said, Getenv: func(string) string { return "" }, Files: files, Clock: clock.RealClock{}}, "", args)
	if o, err := outcome.Parse(out.Bytes()); code != 130 || err != nil || o.Result != outcome.Interrupted {
		t.Errorf("interrupted: exit code %d, %v, %+v", code, err, o)
	}
}

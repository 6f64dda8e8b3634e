// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/cmd/valkey-render/internal/system"
	"github.com/valkey-render/valkey-render/render/apply"
)

// unreachable is a kubeconfig of a server that is not there.
const unreachable = `apiVersion: v1
kind: Config
current-context: gone
clusters: [{name: gone, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: gone, context: {cluster: gone, namespace: web}}, {name: broken, context: {cluster: nope}}]
`

func TestClusterCommandsSayWhatIsWrong(t *testing.T) {
	for line, c := range map[string]struct {
		code int
		want string
	}{
		"apply":                             {exitError, "nothing to read"},
		"wait":                              {exitError, "nothing to read"},
		"diff -f a.yaml":                    {exitError, "--live is the cluster; 'valkey-render check' compares with files"},
		"delete":                            {exitError, "name clusters, or specs with -f or -k, and not both"},
		"delete cache -f a.yaml":            {exitError, "name clusters, or specs with -f or -k, and not both"},
		"apply a.yaml":                      {exitError, "name input with -f"},
		"apply -f a.yaml --dry-run=client":  {exitError, "must be one of none, server"},
		"apply -f a.yaml":                   {exitError, "kubeconfig: names no cluster: set KUBECONFIG, or give --kubeconfig"},
		"apply -f a.yaml --kubeconfig nope": {exitError, "kubeconfig: stat nope: no such file"},
		"apply -f a.yaml --kubeconfig config --context nope":   {exitError, "kubeconfig: invalid configuration: [context was not found for specified context: nope"},
		"apply -f a.yaml --kubeconfig config --context broken": {exitError, "kubeconfig: "},
		"apply -f a.yaml --kubeconfig config":                  {exitError, "ConfigMap/shop/cache-inventory: read failed: the API server does not answer: "},
		"apply -f bare.yaml --kubeconfig config":               {exitError, "ConfigMap/web/cache-inventory: read failed: "},
		"apply -f bare.yaml --kubeconfig config -n mine":       {exitError, "ConfigMap/mine/cache-inventory: read failed: "},
		"delete cache --kubeconfig config":                     {exitError, "ConfigMap/web/cache-inventory: read failed: "},
		"delete cache --kubeconfig config -n mine":             {exitError, "ConfigMap/mine/cache-inventory: read failed: "},
		"diff --live -f a.yaml --kubeconfig config":            {exitError, "the API server does not answer"},
		"apply -f wrong.yaml --kubeconfig config":              {exitError, "VR0101"},
	} {
		t.Run(line, func(t *testing.T) {
			s := newSession(t, map[string]string{
				"a.yaml": smallest, "bare.yaml": strings.Replace(smallest, "  namespace: shop\n", "", 1), "wrong.yaml": wrong, "config": unreachable,
			})
			got := s.must(c.code, words(line)...)
			if !strings.Contains(got.err, c.want) || got.out != "" {
				t.Errorf("%s%s", got.out, got.err)
			}
		})
	}
}

func TestKubeconfigIsFound(t *testing.T) {
	s := newSession(t, map[string]string{"home/.kube/config": unreachable, "a.yaml": smallest})
	for name, env := range map[string]map[string]string{
		"home":     {"HOME": "home"},
		"variable": {"KUBECONFIG": "nope:home/.kube/config", "HOME": "elsewhere"},
	} {
		s.env = env
		if got := s.must(exitError, "apply", "-f", "a.yaml"); !strings.Contains(got.err, "does not answer") {
			t.Errorf("%s: %s", name, got.err)
		}
	}
}

func TestJSONOfAClusterCommandThatFailed(t *testing.T) {
	s := newSession(t, map[string]string{"a.yaml": smallest, "config": unreachable})
	got := s.must(exitError, "apply", "-f", "a.yaml", "--kubeconfig", "config", "-o", "json")
	if !strings.Contains(got.out, `"error": "ConfigMap/shop/cache-inventory: read failed: the API server does not answer`) {
		t.Errorf("%s", got.out)
	}
}

func TestWhatFailedBeforeTheTimeRanOutIsSaid(t *testing.T) {
	object := apply.ID{APIVersion: "v1", Kind: "Service", Namespace: "shop", Name: "cache"}
	refused := &apply.ObjectError{ID: object, Verb: "apply", Err: fmt.Errorf("%w: it is not ours", apply.ErrRefused)}
	late := &apply.ObjectError{ID: object, Verb: "delete", Err: context.DeadlineExceeded}
	var said bytes.Buffer
	n := &narrator{sys: system.System{Err: &said}}
	err := n.outcome(errors.Join(refused, late, context.DeadlineExceeded))
	if exitCode(err) != exitTimeout {
		t.Errorf("exit %d", exitCode(err))
	}
	want := "not done: Service/shop/cache: apply failed: refused: it is not ours\n" +
		"not done: Service/shop/cache: delete failed: the time ran out; the same command goes on where this one stopped\n"
	if said.String() != want {
		t.Errorf("%s", said.String())
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/valkey-render/valkey-render/internal/apitest"
)

// newRig is a namespace of the real server.
func newRig(t testing.TB) *rig {
	t.Helper()
	apitest.Install(t)
	return &rig{t: t, client: apitest.Client(t), namespace: apitest.Namespace(t), kills: 7, controllers: true, connect: func() client.Client {
		c, err := NewClient(apitest.Config(t))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}}
}

func exampleSpecs(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../examples/*/cluster.yaml")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	out := map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(filepath.Dir(file))] = string(data)
	}
	return out
}

func TestAPIServerTakesEveryExampleAndTheSecondApplyWritesNothing(t *testing.T) {
	for example, spec := range exampleSpecs(t) {
		t.Run(example, func(t *testing.T) {
			r := newRig(t)
			first := r.apply(spec)
			for _, line := range summary(first) {
				if !strings.HasSuffix(line, " created") {
					t.Error(line)
				}
			}
			clusters := rendered(t, r.namespace, spec)
			before := r.state(clusters)
			a, d := r.applier(Options{}), &diary{}
			a.before = d.before
			second, err := r.try(a, spec)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string(nil), append(summary(second), d.writes...)); diff != "" {
				t.Errorf("the second apply (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(before, r.state(clusters)); diff != "" {
				t.Errorf("objects (-first +second)\n%s", diff)
			}
		})
	}
}

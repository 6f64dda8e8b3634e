// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/render"
	"github.com/valkey-render/valkey-render/render/load"
)

// rendered is what a spec renders to in a namespace, as clusters.
func rendered(t testing.TB, namespace, text string) []Cluster {
	t.Helper()
	set, findings := load.Parse([]load.Source{{Name: "spec.yaml", Data: []byte(text)}},
		load.Options{Namespace: namespace, OverrideNamespace: true})
	if err := findings.Err(); err != nil {
		t.Fatal(err)
	}
	result := render.Build(set, render.Options{})
	if err := result.Findings.Err(); err != nil {
		t.Fatal(err)
	}
	clusters, err := Group(result.Objects)
	if err != nil {
		t.Fatal(err)
	}
	return clusters
}

// clusterSpec is a ValkeyCluster named cache.
func clusterSpec(spec string) string {
	return "apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: cache, namespace: shop}\nspec:\n" + indent(spec)
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(text)) {
		b.WriteString("  " + strings.TrimSpace(line) + "\n")
	}
	return b.String() + "\n"
}

// diary is what an Applier says, and the order of its writes.
type diary struct {
	mu     sync.Mutex
	notes  []string
	writes []string
}

func (d *diary) options() Options {
	return Options{OnNote: func(note string) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.notes = append(d.notes, note)
	}}
}

func (d *diary) before(write string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes = append(d.writes, write)
	return nil
}

// summary is one line a change, without those that are unchanged.
func summary(results []Result) []string {
	var out []string
	for _, r := range results {
		for _, c := range r.Changes {
			if c.Action != Unchanged {
				out = append(out, fmt.Sprintf("%s/%s %s", c.Kind, c.Name, c.Action))
			}
		}
	}
	return out
}

func find(t testing.TB, c Cluster, kind, called string) *unstructured.Unstructured {
	t.Helper()
	for _, o := range c.Objects {
		if o.GetKind() == kind && o.GetName() == called {
			return o
		}
	}
	t.Fatalf("no %s %s is rendered", kind, called)
	return nil
}

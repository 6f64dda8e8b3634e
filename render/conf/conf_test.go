// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/golden"
	"github.com/valkey-render/valkey-render/render/conf"
	"github.com/valkey-render/valkey-render/render/script"
)

// read returns the defaulted cluster of a case directory.
func read(t testing.TB, dir string) *v1alpha1.ValkeyCluster {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c := &v1alpha1.ValkeyCluster{}
	if err := yaml.UnmarshalStrict(text, c); err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	c.Default()
	return c
}

// cases returns the case directories of one kind, at least one, each with the
// cluster and its golden file and nothing else.
func cases(t testing.TB, kind, expected string) []string {
	t.Helper()
	var dirs []string
	for _, name := range golden.Cases(t, filepath.Join("testdata", kind)) {
		dir := filepath.Join("testdata", kind, name)
		golden.Only(t, dir, "cluster.yaml", expected)
		dirs = append(dirs, dir)
	}
	return dirs
}

// TestTextIsPinned holds every byte that a spec's pods read: whatever differs here
// after a change of the renderer rolls pods, or is set on running ones.
func TestTextIsPinned(t *testing.T) {
	for _, dir := range cases(t, "text", "expected.txt") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			c := read(t, dir)
			if errs := conf.Check(c); len(errs) > 0 {
				t.Fatal(errs.ToAggregate())
			}
			golden.File(t, filepath.Join(dir, "expected.txt"), []byte(all(t, c)))
		})
	}
}

// all returns everything that is rendered for a cluster. Live files that are alike
// are there once.
func all(t *testing.T, c *v1alpha1.ValkeyCluster) string {
	t.Helper()
	var out strings.Builder
	section := func(title, text string, err error) {
		if err != nil {
			t.Fatalf("%s: %v", title, err)
		}
		fmt.Fprintf(&out, "==== %s\n%s", title, text)
	}
	section("arguments", strings.Join(conf.Args(c), "\n")+"\n", nil)
	bytes, limited := conf.Maxmemory(c)
	section("numbers", fmt.Sprintf("maxmemory %d %v\nstartup %d s\n", bytes, limited, conf.StartupBudgetSeconds(c)), nil)
	text, err := conf.Server(c)
	section("valkey.conf", text, err)
	seen := map[string]string{}
	for _, version := range v1alpha1.Versions() {
		text, err := conf.Live(c, version)
		body := strings.TrimSuffix(text, script.EndMarker(script.LiveFile(version))+"\n")
		if body == text {
			t.Errorf("live file of %s does not end with its marker", version)
		}
		if same := seen[body]; same != "" {
			text = "as " + same + "\n"
		} else {
			seen[body] = version
		}
		section(version+".conf", text, err)
	}
	if c.IsSentinel() {
		text, err := conf.Sentinel(c)
		section("sentinel.conf", text, err)
	}
	return out.String()
}

func withLimit(limit string) *v1alpha1.ValkeyCluster {
	c := &v1alpha1.ValkeyCluster{}
	c.Spec.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)}
	return c
}

// BenchmarkTexts is all config text of one cluster.
func BenchmarkTexts(b *testing.B) {
	c := read(b, filepath.Join("testdata", "text", "user-directives"))
	b.ReportAllocs()
	for b.Loop() {
		if errs := conf.Check(c); len(errs) > 0 {
			b.Fatal(errs.ToAggregate())
		}
		if _, err := conf.Server(c); err != nil {
			b.Fatal(err)
		}
		for _, version := range v1alpha1.Versions() {
			if _, err := conf.Live(c, version); err != nil {
				b.Fatal(err)
			}
		}
	}
}

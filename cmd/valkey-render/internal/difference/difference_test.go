// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package difference

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func files(pairs ...string) map[string][]byte {
	out := map[string][]byte{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = []byte(pairs[i+1])
	}
	return out
}

func TestUnified(t *testing.T) {
	for name, c := range map[string]struct {
		committed, rendered []byte
		want                string
	}{
		"changed": {
			[]byte("1\n2\n3\n4\n5\n6\n7\n8\n9\n"), []byte("1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
			"--- a/out/x.yaml\n+++ b/out/x.yaml\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
		},
		"missing":         {nil, []byte("new\n"), "--- /dev/null\n+++ b/out/x.yaml\n@@ -0,0 +1 @@\n+new\n"},
		"extra":           {[]byte("old\n"), nil, "--- a/out/x.yaml\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"},
		"without newline": {[]byte("a\nb"), []byte("a\nb\n"), "--- a/out/x.yaml\n+++ b/out/x.yaml\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		"equal":           {[]byte("a\n"), []byte("a\n"), ""},
	} {
		if diff := cmp.Diff(c.want, string(Unified("out/x.yaml", c.committed, c.rendered))); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestFirstDifference(t *testing.T) {
	for _, c := range []struct {
		before, after string
		want          int
	}{
		{"", "a\n", 1},
		{"a\n", "", 1},
		{"a\nb\nc\n", "a\nb\nd\n", 3},
		{"a\nb\n", "x\nb\n", 1},
		{"a\nb\n", "a\nb\nc\n", 3},
		{"a\n  valkey-render.dev/render-hash: 1\nb\n", "a\n  valkey-render.dev/render-hash: 2\nc\n", 3},
		{"a\n  valkey-render.dev/render-hash: 1\nb\n", "a\n  valkey-render.dev/render-hash: 2\nb\n", 2},
		{"a\nb\nc\n", "a\nb\n", 3},
	} {
		if got := FirstDifference([]byte(c.before), []byte(c.after)); got != c.want {
			t.Errorf("%q against %q: line %d, not %d", c.before, c.after, got, c.want)
		}
	}
}

func TestRenamedStatefulSetsAreFound(t *testing.T) {
	statefulSet := func(name, shard string) string {
		return "apiVersion: apps/v1\nkind: StatefulSet\nmetadata:\n  labels:\n    valkey-render.dev/cluster: cache\n" +
			"    valkey-render.dev/shard: " + shard + "\n  name: " + name + "\n"
	}
	for name, c := range map[string]struct {
		committed map[string][]byte
		want      []Renamed
	}{
		"as rendered": {committed: files("a.yaml", statefulSet("cache-0", `"0"`))},
		"prefix, suffix, in a stream and not": {
			committed: files("b.yaml", statefulSet("cache-1-eu", `"1"`),
				"a.yaml", "---\nkind: Service\n--- # two\n"+statefulSet("dev-cache-0", `"0"`)+"---\n"+statefulSet("cache-1", `"1"`)),
			want: []Renamed{
				{File: "a.yaml", Have: "dev-cache-0", Want: "cache-0", Cluster: "cache"},
				{File: "b.yaml", Have: "cache-1-eu", Want: "cache-1", Cluster: "cache"},
			},
		},
		"not ours, no YAML, a sentinel": {
			committed: files("a.yaml", "kind: StatefulSet\nmetadata: {name: x}\n", "b.yaml", "StatefulSet: [",
				"c.yaml", "kind: StatefulSet\nmetadata:\n  name: cache-sentinel\n  labels: {valkey-render.dev/cluster: cache}\n"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, FindRenamed(c.committed)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

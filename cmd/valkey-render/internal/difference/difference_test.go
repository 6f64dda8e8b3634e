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

func TestCompare(t *testing.T) {
	committed := files("same.yaml", "x\n", "b.yaml", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "extra.yaml", "old\n", "end.yaml", "a\nb")
	rendered := files("same.yaml", "x\n", "b.yaml", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "a/missing.yaml", "new\n", "end.yaml", "a\nb\n")
	got := Compare(committed, rendered)
	want := `--- /dev/null
+++ b/a/missing.yaml
@@ -0,0 +1 @@
+new
--- a/b.yaml
+++ b/b.yaml
@@ -2,7 +2,7 @@
 2
 3
 4
-5
+five
 6
 7
 8
--- a/end.yaml
+++ b/end.yaml
@@ -1,2 +1,2 @@
 a
-b
\ No newline at end of file
+b
--- a/extra.yaml
+++ /dev/null
@@ -1 +0,0 @@
-old
`
	if diff := cmp.Diff(want, string(got.Diff)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got.Equal() {
		t.Error("equal")
	}
	if diff := cmp.Diff("2 files changed, 1 file missing, 1 file no longer rendered", got.Summary()); diff != "" {
		t.Error(diff)
	}
	if same := Compare(rendered, rendered); !same.Equal() || len(same.Diff) > 0 || same.Summary() != "" {
		t.Errorf("a rendering differs from itself: %+v", same)
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

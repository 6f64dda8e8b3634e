// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What kustomize is told to merge is what the API types mark as a map.
func TestSchemaMergesTheListsThatTheAPIMarks(t *testing.T) {
	files, err := filepath.Glob("../../api/v1alpha1/*_types.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	marked := regexp.MustCompile(`\+listMapKey=(\w+)\n(?:\s*//.*\n)*.*json:"(\w+)`)
	want := map[string]bool{}
	for _, file := range files {
		if base := filepath.Base(file); strings.HasPrefix(base, "status") || strings.HasPrefix(base, "valkeynode") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range marked.FindAllStringSubmatch(string(data), -1) {
			if m[2] != "conditions" {
				want[m[2]+" by "+m[1]] = true
			}
		}
	}
	var parsed any
	if err := json.Unmarshal([]byte(schema), &parsed); err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	var walk func(name string, v any)
	walk = func(name string, v any) {
		m, _ := v.(map[string]any)
		if key, ok := m["x-kubernetes-patch-merge-key"].(string); ok {
			got[name+" by "+key] = true
		}
		for name, child := range m {
			walk(name, child)
		}
	}
	walk("", parsed)
	if diff := cmp.Diff(keys(want), keys(got)); diff != "" {
		t.Errorf("(-api +schema):\n%s", diff)
	}
}

func keys(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

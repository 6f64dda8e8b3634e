// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// defaultForm is one part of "Default: `3`; with topology Standalone `1`."
var defaultForm = regexp.MustCompile("^((?:with|without)[^`]*)?`([^`]+)`$")

// circumstances are what a default may depend on, as the pages word it.
func circumstances() map[string]map[string]any {
	return map[string]map[string]any{
		"":                          {},
		"with profile Durable":      {"profile": "Durable"},
		"with topology Replication": {"topology": "Replication"},
		"with topology Sentinel":    {"topology": "Sentinel"},
		"with topology Standalone":  {"topology": "Standalone"},
		"with TLS":                  {"tls": map[string]any{}},
		"without replicas":          {"replicasPerShard": 0},
	}
}

// TestDefaultsAreWhatTheyAre: a "Default:" line quotes what Default and the CRD give,
// and every simple default is quoted.
func TestDefaultsAreWhatTheyAre(t *testing.T) {
	for kind, path := range specPages {
		sections := fieldSections(t, read(t, path))
		for name, field := range apiFields(t, kind) {
			s, ok := sections[name]
			if !ok {
				continue
			}
			said := ""
			for _, line := range s.Lines {
				if text, found := strings.CutPrefix(line, "Default: "); found {
					said = strings.TrimSuffix(text, ".")
				}
			}
			checkDefault(t, fmt.Sprintf("%s:%d: %s", path, s.Line, name), kind, name, field, said)
		}
	}
}

func checkDefault(t *testing.T, where, kind, name string, field apiField, said string) {
	t.Helper()
	given := defaultOf(t, kind, name, field, nil)
	if said == "" || !strings.Contains(said, "`") {
		if given != "" {
			t.Errorf("%s: the default %s is not quoted", where, given)
		}
		return
	}
	for part := range strings.SplitSeq(said, "; ") {
		m := defaultForm.FindStringSubmatch(part)
		if m == nil {
			if given != "" {
				t.Errorf("%s: cannot read the default %q", where, part)
			}
			continue
		}
		circumstance := strings.TrimSpace(m[1])
		spec, known := circumstances()[circumstance]
		if !known {
			t.Errorf("%s: the tests do not know the circumstance %q", where, circumstance)
			continue
		}
		if want := defaultOf(t, kind, name, field, spec); want != "" && want != m[2] {
			t.Errorf("%s: the default %s is %s, not %s", where, circumstance, want, m[2])
		}
	}
}

// defaultOf is the simple value that a field has when nothing gives it one: of a
// spec under some circumstance, in which the blocks that the field is in are empty.
// It is empty when there is none.
func defaultOf(t *testing.T, kind, name string, field apiField, circumstance map[string]any) string {
	t.Helper()
	if kind == v1alpha1.KindCluster && strings.HasPrefix(name, "spec.") {
		for _, topology := range []string{"Cluster", "Replication", "Sentinel"} {
			spec := map[string]any{"topology": topology}
			put(spec, strings.Split(name, ".")[1:])
			for key, value := range circumstance {
				if _, set := spec[key]; !set || key == "topology" {
					spec[key] = value
				}
			}
			if name == "spec.topology" {
				delete(spec, "topology")
			}
			if value := simple(defaulted(t, spec), name); value != "" {
				return value
			}
		}
	}
	if field.Default != nil {
		return text(field.Default)
	}
	if field.Type == "boolean" && strings.HasPrefix(name, "spec.") {
		return "false"
	}
	return ""
}

// put makes the blocks that a path leads through, the last part excepted.
func put(object map[string]any, parts []string) {
	if len(parts) < 2 {
		return
	}
	next := map[string]any{}
	if key, list := strings.CutSuffix(parts[0], "[]"); list {
		object[key] = []any{next}
	} else {
		object[parts[0]] = next
	}
	put(next, parts[1:])
}

func defaulted(t *testing.T, spec map[string]any) map[string]any {
	t.Helper()
	cluster := v1alpha1.ValkeyCluster{}
	convert(t, spec, &cluster.Spec)
	// No name that an API server would take: the pages write it so.
	cluster.Name = "<cluster>"
	cluster.Default()
	out := map[string]any{}
	convert(t, cluster.Spec, &out)
	return out
}

func convert(t *testing.T, from, to any) {
	t.Helper()
	data, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// simple looks a path up, less its first part; empty when there is no simple value.
func simple(spec map[string]any, path string) string {
	var at any = spec
	for _, part := range strings.Split(path, ".")[1:] {
		object, ok := at.(map[string]any)
		if !ok {
			return ""
		}
		key, list := strings.CutSuffix(part, "[]")
		at = object[key]
		if list {
			items, _ := at.([]any)
			if len(items) == 0 {
				return ""
			}
			at = items[0]
		}
	}
	return text(at)
}

// text writes a simple value as a page does.
func text(value any) string {
	switch value.(type) {
	case nil, map[string]any, []any:
		return ""
	}
	return fmt.Sprint(value)
}

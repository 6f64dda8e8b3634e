// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/valkey-render/valkey-render/api/crd"
)

// at returns the schema of a path such as spec.users[].name; nil when there is
// none.
func at(s *schema.Structural, path string) *schema.Structural {
	for step := range strings.SplitSeq(path, ".") {
		name, list := strings.CutSuffix(step, "[]")
		child, ok := s.Properties[name]
		if !ok {
			return nil
		}
		s = &child
		if list {
			if s = s.Items; s == nil {
				return nil
			}
		}
	}
	return s
}

// TestListsMergeByKey: server-side apply of two managers merges these lists
// item by item. A key that may be absent has a default, or two managers would
// not mean the same item.
func TestListsMergeByKey(t *testing.T) {
	root := newAPIServer(t, crd.ValkeyCluster()).structural
	for path, keys := range map[string][]string{
		"spec.users":                         {"name"},
		"spec.modules":                       {"name"},
		"spec.imagePullSecrets":              {"name"},
		"spec.jobsTemplate.imagePullSecrets": {"name"},
		"spec.pod.containers":                {"name"},
		"spec.pod.containers[].ports":        {"containerPort", "protocol"},
		"spec.pod.containers[].env":          {"name"},
		"spec.pod.containers[].volumeMounts": {"mountPath"},
		"spec.pod.volumes":                   {"name"},
		"spec.pod.volumeMounts":              {"mountPath"},
		"status.conditions":                  {"type"},
		"status.shardDetails":                {"index"},
		"status.activeJobs":                  {"name"},
		"status.migrations":                  {"name"},
		"status.actions":                     {"name"},
	} {
		list := at(root, path)
		if list == nil || list.XListType == nil || *list.XListType != "map" || !slices.Equal(list.XListMapKeys, keys) {
			t.Errorf("%s is no list-map by %v", path, keys)
			continue
		}
		for _, key := range keys {
			required := list.Items.ValueValidation != nil && slices.Contains(list.Items.ValueValidation.Required, key)
			if child := list.Items.Properties[key]; !required && child.Default.Object == nil {
				t.Errorf("%s: key %s is neither required nor defaulted", path, key)
			}
		}
	}
}

// TestRenamedFieldsExist: advice leads to fields that there are, from fields
// that there are not, or that are blocks where people write a value.
func TestRenamedFieldsExist(t *testing.T) {
	root := newAPIServer(t, crd.ValkeyCluster()).structural
	for old, renaming := range Renamed() {
		if renaming.Sentence == "" || strings.HasSuffix(renaming.Sentence, ".") {
			t.Errorf("%s: %q is no sentence to go on after a colon", old, renaming.Sentence)
		}
		if renaming.Right != "" && at(root, renaming.Right) == nil {
			t.Errorf("%s leads to %s, which does not exist", old, renaming.Right)
		}
		path := strings.Replace(old, "spec.users.", "spec.users[].", 1)
		if is := at(root, path); is != nil && is.Type != "object" && is.Type != "array" && is.Type != "" {
			t.Errorf("%s is a field", old)
		}
	}
	for _, old := range []string{"spec.size", "spec.tls.enabled", "spec.auth", "spec.auth.secretName", "spec.persistence", "spec.workloadType", "spec.exporter", "spec.autoReshard", "spec.perShardWorkload"} {
		if _, ok := Renamed()[old]; !ok {
			t.Errorf("%s is not renamed", old)
		}
	}
}

// TestDefaultsAreThoseOfTheSchema: Default gives the same whether the API server
// has filled in its own before or not, and takes nothing of that back.
func TestDefaultsAreThoseOfTheSchema(t *testing.T) {
	server := newAPIServer(t, crd.ValkeyCluster())
	inputs, err := filepath.Glob("testdata/*/accept-*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("testdata/defaults/*/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range append(inputs, more...) {
		if strings.Contains(input, "digest-without-version") || strings.Contains(input, "accept-acl") {
			continue
		}
		text, err := os.ReadFile(input)
		if err != nil {
			t.Fatal(err)
		}
		var here, there ValkeyCluster
		filled := server.read(t, complete(t, KindCluster, text))
		data, err := json.Marshal(filled)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &there); err != nil {
			t.Fatal(err)
		}
		there.Default()
		here = *decodeCase[ValkeyCluster](t, text)
		here.Default()
		if diff := cmp.Diff(here.Spec, there.Spec); diff != "" {
			t.Errorf("%s: Default differs (-alone +behind the API server):\n%s", input, diff)
		}
		if data, err = json.Marshal(here); err != nil {
			t.Fatal(err)
		}
		var ours map[string]any
		if err := json.Unmarshal(data, &ours); err != nil {
			t.Fatal(err)
		}
		if data, err = json.Marshal(filled); err != nil {
			t.Fatal(err)
		}
		var theirs map[string]any
		if err := json.Unmarshal(data, &theirs); err != nil {
			t.Fatal(err)
		}
		if path := missing(theirs["spec"], ours["spec"], "spec"); path != "" {
			t.Errorf("%s: the schema fills in %s, Default does not", input, path)
		}
	}
}

// missing returns the path of something in want that got has not, or has
// otherwise.
func missing(want, got any, path string) string {
	switch want := want.(type) {
	case map[string]any:
		got, _ := got.(map[string]any)
		for key, value := range want {
			if empty, ok := value.(map[string]any); ok && len(empty) == 0 && got[key] == nil {
				continue
			}
			if at := missing(value, got[key], path+"."+key); at != "" {
				return at
			}
		}
		return ""
	case []any:
		got, _ := got.([]any)
		for i, value := range want {
			if i >= len(got) {
				return path
			}
			if at := missing(value, got[i], path+"[]"); at != "" {
				return at
			}
		}
		return ""
	}
	// Typed decoding writes quantities and durations in their canonical form.
	if !reflect.DeepEqual(want, got) && reflect.TypeOf(want) != reflect.TypeFor[string]() {
		return path
	}
	return ""
}

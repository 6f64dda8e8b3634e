// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package crdschema

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/valkey-render/valkey-render/internal/golden"
)

func kinds(t *testing.T) []Kind {
	t.Helper()
	all, err := Kinds()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestFind(t *testing.T) {
	all := kinds(t)
	for path, want := range map[string]string{
		"":                             "ValkeyCluster  Object",
		"vkc":                          "ValkeyCluster  Object",
		"valkeynodes.status":           "ValkeyNode status Object",
		"ValkeyACL.spec.users[0].name": "ValkeyACL spec.users.name string",
		"spec.users[].enabled":         "ValkeyCluster spec.users.enabled boolean",
		"users":                        "ValkeyCluster spec.users []Object",
		"shards":                       "ValkeyCluster spec.shards integer",
		".spec.storage.size":           "ValkeyCluster spec.storage.size quantity",
		"config":                       "ValkeyCluster spec.config map[string]string",
		"config.maxmemory":             "ValkeyCluster spec.config.maxmemory string",
		"pod.labels.example.com/team":  "ValkeyCluster spec.pod.labels.example.com/team string",
		"vkacl.clusterRef.name":        "ValkeyACL spec.clusterRef.name string",
	} {
		place, err := Find(all, path)
		if err != nil {
			t.Errorf("%q: %v", path, err)
			continue
		}
		if got := strings.Join([]string{place.Kind.Name, place.Path, place.Field.TypeName()}, " "); got != want {
			t.Errorf("%q: %s, not %s", path, got, want)
		}
	}
}

func TestWrongPathsGetASuggestion(t *testing.T) {
	all := kinds(t)
	for path, want := range map[string]string{
		"spec.shard":            `ValkeyCluster.spec has no field "shard"; did you mean "shards"?`,
		"storag":                `ValkeyCluster has no field "storag"; did you mean "spec.storage"?`,
		"spec.tls.secretname":   `ValkeyCluster.spec.tls has no field "secretname"; did you mean "secretName"?`,
		"vkacl.spec.users.nam":  `ValkeyACL.spec.users has no field "nam"; did you mean "name"?`,
		"maxmemoryPercent":      `ValkeyCluster has no field "maxmemoryPercent"; did you mean "spec.memory.maxmemoryPercent"?`,
		"spec.shards.x":         `ValkeyCluster.spec.shards has no field "x": it is of type integer`,
		"valkeyclstr":           `"valkeyclstr" is neither a kind nor a field of ValkeyCluster; did you mean "valkeycluster"?`,
		"qqqq":                  `ValkeyCluster has no field "qqqq"; it has apiVersion, kind, metadata, spec, status`,
		"spec..shards":          `ValkeyCluster.spec has no field ""; it has `,
		"vkacl.spec.clusterRef": "",
	} {
		_, err := Find(all, path)
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", path, err)
		case want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)):
			t.Errorf("%q: %v, not %s", path, err, want)
		}
	}
}

// TestEverythingIsExplained: explain would show an empty description otherwise.
func TestEverythingIsExplained(t *testing.T) {
	for _, kind := range kinds(t) {
		for _, path := range kind.Paths() {
			place, err := Find([]Kind{kind}, path)
			if err != nil {
				t.Errorf("%s.%s: %v", kind.Name, path, err)
				continue
			}
			// Fields of Kubernetes' own types are explained by kubectl.
			if place.Field.Description == "" && strings.Count(path, ".") <= 1 {
				t.Errorf("%s.%s has no description", kind.Name, path)
			}
			if text := Explain(place, false); !strings.HasPrefix(text, "KIND:       "+kind.Name+"\n") || !strings.Contains(text, "FIELD: "+path+" <") {
				t.Errorf("%s.%s:\n%s", kind.Name, path, text)
			}
		}
	}
}

func compiled(t *testing.T, kinds []Kind) *jsonschema.Schema {
	t.Helper()
	text, err := JSONSchema(kinds, map[string]string{"maxmemory": "memory"})
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// specs are the manifests below the examples that people write.
func specs(t *testing.T) map[string]any {
	t.Helper()
	root := filepath.Join("..", "..", "examples")
	found := map[string]any{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && entry.Name() == "rendered" {
			return skip(err, entry)
		}
		if filepath.Ext(path) != ".yaml" || entry.Name() == "kustomization.yaml" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		decoder := yaml.NewDecoder(bytes.NewReader(data))
		for i := 1; ; i++ {
			var document any
			if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			if object, ok := document.(map[string]any); ok && object["apiVersion"] == "valkey-render.dev/v1alpha1" {
				found[path+"#"+string(rune('0'+i))] = document
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func skip(err error, entry fs.DirEntry) error {
	if err != nil {
		return err
	}
	if entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func TestAllExamplesFitTheSchema(t *testing.T) {
	all := kinds(t)
	schema := compiled(t, all[:2])
	found := specs(t)
	if len(found) < 10 {
		t.Fatalf("only %d specs found", len(found))
	}
	for name, document := range found {
		if err := schema.Validate(document); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheSchemaRefusesWhatBuildRefuses(t *testing.T) {
	all := kinds(t)
	both, acl := compiled(t, all[:2]), compiled(t, all[1:2])
	const head = "apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: a}\n"
	for name, c := range map[string]struct {
		text string
		fits bool
	}{
		"the smallest":             {head, true},
		"quantities, both ways":    {head + "spec: {storage: {size: 2Gi, initialSize: 1}}\n", true},
		"a directive in any case":  {head + "spec: {config: {MaxMemory: 1gb}}\n", true},
		"unknown field":            {head + "spec: {shard: 3}\n", false},
		"unknown field below":      {head + "spec: {storage: {siez: 1Gi}}\n", false},
		"unknown field at the top": {head + "specs: {}\n", false},
		"wrong type":               {head + "spec: {shards: three}\n", false},
		"out of range":             {head + "spec: {shards: 0}\n", false},
		"not in the enum":          {head + "spec: {topology: cluster}\n", false},
		"number where text goes":   {head + "spec: {version: 9.1}\n", false},
		"status":                   {head + "status: {}\n", false},
		"no name":                  {"apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyCluster\nmetadata: {}\n", false},
		"another kind":             {"apiVersion: v1\nkind: Service\nmetadata: {name: a}\n", false},
		"an ACL without its spec":  {"apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyACL\nmetadata: {name: a}\n", false},
	} {
		var document any
		if err := yaml.Unmarshal([]byte(c.text), &document); err != nil {
			t.Fatal(err)
		}
		if err := both.Validate(document); (err == nil) != c.fits {
			t.Errorf("%s: %v", name, err)
		}
		if err := acl.Validate(document); err == nil {
			t.Errorf("%s fits the schema of a ValkeyACL", name)
		}
	}
}

// TestObjectsAreClosed: an object that lists its fields allows no others, and no
// keyword that only Kubernetes knows is left.
func TestObjectsAreClosed(t *testing.T) {
	text, err := JSONSchema(kinds(t)[:2], nil)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "x-kubernetes") {
		t.Error("x-kubernetes keywords are left")
	}
	var schema any
	if err := yaml.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	var walk func(path []string, node any)
	walk = func(path []string, node any) {
		switch v := node.(type) {
		case map[string]any:
			inProperties := len(path) > 0 && path[len(path)-1] == "properties"
			// What tells kinds apart looks at kind alone.
			inProperties = inProperties || len(path) == 0 || path[len(path)-1] == "if"
			if _, ok := v["properties"].(map[string]any); ok && !inProperties {
				if _, ok := v["additionalProperties"]; !ok {
					t.Errorf("%s is open", strings.Join(path, "."))
				}
			}
			for key, child := range v {
				walk(append(slices.Clone(path), key), child)
			}
		case []any:
			for _, child := range v {
				walk(path, child)
			}
		}
	}
	walk(nil, schema)
}

// TestAWrongFieldIsNamedByItsPath: of the schema of all kinds a plain validator
// tells the place, not that the manifest is of neither kind.
func TestAWrongFieldIsNamedByItsPath(t *testing.T) {
	text, err := JSONSchema(kinds(t)[:2], nil)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	err = schema.Validate(map[string]any{
		"apiVersion": "valkey-render.dev/v1alpha1", "kind": "ValkeyCluster", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{"storage": map[string]any{"medium": "Tape"}},
	})
	if err == nil || !strings.Contains(err.Error(), "/spec/storage/medium") || strings.Contains(err.Error(), "clusterRef") {
		t.Errorf("%v", err)
	}
}

func TestExplain(t *testing.T) {
	minimum, most := 1.0, int64(8)
	root := &Field{Type: "object", Description: "Thing is a thing.", Properties: map[string]*Field{
		"list": {
			Type: "array", Description: "list of items.\n\nSecond paragraph that is long enough to be wrapped at the right-hand margin of the text.\n- one\n- two",
			MapKeys: []string{"name"}, MaxItems: &most,
			Items: &Field{Type: "object", Required: []string{"name"}, Properties: map[string]*Field{
				"name": {Type: "string", Description: "name of it.", Pattern: "^a$"},
				"mode": {Type: "string", Enum: []any{"A", "B"}, Default: "A"},
			}},
		},
		"count": {Type: "integer", Minimum: &minimum},
		"any":   {Type: "object", Open: true, Rules: []Rule{{Rule: "true", Message: "must be true"}}},
	}}
	kind := Kind{Group: "example.com", Version: "v1", Name: "Thing", Names: []string{"thing"}, Root: root}
	var got strings.Builder
	for _, c := range []struct {
		path      string
		recursive bool
	}{{"", false}, {"list", false}, {"", true}, {"any", false}} {
		place, err := Find([]Kind{kind}, c.path)
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString(Explain(place, c.recursive) + "====\n")
	}
	golden.Dir(t, "testdata", map[string][]byte{"explain.txt": []byte(got.String())})
}

// TestDefaultsThatOnlyBuildGives are explained too, with what they depend on.
func TestDefaultsThatOnlyBuildGives(t *testing.T) {
	for path, want := range map[string]string{
		"rollout.mode": "default: Orchestrated\n", "podDisruptionBudget.maxUnavailable": "default: 1\n",
		"metrics.podMonitor.interval": "default: 30s\n", "failover.quorumTakeover": "default: Auto (Cache), Manual (Durable)\n",
		"tls.minVersion": "default: \"1.2\"\n", "version": "enum: \"8.0\", \"8.1\", \"9.0\", \"9.1\"\n",
		"metadata.name": "-nodes, -primary, -replicas",
	} {
		place, err := Find(kinds(t), path)
		if err != nil {
			t.Fatal(err)
		}
		if text := Explain(place, false); !strings.Contains(text, want) {
			t.Errorf("%s: no %q in\n%s", path, want, text)
		}
	}
}

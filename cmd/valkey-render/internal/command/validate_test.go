// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/valkey-render/valkey-render/render/finding"
)

// doubtful is rendered with a warning.
var doubtful = strings.Replace(smallest, "  resources:", "  auth: {enabled: false}\n  resources:", 1)

func TestValidateExitCodes(t *testing.T) {
	s := newSession(t, map[string]string{"warning.yaml": doubtful, "error.yaml": wrong})
	warned := s.must(exitOK, "validate", "-f", "warning.yaml")
	if !strings.Contains(warned.out, ": warning VR1114 ") || strings.Contains(warned.out, ": error ") {
		t.Errorf("warnings:\n%s", warned.out)
	}
	s.must(exitDifferences, "validate", "-f", "warning.yaml", "--fail-on", "warning")
	s.must(exitError, "validate", "-f", "error.yaml")
	s.must(exitError, "validate", "-f", "error.yaml", "--fail-on", "warning")
	// build says the same, elsewhere.
	if built := s.must(exitOK, "build", "-f", "warning.yaml"); built.err != warned.out {
		t.Errorf("build says %q, validate %q", built.err, warned.out)
	}
}

// TestSARIF holds the output to the parts of the OASIS standard that code
// scanning relies on.
func TestSARIF(t *testing.T) {
	file, err := os.Open(filepath.Join("testdata", "sarif", "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	document, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("sarif.json", document); err != nil {
		t.Fatal(err)
	}
	schema := compiler.MustCompile("sarif.json")

	s := newSession(t, map[string]string{"specs/a b.yaml": wrong, "specs/fine.yaml": smallest})
	for _, args := range [][]string{{"-f", "specs"}, {"-f", "specs/fine.yaml"}, {"-f", "nope.yaml"}} {
		got := s.run(append([]string{"validate", "-o", "sarif"}, args...)...)
		log, err := jsonschema.UnmarshalJSON(strings.NewReader(got.out))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(log); err != nil {
			t.Errorf("%v: %v\n%s", args, err, got.out)
		}
	}

	var log struct {
		Runs []struct {
			Tool    struct{ Driver struct{ Version string } }
			Results []struct {
				RuleID    string
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	got := s.must(exitError, "validate", "-o", "sarif", "-f", "specs")
	if err := json.Unmarshal([]byte(got.out), &log); err != nil {
		t.Fatal(err)
	}
	first := log.Runs[0].Results[0]
	location := first.Locations[0].PhysicalLocation
	if first.RuleID != string(finding.UnknownField) || location.ArtifactLocation.URI != "specs/a%20b.yaml" || location.Region.StartLine != 7 {
		t.Errorf("first result: %+v", first)
	}
	if log.Runs[0].Tool.Driver.Version != "v1.2.3" {
		t.Errorf("version %q", log.Runs[0].Tool.Driver.Version)
	}
}

func TestPathsAreThoseOfTheRepositoryInGitHubActions(t *testing.T) {
	s := newSession(t, map[string]string{"deploy/specs/a.yaml": wrong})
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("deploy")
	s.env["GITHUB_WORKSPACE"] = root
	for _, name := range []string{"specs/a.yaml", filepath.Join(root, "deploy", "specs", "a.yaml")} {
		if got := s.must(exitError, "validate", "-o", "github", "-f", name); !strings.HasPrefix(got.out, "::error file=deploy/specs/a.yaml,line=7,") {
			t.Errorf("%s: %s", name, got.out)
		}
		if got := s.must(exitError, "validate", "-o", "sarif", "-f", name); !strings.Contains(got.out, `"uri": "deploy/specs/a.yaml"`) {
			t.Errorf("%s: %s", name, got.out)
		}
	}
	s.stdin = strings.NewReader(wrong)
	if got := s.must(exitError, "validate", "-o", "github", "-f", "-"); !strings.HasPrefix(got.out, "::error file=<stdin>,line=7,") {
		t.Error(got.out)
	}
}

func TestVersion(t *testing.T) {
	s := newSession(t, nil)
	if got := s.must(exitOK, "version"); !strings.HasPrefix(got.out, "valkey-render v1.2.3") || !strings.Contains(got.out, "Valkey 8.0, 8.1, 9.0, 9.1\n") {
		t.Error(got.out)
	}
	var info struct {
		Version, GoVersion, Platform string
		Valkey                       []string
	}
	if err := json.Unmarshal([]byte(s.must(exitOK, "version", "-o", "json").out), &info); err != nil || info.Version != "v1.2.3" || len(info.Valkey) != 4 {
		t.Errorf("%+v %v", info, err)
	}
	if b := describeBuild(""); b.Version == "" {
		t.Error("a build without a release has no version")
	}
}

func TestSchemaKnowsDirectives(t *testing.T) {
	s := newSession(t, nil)
	got := s.must(exitOK, "schema", "--kind", "ValkeyCluster")
	for _, want := range []string{`"maxmemory-policy": {`, `allkeys-lfu`, `"title": "ValkeyCluster"`} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(got.out, `"requirepass"`) {
		t.Error("a reserved directive is offered")
	}
}

func TestTheVersionFlag(t *testing.T) {
	if got := newSession(t, nil).must(exitOK, "--version"); got.out != "valkey-render v1.2.3\n" {
		t.Errorf("%q", got.out)
	}
}

func TestSchemaTakesKindsAsKubectlDoes(t *testing.T) {
	s := newSession(t, nil)
	for _, name := range []string{"vkc", "valkeycluster", "VALKEYCLUSTERS"} {
		if s.must(exitOK, "schema", "--kind", name).out != s.must(exitOK, "schema", "--kind", "ValkeyCluster").out {
			t.Error(name)
		}
	}
	s.must(exitError, "schema", "--kind", "ValkeyNode")
}

// TestDirectivesSayWhoseValueItIs, in rows that fit the terminal.
func TestDirectivesSayWhoseValueItIs(t *testing.T) {
	s := newSession(t, nil)
	got := s.must(exitOK, "directives")
	for line := range strings.Lines(got.out) {
		if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 120 {
			t.Errorf("too long: %s", line)
		}
	}
	if one := s.must(exitOK, "directives", "maxmemory-policy"); !strings.Contains(one.out, "SET TO:       allkeys-lru (Cache), noeviction (Durable)\n") {
		t.Error(one.out)
	}
	if !strings.Contains(got.out, "set to allkeys-lru") {
		t.Error("the table marks nothing")
	}
}

func TestAKustomizationSaysWhatItLeavesOut(t *testing.T) {
	s := newSession(t, map[string]string{
		"k/cluster.yaml": smallest, "k/other.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n",
		"k/kustomization.yaml": "resources: [cluster.yaml, other.yaml]\n",
	})
	if got := s.must(exitOK, "validate", "-k", "k"); !strings.Contains(got.out, "k: warning VR1004: 1 object of another kind is left out\n") {
		t.Errorf("%s", got.out)
	}
}

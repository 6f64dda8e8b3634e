// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/load"
)

const everyType = `apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata:
  name: shop
  namespace: "prod"
  labels: {team: web, tier: "1"}
  annotations:
    example.com/note: |
      two
      lines
spec:
  version: "9.1"
  shards: 4
  replicasPerShard: +2
  resources:
    limits: {cpu: 1, memory: 1.5Gi}
    requests: {cpu: 250m, memory: 16}
  config: {save: "", "hz": '50', maxmemory: 100mb}
  failover:
    nodeTimeout: 1m30s
  auth:
    enabled: False
  storage: {}
  users: []
  scheduling:
    tolerations:
    - key: a
      operator: Exists
      tolerationSeconds: 60
  pod:
    containers:
    - name: web
      image: x
      command: [a, "b"]
      livenessProbe:
        httpGet: {port: 8080, path: /}
      readinessProbe:
        httpGet: {port: web}
      env:
      - name: A
        valueFrom: {fieldRef: {fieldPath: metadata.name}}
    volumes:
    - name: v
      emptyDir: {sizeLimit: 1Gi}
  tls:
    secretName: !!str 5
  networkPolicy:
    enabled: true
    allowFrom:
    - podSelector: {matchLabels: {a: b}}
  suspend: true
`

// The strict decoder and sigs.k8s.io/yaml, which Kubernetes uses, read the same
// object from what both accept.
func TestReadsWhatKubernetesReads(t *testing.T) {
	set, findings := load.Parse([]load.Source{{Name: "a.yaml", Data: []byte(everyType)}}, load.Options{})
	if len(findings) > 0 || len(set.Clusters) != 1 {
		t.Fatalf("%d clusters, findings:\n%s", len(set.Clusters), findings.Text())
	}
	var want v1alpha1.ValkeyCluster
	if err := yaml.UnmarshalStrict([]byte(everyType), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(asYAML(t, &want), asYAML(t, set.Clusters[0].Object)); diff != "" {
		t.Errorf("(-kubernetes +load):\n%s", diff)
	}
}

func asYAML(t *testing.T, v any) string {
	t.Helper()
	out, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// Hashes and commits are among the texts that people round-trip through kubectl.
func TestReadsTextAsKubernetesWritesIt(t *testing.T) {
	for _, text := range []string{"8e35376818555765", "1e999", "0123456789012345", "12e4", "0x1f", "1_000", "yes", "1:20", "2026-11-30", ".5", "-1e-999", "8e3", "=", "~"} {
		written, err := yaml.Marshal(map[string]string{"example.com/a": text})
		if err != nil {
			t.Fatal(err)
		}
		set, findings := parse(cluster("a", "  annotations:\n    "+string(written)), load.Options{})
		if len(findings) > 0 {
			t.Errorf("%s: %s", text, findings.Text())
			continue
		}
		if got := set.Clusters[0].Object.Annotations["example.com/a"]; got != text {
			t.Errorf("%s is written as %s and read as %q", text, bytes.TrimSpace(written), got)
		}
	}
}

func cluster(name, rest string) string {
	return "apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyCluster\nmetadata:\n  name: " + name + "\n" + rest
}

// parse reads one source named a.yaml.
func parse(text string, opts load.Options) (load.Set, finding.List) {
	return load.Parse([]load.Source{{Name: "a.yaml", Data: []byte(text)}}, opts)
}

func names(set load.Set) string {
	var out []string
	for _, c := range set.Clusters {
		out = append(out, c.Origin.Object)
	}
	for _, a := range set.ACLs {
		out = append(out, a.Origin.Object)
	}
	return strings.Join(out, " ")
}

func TestAnchorsAndMergeKeysAreFollowed(t *testing.T) {
	set, findings := parse(cluster("a", `spec:
  pod:
    labels: &l {x: "1", z: "2"}
    annotations:
      <<: *l
      x: "3"
    containers:
    - &c {name: one, image: i, resources: &r {limits: {cpu: 1}}}
    - {<<: [*c, {stdin: true, image: j}], name: two}
  resources: *r
`), load.Options{})
	if len(findings) > 0 {
		t.Fatalf("%s", findings.Text())
	}
	pod := set.Clusters[0].Object.Spec.Pod
	if pod.Annotations["x"] != "3" || len(pod.Annotations) != 2 {
		t.Errorf("annotations %v", pod.Annotations)
	}
	two := pod.Containers[1]
	if two.Name != "two" || two.Image != "i" || !two.Stdin || two.Resources.Limits.Cpu().String() != "1" {
		t.Errorf("container %+v", two)
	}
	if set.Clusters[0].Object.Spec.Resources.Limits.Cpu().String() != "1" {
		t.Errorf("resources %v", set.Clusters[0].Object.Spec.Resources)
	}
}

func TestDocumentsAreCountedFromTheirMarkers(t *testing.T) {
	text := "\ufeff# head\n%YAML 1.2\n---\n" + cluster("one", "") + "---\n# empty\n---  # note\n" + cluster("two", "") + "...\n\n# tail\n--- \n" +
		cluster("three", "spec:\n  config:\n    save: |\n      --- not a marker\n") + "...\n" + cluster("four", "")
	set, findings := parse(text, load.Options{})
	if len(findings) > 0 {
		t.Fatalf("%s", findings.Text())
	}
	got := map[string]int{}
	for _, c := range set.Clusters {
		got[c.Object.Name] = c.Origin.Document
		line, _ := c.Origin.Position("metadata.name")
		if at := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")[line-1]; at != "  name: "+c.Object.Name {
			t.Errorf("%s: line %d is %q", c.Object.Name, line, at)
		}
	}
	if diff := cmp.Diff(map[string]int{"one": 1, "two": 3, "three": 4, "four": 5}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPositionsFallBackToTheNearestParent(t *testing.T) {
	set, _ := parse(cluster("a", `  labels:
    example.com/team.a: x
spec:
  config:
    Maxmemory-Policy: noeviction
    "we]ird": y
  users:
  - name: ann
  - {name: bob,
     keys: {readWrite: [a, b]}}
`), load.Options{})
	origin := set.Clusters[0].Origin
	for path, want := range map[string]string{
		"":                                       "1:1",
		"metadata":                               "3:1",
		"metadata.name":                          "4:3",
		"metadata.labels[example.com/team.a]":    "6:5",
		"metadata.labels[other]":                 "5:3",
		"spec.config[maxmemory-policy]":          "9:5",
		"spec.config[we]ird]":                    "10:5",
		"spec.config[nope].deeper":               "8:3",
		"spec.users[1].keys.readWrite[1]":        "14:28",
		"spec.users[bob].keys":                   "14:6",
		"spec.users[7]":                          "11:3",
		"spec.users[zoe]":                        "11:3",
		"spec.users.keys":                        "11:3",
		"spec.storage.size":                      "7:1",
		"spec.users[1].keys.readWrite[1].deeper": "14:28",
		"status":                                 "1:1",
		"spec.users[1":                           "13:5",
	} {
		line, column := origin.Position(path)
		if got := fmt.Sprintf("%d:%d", line, column); got != want {
			t.Errorf("%s is at %s, want %s", path, got, want)
		}
	}
	if line, column := (load.Origin{}).Position("spec"); line != 0 || column != 0 {
		t.Error("an origin without a source has a position")
	}
}

func TestNamespaceOption(t *testing.T) {
	text := cluster("a", "") + "---\n" + cluster("b", "  namespace: shop\n")
	for _, tc := range []struct {
		name           string
		opts           load.Options
		objects, wrong string
	}{
		{"none", load.Options{}, "ValkeyCluster/a ValkeyCluster/shop/b", ""},
		{"same", load.Options{Namespace: "shop"}, "ValkeyCluster/shop/a ValkeyCluster/shop/b", ""},
		{
			"another",
			load.Options{Namespace: "prod"},
			"ValkeyCluster/prod/a ValkeyCluster/shop/b",
			"a.yaml:10:3: error VR0405 ValkeyCluster/shop/b metadata.namespace: is \"shop\", and \"prod\" was asked for (document 2)\n",
		},
		{"override", load.Options{Namespace: "prod", OverrideNamespace: true}, "ValkeyCluster/prod/a ValkeyCluster/prod/b", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			set, findings := parse(text, tc.opts)
			if got := string(findings.Text()); got != tc.wrong {
				t.Errorf("findings %q", got)
			}
			if got := names(set); got != tc.objects {
				t.Errorf("objects %s", got)
			}
			if tc.wrong == "" {
				for _, c := range set.Clusters {
					if want := strings.TrimSuffix(strings.TrimPrefix(c.Origin.Object, "ValkeyCluster/"), c.Object.Name); want != "" && c.Object.Namespace+"/" != want {
						t.Errorf("%s has namespace %q", c.Origin.Object, c.Object.Namespace)
					}
				}
			}
		})
	}
}

func TestOtherKindsCanBeLeftOut(t *testing.T) {
	text := "apiVersion: v1\nkind: ConfigMap\n---\napiVersion: valkey.io/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: peer}\n---\n" + cluster("a", "")
	set, findings := parse(text, load.Options{Foreign: load.ForeignIgnore})
	if got := string(findings.Text()); got != "a.yaml: warning VR1004: 2 objects of other kinds are left out\n" {
		t.Errorf("findings %s", got)
	}
	if set.Ignored != 2 || names(set) != "ValkeyCluster/a" {
		t.Errorf("set %+v", set)
	}
	_, findings = parse("apiVersion: valkey-render.io/v1alpha1\nkind: ValkeyCluster\n---\napiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyNode\n",
		load.Options{Foreign: load.ForeignIgnore})
	if len(findings.Errors()) != 2 {
		t.Errorf("a misspelt group or a node is ignored:\n%s", findings.Text())
	}
}

func TestDerivedSourcesHaveNoLines(t *testing.T) {
	_, findings := load.Parse([]load.Source{{
		Name: "overlays/prod", Derived: true,
		Data: []byte("apiVersion: v1\nkind: ConfigMap\n---\n" + cluster("a", "spec:\n  shard: 3\n  shards: 1\n  shards: 2\n")),
	}}, load.Options{Foreign: load.ForeignIgnore})
	want := "overlays/prod: error VR0101 ValkeyCluster/a spec.shard: unknown field; did you mean \"shards\"?\n" +
		"overlays/prod: error VR0006 spec.shards: given twice\n"
	if got := string(findings.Text()); got != want {
		t.Errorf("findings:\n%s", got)
	}
}

func TestLongValuesAreCutInMessages(t *testing.T) {
	long := strings.Repeat("é", 5000)
	_, findings := parse(cluster("a", "spec:\n  storage: "+long+"\n  "+long[:800]+": 1\n  shards: 1"+strings.Repeat("0", 5000)+"\n"), load.Options{})
	if len(findings) != 3 {
		t.Fatalf("%d findings", len(findings))
	}
	for _, f := range findings {
		if n := len([]rune(f.String())); n > 800 {
			t.Errorf("%d letters: %s", n, f)
		}
	}
}

func TestSizeLimit(t *testing.T) {
	big := append([]byte(cluster("a", "")), bytes.Repeat([]byte("#\n"), load.MaxBytes/2)...)
	_, findings := load.Parse([]load.Source{{Name: "big.yaml", Data: big}}, load.Options{})
	if len(findings) != 1 || findings[0].Code != finding.TooLarge {
		t.Errorf("findings:\n%s", findings.Text())
	}
	_, findings = load.Parse([]load.Source{{Name: "big.yaml", Data: big[:load.MaxBytes]}}, load.Options{})
	if len(findings) != 0 {
		t.Errorf("findings at the limit:\n%s", findings.Text())
	}
}

func TestNothingIsAnErrorUnlessAllowed(t *testing.T) {
	if _, findings := load.Parse(nil, load.Options{}); len(findings) != 1 || findings[0].Code != finding.NothingFound {
		t.Errorf("findings:\n%s", findings.Text())
	}
	if _, findings := load.Parse(nil, load.Options{AllowEmpty: true}); len(findings) != 0 {
		t.Errorf("findings:\n%s", findings.Text())
	}
}

func TestObjectsWithErrorsAreStillValidated(t *testing.T) {
	set, findings := parse(cluster("a", "spec:\n  version: 8.0\n  shards: x\n  replicasPerShard: 2\n"), load.Options{})
	if len(findings.Errors()) != 2 || len(set.Clusters) != 1 {
		t.Fatalf("findings:\n%s", findings.Text())
	}
	if spec := set.Clusters[0].Object.Spec; spec.Version != "8.0" || *spec.ReplicasPerShard != 2 || spec.Shards == nil {
		t.Errorf("spec %+v", spec)
	}
}

func TestTheHashOfEarlierOutputIsNotRead(t *testing.T) {
	set, findings := parse(cluster("a", "  annotations: {valkey-render.dev/render-hash: x, valkey-render.dev/restart: t1}\n"), load.Options{})
	if diff := cmp.Diff(map[string]string{"valkey-render.dev/restart": "t1"}, set.Clusters[0].Object.Annotations); diff != "" || len(findings) > 0 {
		t.Errorf("%s\n%s", diff, findings.Text())
	}
}

func TestFindingsOfValidationGetTheirPlace(t *testing.T) {
	set, _ := parse(cluster("a", "spec:\n  shards: 3\n"), load.Options{})
	f := set.Clusters[0].Origin.Finding().New(finding.Invalid, "spec.shards", "is odd")
	if got := f.String(); got != "a.yaml:6:3: error VR0112 ValkeyCluster/a spec.shards: is odd (document 1)" {
		t.Error(got)
	}
}

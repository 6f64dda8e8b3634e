// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/golden"
	"github.com/valkey-render/valkey-render/render"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/render/write"
)

const (
	examples = "../examples"
	badInput = "../testdata/errors"
)

// example is one directory with specs and their rendered objects.
type example struct {
	name    string
	sources []load.Source
}

// allExamples reads every example; environments are kustomizations.
func allExamples(t testing.TB) []example {
	t.Helper()
	var all []example
	entries, err := os.ReadDir(examples)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		// What has no specs of its own, or has them in a kustomization.
		if !e.IsDir() || slices.Contains([]string{"environments", "gitops"}, e.Name()) {
			continue
		}
		path := filepath.Join(examples, e.Name(), "cluster.yaml")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, example{e.Name(), []load.Source{{Name: "cluster.yaml", Data: data}}})
	}
	for _, env := range []string{"dev", "prod"} {
		sources, err := load.FromKustomization(filesys.MakeFsOnDisk(), filepath.Join(examples, "environments", env))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, example{"environments/" + env, sources})
	}
	if len(all) < 10 {
		t.Fatalf("only %d examples", len(all))
	}
	return all
}

func build(t testing.TB, opts render.Options, sources ...load.Source) render.Result {
	t.Helper()
	set, findings := load.Parse(sources, load.Options{})
	if err := findings.Err(); err != nil {
		t.Fatal(err)
	}
	result := render.Build(set, opts)
	if err := result.Findings.Err(); err != nil {
		t.Fatal(err)
	}
	return result
}

func TestEveryExampleRendersAsCheckedIn(t *testing.T) {
	for _, ex := range allExamples(t) {
		t.Run(ex.name, func(t *testing.T) {
			result := build(t, render.Options{}, ex.sources...)
			files, err := write.Files(result.Objects)
			if err != nil {
				t.Fatal(err)
			}
			golden.Dir(t, filepath.Join(examples, filepath.FromSlash(ex.name), "rendered"), files)
		})
	}
}

func TestBadInputIsRefusedWithEveryViolation(t *testing.T) {
	for _, name := range golden.Cases(t, badInput) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(badInput, name)
			data, err := os.ReadFile(filepath.Join(dir, "cluster.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			set, findings := load.Parse([]load.Source{{Name: "cluster.yaml", Data: data}}, load.Options{})
			result := render.Build(set, render.Options{})
			findings = append(findings, result.Findings...)
			if !findings.HasErrors() {
				t.Fatalf("accepted; findings:\n%s", findings.Text())
			}
			got := findings.Errors().Sorted().Text()
			if bytes.Contains(got, []byte("hunter2")) {
				t.Errorf("a secret is shown:\n%s", got)
			}
			golden.File(t, filepath.Join(dir, "errors.txt"), got)
		})
	}
}

func TestSameBytesForAnyOrderAndAnyNumberOfWorkers(t *testing.T) {
	var sources []load.Source
	for _, ex := range allExamples(t) {
		for i, s := range ex.sources {
			s.Name = fmt.Sprintf("%s-%d.yaml", ex.name, i)
			// Examples share names; a namespace of its own keeps each apart.
			s.Data = bytes.ReplaceAll(s.Data, []byte("\n  namespace: "), []byte("\n  namespace: n"+fmt.Sprint(len(sources))+"-"))
			sources = append(sources, s)
		}
	}
	var want []byte
	for seed := range uint64(6) {
		shuffled := slices.Clone(sources)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		got, err := write.YAML(build(t, render.Options{Workers: int(seed) % 5}, shuffled...).Objects)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !bytes.Equal(want, got) {
			t.Fatalf("seed %d gives other bytes", seed)
		}
	}
}

// TestRenderedClusterRendersToItself: the rendered ValkeyCluster is a spec, and
// says the same as the one that was written.
func TestRenderedClusterRendersToItself(t *testing.T) {
	for _, ex := range allExamples(t) {
		if strings.HasPrefix(ex.name, "no-reconciler") {
			// With jobs: Rendered the ValkeyCluster is not in the output.
			continue
		}
		t.Run(ex.name, func(t *testing.T) {
			once, err := write.YAML(build(t, render.Options{}, ex.sources...).Objects)
			if err != nil {
				t.Fatal(err)
			}
			set, findings := load.Parse([]load.Source{{Name: "once.yaml", Data: once}}, load.Options{Foreign: load.ForeignIgnore})
			if err := findings.Err(); err != nil {
				t.Fatal(err)
			}
			twice, err := write.YAML(render.Build(set, render.Options{}).Objects)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(once, twice) {
				t.Error("rendering the rendered ValkeyCluster gives other objects")
			}
		})
	}
}

func TestBuildLeavesTheSetAsItWas(t *testing.T) {
	objects := func(set load.Set) (all []any) {
		for _, c := range set.Clusters {
			all = append(all, c.Object.DeepCopy())
		}
		for _, a := range set.ACLs {
			all = append(all, a.Object.DeepCopy())
		}
		return all
	}
	for _, ex := range allExamples(t) {
		set, _ := load.Parse(ex.sources, load.Options{})
		before := objects(set)
		render.Build(set, render.Options{})
		if diff := cmp.Diff(before, objects(set)); diff != "" {
			t.Errorf("%s: the set was changed (-before +after):\n%s", ex.name, diff)
		}
	}
}

// TestSetsMadeByHandAreCheckedAcrossObjects: a platform need not go through YAML.
func TestSetsMadeByHandAreCheckedAcrossObjects(t *testing.T) {
	cluster := func(name string) load.Cluster {
		c := &v1alpha1.ValkeyCluster{}
		c.Name, c.Namespace = name, "shop"
		c.Spec.Topology = v1alpha1.TopologyStandalone
		return load.Cluster{Object: c}
	}
	acl := func(name string) load.ACL {
		a := &v1alpha1.ValkeyACL{}
		a.Name, a.Namespace = name, "shop"
		a.Spec.ClusterRef.Name = "cache"
		a.Spec.Users = []v1alpha1.UserSpec{{Name: "app", Nopass: true}}
		return load.ACL{Object: a}
	}
	for name, tc := range map[string]struct {
		set  load.Set
		want finding.Code
	}{
		"one cluster twice":    {load.Set{Clusters: []load.Cluster{cluster("cache"), cluster("cache")}}, finding.SameObject},
		"one user in two ACLs": {load.Set{Clusters: []load.Cluster{cluster("cache")}, ACLs: []load.ACL{acl("a"), acl("b")}}, finding.SameUser},
	} {
		t.Run(name, func(t *testing.T) {
			result := render.Build(tc.set, render.Options{})
			found := slices.ContainsFunc(result.Findings, func(f finding.Finding) bool { return f.Code == tc.want })
			if !found || len(result.Objects) != 0 {
				t.Errorf("%d objects, findings:\n%s", len(result.Objects), result.Findings.Text())
			}
		})
	}
}

func TestAnACLWithoutItsClusterIsRenderedWithAWarning(t *testing.T) {
	const acl = `
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyACL
metadata: {name: team, namespace: shop}
spec:
  clusterRef: {name: cache}
  users:
  - {name: app, nopass: true}
`
	set, findings := load.Parse([]load.Source{{Name: "acl.yaml", Data: []byte(acl)}}, load.Options{})
	result := render.Build(set, render.Options{})
	findings = append(findings, result.Findings...).Sorted()
	if len(result.Objects) != 1 || result.Objects[0].GetName() != "team" {
		t.Fatalf("%d objects", len(result.Objects))
	}
	if result.Objects[0].GetAnnotations()["valkey-render.dev/render-hash"] == "" {
		t.Error("no render hash")
	}
	var codes []string
	for _, f := range findings {
		codes = append(codes, string(f.Code))
	}
	slices.Sort(codes)
	if want := []string{"VR1003", "VR1113"}; !slices.Equal(codes, want) {
		t.Errorf("findings %v, want %v", codes, want)
	}
}

// TestHashesTellWhatChanged: an object's hash follows its content, and the
// ValkeyCluster's follows everything that is rendered for it.
func TestHashesTellWhatChanged(t *testing.T) {
	const spec = `
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: cache, namespace: shop}
spec:
  topology: Standalone
`
	hashes := func(text string) map[string]string {
		out := map[string]string{}
		for _, o := range build(t, render.Options{}, load.Source{Name: "c.yaml", Data: []byte(text)}).Objects {
			out[o.GetKind()+"/"+o.GetName()] = o.GetAnnotations()["valkey-render.dev/render-hash"]
		}
		return out
	}
	changed := func(text string) []string {
		before, after := hashes(spec), hashes(text)
		var names []string
		for name, hash := range after {
			if before[name] != hash {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names
	}
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"nothing":          {spec, nil},
		"a default":        {spec + "  version: '9.1'\n", nil},
		"a live directive": {spec + "  config: {timeout: '10'}\n", []string{"ConfigMap/cache-live", "ValkeyCluster/cache"}},
		"a flag that renders nothing": {
			spec + "  suspend: true\n", []string{"ValkeyCluster/cache"},
		},
		"a patch": {
			spec + "  patches: [{target: {kind: Service, name: cache}, patch: '[{op: add, path: /metadata/annotations/a, value: b}]'}]\n",
			[]string{"Service/cache", "ValkeyCluster/cache"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := changed(tc.text); !slices.Equal(got, tc.want) {
				t.Errorf("changed: %v, want %v", got, tc.want)
			}
		})
	}
}

// TestBuildRefusesASetThatWasReadWithErrors, also when the caller did not look.
func TestBuildRefusesASetThatWasReadWithErrors(t *testing.T) {
	const spec = `
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: cache, namespace: shop}
spec: {topology: Standalone, nope: 1}
`
	set, findings := load.Parse([]load.Source{{Name: "c.yaml", Data: []byte(spec)}}, load.Options{})
	result := render.Build(set, render.Options{})
	if len(findings.Errors()) != 1 || len(result.Objects) > 0 || !slices.Equal(findings.Errors(), result.Findings.Errors()) {
		t.Errorf("%d objects, found %v and then %v", len(result.Objects), findings, result.Findings)
	}
	if all := append(findings, result.Findings...).Sorted(); len(all.Errors()) != 1 {
		t.Errorf("not once: %v", all)
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/golden"
	"github.com/valkey-render/valkey-render/render/load"
	"github.com/valkey-render/valkey-render/render/object"
	"github.com/valkey-render/valkey-render/render/patch"
)

// rendered composes a spec without its patches, as render.Build does.
func rendered(t testing.TB, file string) []*unstructured.Unstructured {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	set, findings := load.Parse([]load.Source{{Name: file, Data: data}}, load.Options{})
	if err := findings.Err(); err != nil {
		t.Fatal(err)
	}
	written := set.Clusters[0].Object
	effective := written.DeepCopy()
	effective.Default()
	objs, err := object.Compose(effective)
	if err != nil {
		t.Fatal(err)
	}
	specs, err := object.Specs(written, nil)
	if err != nil {
		t.Fatal(err)
	}
	objs = append(objs, specs...)
	for _, o := range objs {
		annotations := o.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[v1alpha1.Group+"/render-hash"] = "0"
		o.SetAnnotations(annotations)
	}
	return objs
}

// namedPatches reads a mapping of names to patches.
func namedPatches(t *testing.T, file string) map[string]v1alpha1.Patch {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	patches := map[string]v1alpha1.Patch{}
	if err := yaml.UnmarshalStrict(data, &patches); err != nil {
		t.Fatal(err)
	}
	return patches
}

// What the API server would refuse, what would hide the scripts from the server,
// and what would take data along is refused, whatever form the patch has.
func TestPatchesThatBreakAClusterAreRefused(t *testing.T) {
	in := rendered(t, "testdata/cluster.yaml")
	patches := namedPatches(t, "testdata/refused.yaml")
	var got bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(patches)) {
		out, errs := apply(t, in, patches[name])
		if errs == "" {
			t.Errorf("%s: is accepted", name)
		}
		if !slices.Equal(in, out) {
			t.Errorf("%s: a refused patch changed something", name)
		}
		fmt.Fprintf(&got, "# %s\n%s", name, strings.ReplaceAll(errs, "spec.patches[0].", ""))
	}
	golden.File(t, "testdata/refused.txt", got.Bytes())
}

func TestPatchesThatBreakNothingAreApplied(t *testing.T) {
	in := rendered(t, "testdata/cluster.yaml")
	for name, p := range namedPatches(t, "testdata/legitimate.yaml") {
		t.Run(name, func(t *testing.T) {
			if _, errs := apply(t, in, p); errs != "" {
				t.Error(errs)
			}
			out, idle, _ := patch.Apply(in, []v1alpha1.Patch{p})
			if len(idle) > 0 {
				t.Error("changes nothing")
			}
			holds(t, in, out)
		})
	}
}

func TestPatchesThatChangeNothingAreNamed(t *testing.T) {
	_, idle, errs := patch.Apply(rendered(t, "testdata/cluster.yaml"), []v1alpha1.Patch{
		{Target: target("StatefulSet", ""), Patch: "spec: {minReadySeconds: 5}"},
		{Target: target("StatefulSet", ""), Patch: "spec: {minReadySeconds: 5}"},
		{Target: target("StatefulSet", ""), Patch: "- {op: test, path: /kind, value: StatefulSet}\n- {op: replace, path: /spec/minReadySeconds, value: 5}"},
		{Target: target("StatefulSet", ""), Patch: "- {op: test, path: /kind, value: StatefulSet}"},
	})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if got := fmt.Sprint(idle); got != "[spec.patches[1].patch spec.patches[2].patch]" {
		t.Error(got)
	}
}

// The Sentinels' pods have fields of their own.
func TestPatchesOfSentinelsAreSentToTheirFields(t *testing.T) {
	_, errs := apply(t, rendered(t, "../../examples/sentinel/cluster.yaml"), v1alpha1.Patch{
		Target: target("StatefulSet", "queue-sentinel"),
		Patch:  "spec: {template: {spec: {containers: [{name: server, image: other, resources: {limits: {memory: 1Gi}}}]}}}",
	})
	for _, want := range []string{"use spec.sentinel.image", "use spec.sentinel.resources"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is not in %s", want, errs)
		}
	}
}

// Patches that are made to exhaust the renderer are answered at once.
func TestPatchesThatGrowAreRefused(t *testing.T) {
	in := rendered(t, "testdata/cluster.yaml")
	doubling := "- {op: add, path: /metadata/annotations/x0, value: " + strings.Repeat("x", 100) + "}\n" +
		"- {op: copy, from: /spec, path: /spec/a}\n" + strings.Repeat("- {op: copy, from: /spec/a, path: /spec/a/b}\n- {op: copy, from: /spec/a, path: /spec/a/c}\n", 7)
	laughs := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		laughs += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 8), i)
	}
	big := "- {op: add, path: /spec/template/metadata/annotations/big%d, value: " + strings.Repeat("x", 60<<10) + "}"
	for _, tc := range []struct {
		name, want string
		patches    []string
	}{
		{"copies", "it copies more than an object may hold", []string{doubling}},
		{"many copies", "has more than 16 copy operations", []string{strings.Repeat("- {op: copy, from: /spec/replicas, path: /spec/minReadySeconds}\n", 17)}},
		{"aliases", "is not valid YAML: ", []string{laughs}},
		{"bytes", "has 65537 bytes; 65536 are allowed", []string{strings.Repeat("#", 65537)}},
		{"depth", "is nested deeper than 64 levels, in line 1", []string{"a: " + strings.Repeat("[", 100) + strings.Repeat("]", 100)}},
		{"more depth", "is not valid YAML: ", []string{"a: " + strings.Repeat("[", 30000) + strings.Repeat("]", 30000)}},
		{"annotations", "spec.template.metadata.annotations: Too long: may not be more than 262144 bytes", []string{
			fmt.Sprintf(big, 1), fmt.Sprintf(big, 2), fmt.Sprintf(big, 3), fmt.Sprintf(big, 4), fmt.Sprintf(big, 5),
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var patches []v1alpha1.Patch
			for _, p := range tc.patches {
				patches = append(patches, v1alpha1.Patch{Target: target("StatefulSet", ""), Patch: p})
			}
			_, _, errs := patch.Apply(in, patches)
			if len(errs) != 1 || !strings.Contains(errs[0].Detail, tc.want) {
				t.Errorf("got %v", errs)
			}
		})
	}
}

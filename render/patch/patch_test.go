// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/golden"
	"github.com/valkey-render/valkey-render/render/patch"
)

// change is a patch, and the value that it leads to at a path of an object.
type change struct {
	name   string
	patch  v1alpha1.Patch
	object string
	path   []string
	want   string
}

func (c change) check(t *testing.T) {
	out, errs := apply(t, objects(t, composed), c.patch)
	if errs != "" {
		t.Fatal(errs)
	}
	if got := at(t, out, c.object, c.path...); got != c.want {
		t.Errorf("got  %s\nwant %s", got, c.want)
	}
}

func TestPatchesChangeWhatTheySelect(t *testing.T) {
	for _, tc := range []change{
		{
			"strategic merge by its own name",
			v1alpha1.Patch{Patch: "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: shop-0}\nspec: {minReadySeconds: 5}"},
			"StatefulSet/shop-0",
			[]string{"spec", "minReadySeconds"},
			"5",
		},
		{
			"with its namespace",
			v1alpha1.Patch{Patch: "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: shop-0, namespace: prod}\nspec: {minReadySeconds: 5}"},
			"StatefulSet/shop-0",
			[]string{"spec", "minReadySeconds"},
			"5",
		},
		{
			"several documents",
			v1alpha1.Patch{Patch: "---\n# one\n---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: shop-0}\nspec: {minReadySeconds: 5}\n---\n" +
				"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: shop-1}\nspec: {minReadySeconds: 6}"},
			"StatefulSet/shop-1",
			[]string{"spec", "minReadySeconds"},
			"6",
		},
		{
			"by target, without an identity of its own",
			v1alpha1.Patch{Target: target("StatefulSet", "shop-.*"), Patch: "spec: {minReadySeconds: 7}"},
			"StatefulSet/shop-1",
			[]string{"spec", "minReadySeconds"},
			"7",
		},
		{
			"by label",
			v1alpha1.Patch{Target: &v1alpha1.PatchTarget{LabelSelector: "tier in (data)"}, Patch: "metadata: {labels: {a: b}}"},
			"StatefulSet/shop-0",
			[]string{"metadata", "labels", "a"},
			`"b"`,
		},
		{
			"by annotation",
			v1alpha1.Patch{Target: &v1alpha1.PatchTarget{AnnotationSelector: "team"}, Patch: "spec: {maxUnavailable: 2}"},
			"PodDisruptionBudget/shop-0",
			[]string{"spec", "maxUnavailable"},
			"2",
		},
		{
			"by group and version",
			v1alpha1.Patch{Target: &v1alpha1.PatchTarget{Group: "policy", Version: "v1"}, Patch: "spec: {maxUnavailable: 25%}"},
			"PodDisruptionBudget/shop-0",
			[]string{"spec", "maxUnavailable"},
			`"25%"`,
		},
		{
			"a name is matched as a whole",
			v1alpha1.Patch{Target: target("StatefulSet", "shop-0"), Patch: "spec: {minReadySeconds: 7}"},
			"StatefulSet/shop-1",
			[]string{"spec", "minReadySeconds"},
			"null",
		},
	} {
		t.Run(tc.name, tc.check)
	}
}

func TestPatchesOfBothFormsAreApplied(t *testing.T) {
	template := []string{"spec", "template", "spec"}
	for _, tc := range []change{
		{
			"containers merge by name",
			v1alpha1.Patch{Target: target("StatefulSet", "shop-0"), Patch: "spec: {template: {spec: {containers: [{name: server, env: [{name: X, value: z}]}]}}}"},
			"StatefulSet/shop-0", append(template, "containers"),
			`[{"args":["--port","6379"],"command":["/bin/sh","/valkey/scripts/start.sh"],"env":[{"name":"X","value":"z"},{"name":"POD_NAME","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],` +
				`"image":"valkey","name":"server","ports":[{"containerPort":6379,"name":"valkey","protocol":"TCP"}],"resources":{"limits":{"memory":"1Gi"}},` +
				`"volumeMounts":[{"mountPath":"/data","name":"data"},{"mountPath":"/valkey/run","name":"run"}]},{"command":["serve"],"image":"x","name":"web"}]`,
		},
		{
			"operations",
			v1alpha1.Patch{Target: target("StatefulSet", "shop-0"), Patch: "- {op: test, path: /metadata/annotations/note, value: keep}\n- {op: add, path: /spec/template/spec/hostAliases, value: [{ip: 1.2.3.4}]}\n- {op: remove, path: /metadata/annotations/note}"},
			"StatefulSet/shop-0", append(template, "hostAliases"), `[{"ip":"1.2.3.4"}]`,
		},
		{
			"operations as JSON",
			v1alpha1.Patch{Target: target("StatefulSet", "shop-0"), Patch: `[{"op": "replace", "path": "/spec/template/spec/terminationGracePeriodSeconds", "value": 90}]`},
			"StatefulSet/shop-0", append(template, "terminationGracePeriodSeconds"), "90",
		},
		{
			"quantities come out canonical",
			v1alpha1.Patch{Target: target("StatefulSet", "shop-1"), Patch: "spec: {template: {spec: {containers: [{name: web, image: x, resources: {limits: {cpu: 1000m, memory: 1024Mi, a/b: 2}, requests: {cpu: 0.5}}}]}}}"},
			"StatefulSet/shop-1", append(template, "containers"),
			`[{"image":"x","name":"web","resources":{"limits":{"a/b":"2","cpu":"1","memory":"1Gi"},"requests":{"cpu":"500m"}}},{"image":"valkey","name":"server"}]`,
		},
		{
			"null removes",
			v1alpha1.Patch{Target: target("StatefulSet", "shop-0"), Patch: "metadata: {annotations: {note: null}}"},
			"StatefulSet/shop-0",
			[]string{"metadata", "annotations", "note"},
			"null",
		},
		{
			"nulls do not come out",
			v1alpha1.Patch{Target: target("StatefulSet", "shop-1"), Patch: "- {op: add, path: /spec/minReadySeconds, value: null}"},
			"StatefulSet/shop-1",
			[]string{"spec"},
			`{"replicas":2,"template":{"spec":{"containers":[{"image":"valkey","name":"server"}]}}}`,
		},
		{
			"a budget may go",
			v1alpha1.Patch{Target: target("PodDisruptionBudget", ""), Patch: "$patch: delete"},
			"PodDisruptionBudget/shop-0", nil, "no such object",
		},
		{
			"the dashboard may go",
			v1alpha1.Patch{Patch: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop-dashboard}\n$patch: delete"},
			"ConfigMap/shop-dashboard", nil, "no such object",
		},
		{
			"names may be added to a certificate",
			v1alpha1.Patch{Target: target("Certificate", ""), Patch: "- {op: add, path: /spec/dnsNames/-, value: a.example.com}"},
			"Certificate/shop-tls",
			[]string{"spec", "dnsNames"},
			`["shop","localhost","a.example.com"]`,
		},
		{
			"metadata of the cluster",
			v1alpha1.Patch{Target: target("ValkeyCluster", ""), Patch: "metadata: {annotations: {owner: me}}"},
			"ValkeyCluster/shop",
			[]string{"metadata", "annotations"},
			`{"owner":"me"}`,
		},
		{
			"an identity in the patch renames nothing",
			v1alpha1.Patch{Target: target("StatefulSet", "shop-0"), Patch: "kind: Any\nmetadata: {name: any, namespace: any}\nspec: {minReadySeconds: 1}"},
			"StatefulSet/shop-0",
			[]string{"metadata", "namespace"},
			`"prod"`,
		},
		{
			"a service port may be added",
			v1alpha1.Patch{Target: target("Service", ""), Patch: "spec: {ports: [{name: more, port: 80}]}"},
			"Service/shop",
			[]string{"spec", "ports"},
			`[{"name":"more","port":80},{"name":"valkey","port":6379,"protocol":"TCP","targetPort":"valkey"}]`,
		},
	} {
		t.Run(tc.name, tc.check)
	}
}

func TestBadPatchesAreNamedByIndexAndCause(t *testing.T) {
	all := target("StatefulSet", "shop-0")
	patches := []v1alpha1.Patch{
		0:  {Target: all, Patch: "a: b: c"},
		1:  {Target: all, Patch: "text"},
		2:  {Target: all, Patch: "# nothing\n"},
		3:  {Target: all, Patch: "{}"},
		4:  {Target: all, Patch: "[]"},
		5:  {Target: all, Patch: "op: add\npath: /a\nvalue: 1"},
		6:  {Target: all, Patch: "- {op: ad, path: /a, value: 1}"},
		7:  {Target: all, Patch: "- {op: zzzzz, path: /a}"},
		8:  {Target: all, Patch: "- {op: add, path: a}"},
		9:  {Target: all, Patch: "- {op: move, path: /a}"},
		10: {Target: all, Patch: "- {op: add, path: /a, vlue: 1}"},
		11: {Target: all, Patch: "- {op: add, path: /a, value: 1}\n---\nspec: {}"},
		12: {Target: all, Patch: "spec: {}\n---\n- {op: add, path: /a, value: 1}"},
		13: {Target: all, Patch: "spec: {a: 1}\n---\nspec: {b: 1}"},
		14: {Patch: "- {op: add, path: /a, value: 1}"},
		15: {Target: all, Patch: "- {op: remove, path: /spec/nothing}"},
		16: {Target: all, Patch: "- {op: test, path: /spec/replicas, value: 7}"},
		17: {Target: target("StatefulSet", "shop-9"), Patch: "spec: {a: 1}"},
		18: {Patch: "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: shop-0, namespace: other}\nspec: {a: 1}"},
		19: {Patch: "spec: {a: 1}"},
		20: {Target: &v1alpha1.PatchTarget{Name: "(", Kind: "[", Group: "*", Version: "+", LabelSelector: "a in", AnnotationSelector: "==="}, Patch: "spec: {a: 1}"},
		21: {Target: all, Patch: "spec: {a: 1, a: 2}"},
		22: {Target: all, Patch: "kind: [a]"},
		23: {Target: all, Patch: "apiVersion: a/b/c"},
		24: {Target: all, Patch: "metadata: x"},
		25: {Target: target("StatefulSet", ""), Patch: "- {op: remove, path: /spec/nothing}"},
		26: {Target: all, Patch: "spec: {minReadySeconds: 3}"},
		28: {Target: all, Patch: "spec: {a: off}"},
		29: {Target: all, Patch: "- {op: add, path: /a, value: [on]}"},
		30: {Target: all, Patch: "spec: {defaultMode: 0644}"},
		31: {Target: all, Patch: "spec: &a {b: *a}"},
		32: {Target: all, Patch: "- &a {op: add, path: /a, value: *a}"},
		33: {Target: all, Patch: "spec: {? [a] : b}"},
		27: {Target: &v1alpha1.PatchTarget{Group: "no", Version: "v1", LabelSelector: "a=b", AnnotationSelector: "c"}, Patch: "spec: {a: 1}"},
	}
	out, errs := apply(t, objects(t, composed), patches...)
	golden.File(t, "testdata/bad-patches.txt", []byte(errs))
	if got := at(t, out, "StatefulSet/shop-0", "spec", "minReadySeconds"); got != "3" {
		t.Errorf("the good patch among the bad ones was not applied: %s", got)
	}
}

// Text that YAML could read as something else, and text that is laid out, comes
// through kustomize as it was.
func TestValuesSurviveTheRoundTrip(t *testing.T) {
	values := map[string]any{
		"bool": "on", "yes": "yes", "octal": "010", "float": "1e3", "null": "null", "tilde": "~", "empty": "", "space": " ",
		"date": "2001-01-01", "hex": "0x1F", "colon": "a: b", "hash": "a #b", "quote": `"'`, "tab": "a\tb", "crlf": "a\r\nb",
		"trailing": "a  \nb\t\n", "leading": "\n  a\n", "many": "a\n\n\n", "nonewline": "a\nb", "unicode": "é\u2028\U0001f600",
		"control": "a\u0007b\u0085c\u007f\ufeff", "long": strings.Repeat("word ", 400), "brace": "{a}", "star": "*a", "amp": "&a", "tag": "!a", "dash": "- a", "dots": "---\na", "percent": "%a", "merge": "<<",
		"int": int64(9007199254740991), "neg": int64(-1), "zero": int64(0), "true": true, "list": []any{}, "map": map[string]any{}, "half": 0.5,
	}
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "x"}, "spec": values,
	}}
	for _, p := range []string{"metadata: {annotations: {a: b}}", "- {op: add, path: /metadata/annotations, value: {a: b}}"} {
		out, errs := apply(t, []*unstructured.Unstructured{obj}, v1alpha1.Patch{Target: target("Thing", ""), Patch: p})
		if errs != "" {
			t.Fatal(errs)
		}
		if diff := cmp.Diff(values, out[0].Object["spec"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p, diff)
		}
	}
}

func TestUntouchedObjectsAreTheSameOnes(t *testing.T) {
	in := objects(t, composed)
	out, _, errs := patch.Apply(in, []v1alpha1.Patch{{Target: target("", "shop-0"), Patch: "metadata: {labels: {tier: data}}"}})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for i := range in {
		changed := in[i].GetKind() == "PodDisruptionBudget"
		if (in[i] != out[i]) != changed {
			t.Errorf("%s/%s: replaced = %t", in[i].GetKind(), in[i].GetName(), in[i] != out[i])
		}
	}
	if out, _, errs := patch.Apply(in, nil); len(errs) > 0 || &out[0] != &in[0] {
		t.Error("without patches the objects are copied")
	}
}

func BenchmarkApply(b *testing.B) {
	in := objects(b, composed)
	for b.Loop() {
		if _, _, errs := patch.Apply(in, []v1alpha1.Patch{{Target: target("StatefulSet", ""), Patch: "spec: {minReadySeconds: 1}"}}); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}

func TestPatchesOfSeveralClustersRunAtOnce(t *testing.T) {
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			in := objects(t, composed)
			for range 5 {
				_, _, errs := patch.Apply(in, []v1alpha1.Patch{
					{Target: target("StatefulSet", ""), Patch: "spec: {template: {spec: {containers: [{name: server, env: [{name: A}]}]}}}"},
					{Target: target("PodDisruptionBudget", ""), Patch: "- {op: replace, path: /spec/maxUnavailable, value: 2}"},
				})
				if len(errs) > 0 {
					t.Error(errs)
				}
			}
		})
	}
	wait.Wait()
}

func TestNoGoldenIsUnread(t *testing.T) {
	golden.Only(t, "testdata", "bad-patches.txt", "cluster.yaml", "legitimate.yaml", "refused.txt", "refused.yaml")
}

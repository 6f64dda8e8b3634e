// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/finding"
	"github.com/valkey-render/valkey-render/render/patch"
)

const composed = `
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: shop, namespace: prod, labels: {app.kubernetes.io/name: valkey}}
spec: {shards: 2}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: shop-live, namespace: prod, labels: {valkey-render.dev/cluster: shop}}
data: {"9.1.conf": "hz 10\n"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: shop-dashboard, namespace: prod, labels: {valkey-render.dev/cluster: shop}}
data: {a.json: "{}"}
---
apiVersion: v1
kind: Service
metadata: {name: shop, namespace: prod, labels: {valkey-render.dev/cluster: shop}}
spec:
  clusterIP: None
  selector: {valkey-render.dev/cluster: shop}
  ports: [{name: valkey, port: 6379, protocol: TCP, targetPort: valkey}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: shop-0
  namespace: prod
  labels: {valkey-render.dev/cluster: shop, valkey-render.dev/shard: "0", tier: data}
  annotations: {note: keep}
spec: &spec
  replicas: 2
  serviceName: shop-nodes
  selector: {matchLabels: {valkey-render.dev/cluster: shop}}
  template:
    metadata:
      labels: {valkey-render.dev/cluster: shop}
      annotations:
        valkey-render.dev/valkey.conf: "hz 10 \n\tport 6379\n# end\n"
    spec:
      terminationGracePeriodSeconds: 30
      initContainers:
      - {name: module-search, image: m, volumeMounts: [{name: modules, mountPath: /valkey/modules}]}
      containers:
      - name: server
        image: valkey
        command: [/bin/sh, /valkey/scripts/start.sh]
        args: [--port, "6379"]
        env: [{name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
        ports: [{name: valkey, containerPort: 6379, protocol: TCP}]
        resources: {limits: {memory: 1Gi}}
        volumeMounts: [{name: data, mountPath: /data}, {name: run, mountPath: /valkey/run}]
      - {name: web, image: x, command: [serve]}
      volumes:
      - {name: run, emptyDir: {}}
      - {name: modules, emptyDir: {}}
      - {name: scratch, emptyDir: {}}
  volumeClaimTemplates:
  - {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {volumeMode: Filesystem}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: shop-1, namespace: prod, labels: {valkey-render.dev/cluster: shop, valkey-render.dev/shard: "1"}}
spec: {replicas: 2, template: {spec: {containers: [{name: server, image: valkey}]}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: shop-0, namespace: prod, annotations: {team: web}}
spec: {maxUnavailable: 1, selector: {matchLabels: {valkey-render.dev/shard: "0"}}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: shop-tls, namespace: prod}
spec: {secretName: shop-tls, dnsNames: [shop, localhost]}
`

// objects reads documents as the composer would give them.
func objects(t testing.TB, text string) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for doc := range strings.SplitSeq(text, "\n---\n") {
		raw, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		content := map[string]any{}
		if err := utiljson.Unmarshal(raw, &content); err != nil {
			t.Fatal(err)
		}
		out = append(out, &unstructured.Unstructured{Object: content})
	}
	return out
}

// apply runs patches given as JSON objects {target, patch} in YAML, and holds
// that the input is left alone and that the result is the same twice.
func apply(t *testing.T, in []*unstructured.Unstructured, patches ...v1alpha1.Patch) ([]*unstructured.Unstructured, string) {
	t.Helper()
	before := snapshot(t, in)
	out, errs := patch.Apply(in, patches)
	again, errs2 := patch.Apply(in, patches)
	if after := snapshot(t, in); after != before {
		t.Errorf("the input was changed:\n%s", cmp.Diff(before, after))
	}
	if !reflect.DeepEqual(out, again) || !reflect.DeepEqual(errs, errs2) {
		t.Error("two runs differ")
	}
	findings := finding.FromFieldErrors(finding.Origin{}, finding.PatchCode, errs)
	return out, string(findings.Text())
}

func snapshot(t *testing.T, objs []*unstructured.Unstructured) string {
	t.Helper()
	raw, err := json.Marshal(objs)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func target(kind, name string) *v1alpha1.PatchTarget {
	return &v1alpha1.PatchTarget{Kind: kind, Name: name}
}

// at returns the value at a path of the object Kind/name, as JSON.
func at(t *testing.T, objs []*unstructured.Unstructured, object string, path ...string) string {
	t.Helper()
	for _, obj := range objs {
		if obj.GetKind()+"/"+obj.GetName() != object {
			continue
		}
		found, _, err := unstructured.NestedFieldNoCopy(obj.Object, path...)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(found)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	return "no such object"
}

func TestPatchesChangeWhatTheySelect(t *testing.T) {
	template := []string{"spec", "template", "spec"}
	for _, tc := range []struct {
		name   string
		patch  v1alpha1.Patch
		object string
		path   []string
		want   string
	}{
		{"strategic merge by its own name", v1alpha1.Patch{Patch: "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: shop-0}\nspec: {minReadySeconds: 5}"},
			"StatefulSet/shop-0", []string{"spec", "minReadySeconds"}, "5"},
		{"with its namespace", v1alpha1.Patch{Patch: "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: shop-0, namespace: prod}\nspec: {minReadySeconds: 5}"},
			"StatefulSet/shop-0", []string{"spec", "minReadySeconds"}, "5"},
		{"several documents", v1alpha1.Patch{Patch: "---\n# one\n---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: shop-0}\nspec: {minReadySeconds: 5}\n---\n" +
			"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: shop-1}\nspec: {minReadySeconds: 6}"},
			"StatefulSet/shop-1", []string{"spec", "minReadySeconds"}, "6"},
		{"by target, without an identity of its own", v1alpha1.Patch{Target: target("StatefulSet", "shop-.*"), Patch: "spec: {minReadySeconds: 7}"},
			"StatefulSet/shop-1", []string{"spec", "minReadySeconds"}, "7"},
		{"by label", v1alpha1.Patch{Target: &v1alpha1.PatchTarget{LabelSelector: "tier in (data)"}, Patch: "metadata: {labels: {a: b}}"},
			"StatefulSet/shop-0", []string{"metadata", "labels", "a"}, `"b"`},
		{"by annotation", v1alpha1.Patch{Target: &v1alpha1.PatchTarget{AnnotationSelector: "team"}, Patch: "spec: {maxUnavailable: 2}"},
			"PodDisruptionBudget/shop-0", []string{"spec", "maxUnavailable"}, "2"},
		{"by group and version", v1alpha1.Patch{Target: &v1alpha1.PatchTarget{Group: "policy", Version: "v1"}, Patch: "spec: {maxUnavailable: 25%}"},
			"PodDisruptionBudget/shop-0", []string{"spec", "maxUnavailable"}, `"25%"`},
		{"a name is matched as a whole", v1alpha1.Patch{Target: target("StatefulSet", "shop-0"), Patch: "spec: {minReadySeconds: 7}"},
			"StatefulSet/shop-1", []string{"spec", "minReadySeconds"}, "null"},
		{"containers merge by name", v1alpha1.Patch{Target: target("StatefulSet", "shop-0"), Patch: "spec: {template: {spec: {containers: [{name: server, env: [{name: X, value: z}]}]}}}"},
			"StatefulSet/shop-0", append(template, "containers"),
			`[{"args":["--port","6379"],"command":["/bin/sh","/valkey/scripts/start.sh"],"env":[{"name":"X","value":"z"},{"name":"POD_NAME","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],` +
				`"image":"valkey","name":"server","ports":[{"containerPort":6379,"name":"valkey","protocol":"TCP"}],"resources":{"limits":{"memory":"1Gi"}},` +
				`"volumeMounts":[{"mountPath":"/data","name":"data"},{"mountPath":"/valkey/run","name":"run"}]},{"command":["serve"],"image":"x","name":"web"}]`},
		{"operations", v1alpha1.Patch{Target: target("StatefulSet", "shop-0"), Patch: "- {op: test, path: /metadata/annotations/note, value: keep}\n- {op: add, path: /spec/template/spec/hostAliases, value: [{ip: 1.2.3.4}]}\n- {op: remove, path: /metadata/annotations/note}"},
			"StatefulSet/shop-0", append(template, "hostAliases"), `[{"ip":"1.2.3.4"}]`},
		{"operations as JSON", v1alpha1.Patch{Target: target("StatefulSet", "shop-0"), Patch: `[{"op": "replace", "path": "/spec/template/spec/terminationGracePeriodSeconds", "value": 90}]`},
			"StatefulSet/shop-0", append(template, "terminationGracePeriodSeconds"), "90"},
		{"quantities come out canonical", v1alpha1.Patch{Target: target("StatefulSet", "shop-1"), Patch: "spec: {template: {spec: {containers: [{name: server, resources: {limits: {cpu: 1000m, memory: 1024Mi, a/b: 2}, requests: {cpu: 0.5, x: [1], z: many}}}]}}}"},
			"StatefulSet/shop-1", append(template, "containers"),
			`[{"image":"valkey","name":"server","resources":{"limits":{"a/b":"2","cpu":"1","memory":"1Gi"},"requests":{"cpu":"500m","x":[1],"z":"many"}}}]`},
		{"null removes", v1alpha1.Patch{Target: target("StatefulSet", "shop-0"), Patch: "metadata: {annotations: {note: null}}"},
			"StatefulSet/shop-0", []string{"metadata", "annotations", "note"}, "null"},
		{"nulls do not come out", v1alpha1.Patch{Target: target("StatefulSet", "shop-1"), Patch: "- {op: add, path: /spec/minReadySeconds, value: null}"},
			"StatefulSet/shop-1", []string{"spec"}, `{"replicas":2,"template":{"spec":{"containers":[{"image":"valkey","name":"server"}]}}}`},
		{"a budget may go", v1alpha1.Patch{Target: target("PodDisruptionBudget", ""), Patch: "$patch: delete"},
			"PodDisruptionBudget/shop-0", nil, "no such object"},
		{"the dashboard may go", v1alpha1.Patch{Patch: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop-dashboard}\n$patch: delete"},
			"ConfigMap/shop-dashboard", nil, "no such object"},
		{"names may be added to a certificate", v1alpha1.Patch{Target: target("Certificate", ""), Patch: "- {op: add, path: /spec/dnsNames/-, value: a.example.com}"},
			"Certificate/shop-tls", []string{"spec", "dnsNames"}, `["shop","localhost","a.example.com"]`},
		{"metadata of the cluster", v1alpha1.Patch{Target: target("ValkeyCluster", ""), Patch: "metadata: {annotations: {owner: me}}"},
			"ValkeyCluster/shop", []string{"metadata", "annotations"}, `{"owner":"me"}`},
		{"an identity in the patch renames nothing", v1alpha1.Patch{Target: target("StatefulSet", "shop-0"), Patch: "kind: Any\nmetadata: {name: any, namespace: any}\nspec: {minReadySeconds: 1}"},
			"StatefulSet/shop-0", []string{"metadata", "namespace"}, `"prod"`},
		{"a service port may be added", v1alpha1.Patch{Target: target("Service", ""), Patch: "spec: {ports: [{name: more, port: 80}]}"},
			"Service/shop", []string{"spec", "ports"}, `[{"name":"more","port":80},{"name":"valkey","port":6379,"protocol":"TCP","targetPort":"valkey"}]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, errs := apply(t, objects(t, composed), tc.patch)
			if errs != "" {
				t.Fatal(errs)
			}
			if got := at(t, out, tc.object, tc.path...); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestWhatAPatchMayNotTouch(t *testing.T) {
	sts := func(patch string) v1alpha1.Patch {
		return v1alpha1.Patch{Target: target("StatefulSet", "shop-0"), Patch: patch}
	}
	server := func(patch string) v1alpha1.Patch {
		return sts("spec: {template: {spec: {containers: [{name: server, " + patch + "}]}}}")
	}
	on := " StatefulSet/prod/shop-0; "
	for _, tc := range []struct {
		name  string
		patch v1alpha1.Patch
		want  string
	}{
		{"selector", sts("- {op: add, path: /spec/selector/matchLabels/a, value: b}"), "VR0303 changes spec.selector of" + on + "selectors are frozen for ever"},
		{"service selector", v1alpha1.Patch{Target: target("Service", ""), Patch: "spec: {selector: {a: b}}"}, "VR0303 changes spec.selector of Service/prod/shop; selectors are frozen for ever"},
		{"service port", v1alpha1.Patch{Target: target("Service", ""), Patch: "- {op: replace, path: /spec/ports/0/port, value: 1}"},
			"VR0303 changes spec.ports of Service/prod/shop; networking.port sets the number; entries may be added, not changed or removed"},
		{"cluster IP", v1alpha1.Patch{Target: target("Service", ""), Patch: "spec: {clusterIP: null}"}, "VR0303 changes spec.clusterIP of Service/prod/shop; the names of the pods depend on it"},
		{"labels", sts("metadata: {labels: {valkey-render.dev/shard: \"1\"}}"), "VR0303 changes our labels on" + on + "selectors, policies and the pods themselves read them"},
		{"new label of ours", sts("metadata: {labels: {app.kubernetes.io/managed-by: me}}"), "VR0303 changes our labels on" + on + "selectors, policies and the pods themselves read them"},
		{"template labels", sts("- {op: remove, path: /spec/template/metadata/labels}"), "VR0303 changes our labels on the pod template of" + on + "selectors, policies and the pods themselves read them"},
		{"config annotation", sts("spec: {template: {metadata: {annotations: {valkey-render.dev/valkey.conf: x}}}}"),
			"VR0303 changes our annotations on the pod template of" + on + "selectors, policies and the pods themselves read them"},
		{"replicas", sts("spec: {replicas: 3}"), "VR0303 changes spec.replicas of" + on + "use shards, replicasPerShard or replicas"},
		{"service name", sts("spec: {serviceName: x}"), "VR0303 changes spec.serviceName of" + on + "the names of the pods depend on it"},
		{"policy", sts("spec: {podManagementPolicy: OrderedReady}"), "VR0303 changes spec.podManagementPolicy of" + on + "it cannot be changed later"},
		{"claim templates", sts("- {op: replace, path: /spec/volumeClaimTemplates, value: []}"), "VR0303 changes spec.volumeClaimTemplates of" + on + "use spec.storage; the claims are objects of their own"},
		{"command", server("command: [sh]"), "VR0303 changes command of container server of" + on + "it is how the container is started and stopped"},
		{"args", server("args: []"), "VR0303 changes args of container server of" + on + "it is how the container is started and stopped"},
		{"lifecycle", server("lifecycle: {preStop: {exec: {command: [x]}}}"), "VR0303 changes lifecycle of container server of" + on + "it is how the container is started and stopped"},
		{"env", server("env: [{name: POD_NAME, $patch: delete}]"), "VR0303 changes env of container server of" + on + "entries may be added, not changed or removed"},
		{"ports", sts("- {op: replace, path: /spec/template/spec/containers/0/ports/0/containerPort, value: 1}"), "VR0303 changes ports of container server of" + on + "entries may be added, not changed or removed"},
		{"mounts", server("volumeMounts: [{mountPath: /data, readOnly: true}]"), "VR0303 changes volumeMounts of container server of" + on + "entries may be added, not changed or removed"},
		{"volume", sts("spec: {template: {spec: {volumes: [{name: run, emptyDir: {medium: Memory}}, {name: modules, $patch: delete}]}}}"),
			"VR0303 changes the volumes of" + on + "the containers mount them; more may be added"},
		{"container", server("$patch: delete"), "VR0303 removes container server of" + on + "the pods cannot work without it"},
		{"init container", sts("spec: {template: {spec: {initContainers: [{name: module-search, $patch: delete}]}}}"),
			"VR0303 removes container module-search of" + on + "the pods cannot work without it"},
		{"name", sts("- {op: replace, path: /metadata/name, value: x}"), "VR0303 changes the identity of" + on + "apiVersion, kind, name and namespace are the renderer's"},
		{"namespace", sts("- {op: remove, path: /metadata/namespace}"), "VR0303 changes the identity of" + on + "apiVersion, kind, name and namespace are the renderer's"},
		{"kind", sts("- {op: replace, path: /kind, value: Deployment}"), "VR0303 changes the identity of" + on + "apiVersion, kind, name and namespace are the renderer's"},
		{"everything", sts("$patch: replace\nmetadata: {labels: {valkey-render.dev/cluster: shop, valkey-render.dev/shard: \"0\"}}\n" +
			"spec: {replicas: 2, serviceName: shop-nodes, selector: {matchLabels: {valkey-render.dev/cluster: shop}}}"),
			"VR0303 changes our annotations on the pod template of" + on + "selectors, policies and the pods themselves read them\n" +
				"VR0303 changes our labels on the pod template of" + on + "selectors, policies and the pods themselves read them\n" +
				"VR0303 changes spec.volumeClaimTemplates of" + on + "use spec.storage; the claims are objects of their own\n" +
				"VR0303 changes the volumes of" + on + "the containers mount them; more may be added\n" +
				"VR0303 removes container module-search of" + on + "the pods cannot work without it\n" +
				"VR0303 removes container server of" + on + "the pods cannot work without it"},
		{"spec of the cluster", v1alpha1.Patch{Target: target("ValkeyCluster", ""), Patch: "spec: {shards: 3}"},
			"VR0303 changes spec of ValkeyCluster/prod/shop; change the source instead: what is applied must be what was rendered"},
		{"live config", v1alpha1.Patch{Target: target("ConfigMap", "shop-live"), Patch: "data: {9.1.conf: x}"},
			"VR0303 changes data of ConfigMap/prod/shop-live; use spec.config: a patch would not be checked"},
		{"certificate", v1alpha1.Patch{Target: target("Certificate", ""), Patch: "spec: {secretName: x, dnsNames: [shop]}"},
			"VR0303 changes spec.secretName of Certificate/prod/shop-tls; use spec.tls.secretName\n" +
				"VR0303 removes names of Certificate/prod/shop-tls; names may be added, not removed"},
		{"delete stateful sets", v1alpha1.Patch{Target: target("StatefulSet", ""), Patch: "$patch: delete"},
			"VR0305 deletes StatefulSet/prod/shop-0 (and of 1 more objects); only budgets, network policies, monitoring objects and the dashboard may be deleted"},
		{"delete live config", v1alpha1.Patch{Target: target("ConfigMap", "shop-live"), Patch: "$patch: delete"},
			"VR0305 deletes ConfigMap/prod/shop-live; only budgets, network policies, monitoring objects and the dashboard may be deleted"},
		{"several objects", v1alpha1.Patch{Target: target("StatefulSet", ""), Patch: "spec: {replicas: 9}"},
			"VR0303 changes spec.replicas of StatefulSet/prod/shop-0 (and of 1 more objects); use shards, replicasPerShard or replicas"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := objects(t, composed)
			out, errs := apply(t, in, tc.patch)
			var want strings.Builder
			for line := range strings.SplitSeq(tc.want, "\n") {
				code, message, _ := strings.Cut(line, " ")
				fmt.Fprintf(&want, "error %s spec.patches[0].patch: %s\n", code, message)
			}
			if diff := cmp.Diff(want.String(), errs); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !reflect.DeepEqual(in, out) {
				t.Error("a refused patch changed something")
			}
		})
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
	golden(t, "bad-patches.txt", errs)
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
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x"}, "data": values,
	}}
	for _, p := range []string{"metadata: {annotations: {a: b}}", "- {op: add, path: /metadata/annotations, value: {a: b}}"} {
		out, errs := apply(t, []*unstructured.Unstructured{obj}, v1alpha1.Patch{Target: target("ConfigMap", ""), Patch: p})
		if errs != "" {
			t.Fatal(errs)
		}
		if diff := cmp.Diff(values, out[0].Object["data"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p, diff)
		}
	}
}

func TestUntouchedObjectsAreTheSameOnes(t *testing.T) {
	in := objects(t, composed)
	out, errs := patch.Apply(in, []v1alpha1.Patch{{Target: target("", "shop-0"), Patch: "metadata: {labels: {tier: data}}"}})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for i := range in {
		changed := in[i].GetKind() == "PodDisruptionBudget"
		if (in[i] != out[i]) != changed {
			t.Errorf("%s/%s: replaced = %t", in[i].GetKind(), in[i].GetName(), in[i] != out[i])
		}
	}
	if out, errs := patch.Apply(in, nil); len(errs) > 0 || &out[0] != &in[0] {
		t.Error("without patches the objects are copied")
	}
}

func FuzzPatch(f *testing.F) {
	f.Add("spec: {minReadySeconds: 1}")
	f.Add("- {op: add, path: /spec/x, value: {a: [1, null, \"x\"]}}\n- {op: move, from: /spec/x, path: /y}")
	f.Add("$patch: replace\nspec: {template: {$patch: delete}}")
	f.Add("metadata: {labels: {valkey-render.dev/shard: \"9\"}, name: x}")
	f.Add("spec: {template: {spec: {containers: [{name: server, $patch: delete}, {name: web, env: [{name: a}]}]}}}")
	f.Fuzz(func(t *testing.T, text string) {
		in := objects(t, composed)
		out, errs := patch.Apply(in, []v1alpha1.Patch{{Target: target("StatefulSet", "shop-0"), Patch: text}})
		if len(errs) > 0 {
			return
		}
		if len(out) != len(in) {
			t.Fatalf("%d objects of %d are left", len(out), len(in))
		}
		for i := range in {
			for _, path := range [][]string{{"kind"}, {"metadata", "name"}, {"spec", "selector"}, {"spec", "replicas"}, {"spec", "template", "metadata", "annotations"}} {
				if path[0] == "spec" && len(path) > 2 {
					path = append(path, v1alpha1.Group+"/valkey.conf")
				}
				a, _, _ := unstructured.NestedFieldNoCopy(in[i].Object, path...)
				b, _, _ := unstructured.NestedFieldNoCopy(out[i].Object, path...)
				if !reflect.DeepEqual(a, b) {
					t.Errorf("%v changed from %v to %v", path, a, b)
				}
			}
		}
	})
}

func BenchmarkApply(b *testing.B) {
	in := objects(b, composed)
	for b.Loop() {
		if _, errs := patch.Apply(in, []v1alpha1.Patch{{Target: target("StatefulSet", ""), Patch: "spec: {minReadySeconds: 1}"}}); len(errs) > 0 {
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
				_, errs := patch.Apply(in, []v1alpha1.Patch{
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

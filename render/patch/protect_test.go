// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/patch"
)

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
		{
			"service port",
			v1alpha1.Patch{Target: target("Service", ""), Patch: "- {op: replace, path: /spec/ports/0/port, value: 1}"},
			"VR0303 changes spec.ports of Service/prod/shop; networking.port sets the number; entries may be added, not changed or removed",
		},
		{"cluster IP", v1alpha1.Patch{Target: target("Service", ""), Patch: "spec: {clusterIP: null}"}, "VR0303 changes spec.clusterIP of Service/prod/shop; the names of the pods depend on it"},
		{"labels", sts("metadata: {labels: {valkey-render.dev/shard: \"1\"}}"), "VR0303 changes our labels on" + on + "selectors, policies and the pods themselves read them"},
		{"new label of ours", sts("metadata: {labels: {app.kubernetes.io/managed-by: me}}"), "VR0303 changes our labels on" + on + "selectors, policies and the pods themselves read them"},
		{"template labels", sts("- {op: remove, path: /spec/template/metadata/labels}"), "VR0303 changes our labels on the pod template of" + on + "selectors, policies and the pods themselves read them"},
		{
			"config annotation", sts("spec: {template: {metadata: {annotations: {valkey-render.dev/valkey.conf: x}}}}"),
			"VR0303 changes our annotations on the pod template of" + on + "selectors, policies and the pods themselves read them",
		},
		{"replicas", sts("spec: {replicas: 3}"), "VR0303 changes spec.replicas of" + on + "use shards, replicasPerShard or replicas"},
		{"service name", sts("spec: {serviceName: x}"), "VR0303 changes spec.serviceName of" + on + "the names of the pods depend on it"},
		{"policy", sts("spec: {podManagementPolicy: OrderedReady}"), "VR0303 changes spec.podManagementPolicy of" + on + "it cannot be changed later"},
		{"claim templates", sts("- {op: replace, path: /spec/volumeClaimTemplates, value: []}"), "VR0303 changes spec.volumeClaimTemplates of" + on + "use spec.storage; the claims are objects of their own\n" +
			"VR0304 makes an invalid object of StatefulSet/prod/shop-0: spec.template.spec.containers[server].volumeMounts names volume \"data\", which the pod does not have"},
		{"command", server("command: [sh]"), "VR0303 changes command of container server of" + on + "it is how the container is started and stopped"},
		{"args", server("args: []"), "VR0303 changes args of container server of" + on + "it is how the container is started and stopped"},
		{"lifecycle", server("lifecycle: {preStop: {exec: {command: [x]}}}"), "VR0303 changes lifecycle of container server of" + on + "it is how the container is started and stopped"},
		{"env", server("env: [{name: POD_NAME, $patch: delete}]"), "VR0303 changes env of container server of" + on + "entries may be added, not changed or removed"},
		{"ports", sts("- {op: replace, path: /spec/template/spec/containers/0/ports/0/containerPort, value: 1}"), "VR0303 changes ports of container server of" + on + "entries may be added, not changed or removed"},
		{"mounts", server("volumeMounts: [{mountPath: /data, readOnly: true}]"), "VR0303 changes volumeMounts of container server of" + on + "entries may be added, not changed or removed"},
		{
			"volume", sts("spec: {template: {spec: {volumes: [{name: run, emptyDir: {medium: Memory}}, {name: modules, $patch: delete}]}}}"),
			"VR0303 changes the volumes of" + on + "the containers mount them; more may be added\n" +
				"VR0304 makes an invalid object of StatefulSet/prod/shop-0: spec.template.spec.containers[module-search].volumeMounts names volume \"modules\", which the pod does not have",
		},
		{"container", server("$patch: delete"), "VR0303 removes container server of" + on + "the pods cannot work without it"},
		{
			"init container", sts("spec: {template: {spec: {initContainers: [{name: module-search, $patch: delete}]}}}"),
			"VR0303 removes container module-search of" + on + "the pods cannot work without it",
		},
		{"name", sts("- {op: replace, path: /metadata/name, value: x}"), "VR0303 changes the identity of" + on + "apiVersion, kind, name and namespace are the renderer's"},
		{"namespace", sts("- {op: remove, path: /metadata/namespace}"), "VR0303 changes the identity of" + on + "apiVersion, kind, name and namespace are the renderer's"},
		{"kind", sts("- {op: replace, path: /kind, value: Deployment}"), "VR0303 changes the identity of" + on + "apiVersion, kind, name and namespace are the renderer's"},
		{
			"everything", sts("$patch: replace\nmetadata: {labels: {valkey-render.dev/cluster: shop, valkey-render.dev/shard: \"0\"}}\n" +
				"spec: {replicas: 2, serviceName: shop-nodes, selector: {matchLabels: {valkey-render.dev/cluster: shop}}}"),
			"VR0303 changes our annotations on the pod template of" + on + "selectors, policies and the pods themselves read them\n" +
				"VR0303 changes our labels on the pod template of" + on + "selectors, policies and the pods themselves read them\n" +
				"VR0303 changes spec.volumeClaimTemplates of" + on + "use spec.storage; the claims are objects of their own\n" +
				"VR0303 changes the volumes of" + on + "the containers mount them; more may be added\n" +
				"VR0303 removes container module-search of" + on + "the pods cannot work without it\n" +
				"VR0303 removes container server of" + on + "the pods cannot work without it\n" +
				"VR0304 makes an invalid object of StatefulSet/prod/shop-0: spec.template.spec.containers is empty",
		},
		{
			"spec of the cluster",
			v1alpha1.Patch{Target: target("ValkeyCluster", ""), Patch: "spec: {shards: 3}"},
			"VR0303 changes spec of ValkeyCluster/prod/shop; change the source instead: what is applied must be what was rendered",
		},
		{
			"live config",
			v1alpha1.Patch{Target: target("ConfigMap", "shop-live"), Patch: "data: {9.1.conf: x}"},
			"VR0303 changes data of ConfigMap/prod/shop-live; use spec.config: a patch would not be checked; keys may be added",
		},
		{
			"certificate",
			v1alpha1.Patch{Target: target("Certificate", ""), Patch: "spec: {secretName: x, dnsNames: [shop]}"},
			"VR0303 changes spec.secretName of Certificate/prod/shop-tls; use spec.tls.secretName\n" +
				"VR0303 removes names of Certificate/prod/shop-tls; names may be added, not removed",
		},
		{
			"delete stateful sets",
			v1alpha1.Patch{Target: target("StatefulSet", ""), Patch: "$patch: delete"},
			"VR0305 deletes StatefulSet/prod/shop-0 (and of 1 more objects); only budgets, network policies, monitoring objects and the dashboard may be deleted",
		},
		{
			"delete live config",
			v1alpha1.Patch{Target: target("ConfigMap", "shop-live"), Patch: "$patch: delete"},
			"VR0305 deletes ConfigMap/prod/shop-live; only budgets, network policies, monitoring objects and the dashboard may be deleted",
		},
		{
			"several objects",
			v1alpha1.Patch{Target: target("StatefulSet", ""), Patch: "spec: {replicas: 9}"},
			"VR0303 changes spec.replicas of StatefulSet/prod/shop-0 (and of 1 more objects); use shards, replicasPerShard or replicas",
		},
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

func FuzzPatch(f *testing.F) {
	f.Add("spec: {minReadySeconds: 1}")
	f.Add("- {op: add, path: /spec/x, value: {a: [1, null, \"x\"]}}\n- {op: move, from: /spec/x, path: /y}")
	f.Add("$patch: replace\nspec: {template: {$patch: delete}}")
	f.Add("metadata: {labels: {valkey-render.dev/shard: \"9\"}, name: x}")
	f.Add("spec: {template: {spec: {containers: [{name: server, $patch: delete}, {name: web, env: [{name: a}]}]}}}")
	f.Fuzz(func(t *testing.T, text string) {
		in := objects(t, composed)
		out, _, errs := patch.Apply(in, []v1alpha1.Patch{{Target: target("StatefulSet", "shop-0"), Patch: text}})
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

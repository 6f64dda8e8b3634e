// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"encoding/json"
	"reflect"
	"strings"
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
	out, _, errs := patch.Apply(in, patches)
	again, _, errs2 := patch.Apply(in, patches)
	if after := snapshot(t, in); after != before {
		t.Errorf("the input was changed:\n%s", cmp.Diff(before, after))
	}
	if !reflect.DeepEqual(out, again) || !reflect.DeepEqual(errs, errs2) {
		t.Error("two runs differ")
	}
	findings := finding.FromFieldErrors(finding.Origin{}, errs)
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

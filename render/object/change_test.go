// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
)

// TestOneChangeTouchesOnlyWhatItMust says for changes of a spec which objects
// differ afterwards, beside the ValkeyCluster, and how:
//
//   - added, - removed, ~ changed in place, ! pods roll (the pod template differs)
//
// No change may ever reach a field of a StatefulSet that is immutable.
func TestOneChangeTouchesOnlyWhatItMust(t *testing.T) {
	const durable = `
profile: Durable
shards: 2
storage: {size: 2Gi}
resources: {limits: {memory: 2Gi}}
tls: {issuerRef: {name: ca}}
metrics: {enabled: true, podMonitor: {}, prometheusRule: {}, dashboard: {}}
`
	const replication = "topology: Replication\n"
	const cache = "shards: 1\n"
	both := []string{"! StatefulSet/orders-0", "! StatefulSet/orders-1"}
	for _, c := range []struct {
		name, from, change string
		want               []string
	}{
		{"nothing", durable, ``, nil},
		{"a directive that applies live", durable, `config: {maxmemory-policy: volatile-lru}`, []string{"~ ConfigMap/orders-live"}},
		{"maxmemory", durable, `config: {maxmemory: 1gb}`, []string{"~ ConfigMap/orders-live"}},
		{"another one", durable, `config: {slowlog-max-len: "256"}`, []string{"~ ConfigMap/orders-live"}},
		{"a directive that takes a restart", durable, `config: {databases: "4"}`, both},
		{"the node timeout", durable, `failover: {nodeTimeout: 5s}`, []string{"~ ConfigMap/orders-live"}},
		{"the share of maxmemory", durable, `memory: {maxmemoryPercent: 50}`, []string{"~ ConfigMap/orders-live"}},
		{"a larger disk", durable, `storage: {size: 3Gi}`, []string{
			"~ PersistentVolumeClaim/data-orders-0-0", "~ PersistentVolumeClaim/data-orders-0-1",
			"~ PersistentVolumeClaim/data-orders-1-0", "~ PersistentVolumeClaim/data-orders-1-1",
		}},
		{"what becomes of claims", durable, `storage: {reclaimPolicy: Delete, size: 2Gi}`, []string{"~ StatefulSet/orders-0", "~ StatefulSet/orders-1"}},
		{"one more shard", durable, `shards: 3`, []string{
			"+ PersistentVolumeClaim/data-orders-2-0", "+ PersistentVolumeClaim/data-orders-2-1",
			"+ PodDisruptionBudget/orders-2", "+ StatefulSet/orders-2",
		}},
		{"one shard less", durable, `shards: 1`, []string{
			"- PersistentVolumeClaim/data-orders-1-0", "- PersistentVolumeClaim/data-orders-1-1",
			"- PodDisruptionBudget/orders-1", "- StatefulSet/orders-1",
		}},
		{"one more replica", durable, `replicasPerShard: 2`, []string{
			"~ ConfigMap/orders-live", "+ PersistentVolumeClaim/data-orders-0-2", "+ PersistentVolumeClaim/data-orders-1-2",
			"~ PrometheusRule/orders", "~ StatefulSet/orders-0", "~ StatefulSet/orders-1",
		}},
		{"more memory", durable, `resources: {limits: {memory: 4Gi}}`, append([]string{"~ ConfigMap/orders-live"}, both...)},
		{"a new version", durable, `version: "9.0"`, both},
		{"an image of the same version", durable, `image: "docker.io/valkey/valkey:9.1.2"`, both},
		{"hibernation", durable, `hibernate: true`, []string{"~ PrometheusRule/orders", "~ StatefulSet/orders-0", "~ StatefulSet/orders-1"}},
		{"who rolls", durable, `rollout: {mode: StatefulSet}`, []string{"~ StatefulSet/orders-0", "~ StatefulSet/orders-1"}},
		{"a user", durable, `users: [{name: web, permissions: "+@read ~*"}]`, nil},
		{"no password", durable, `auth: {enabled: false}`, nil},
		{"the budget", durable, `podDisruptionBudget: {maxUnavailable: 2}`, []string{"~ PodDisruptionBudget/orders-0", "~ PodDisruptionBudget/orders-1"}},
		{"one budget for all", durable, `podDisruptionBudget: {mode: Cluster}`, []string{
			"+ PodDisruptionBudget/orders", "- PodDisruptionBudget/orders-0", "- PodDisruptionBudget/orders-1",
		}},
		{"the scrape interval", durable, `metrics: {enabled: true, podMonitor: {interval: 10s}, prometheusRule: {}, dashboard: {}}`, []string{"~ PodMonitor/orders"}},
		{"metrics off", durable, `metrics: {enabled: false}`, append(
			[]string{"- ConfigMap/orders-dashboard", "- PodMonitor/orders", "- PrometheusRule/orders"}, both...)},
		{"who may connect", durable, `networkPolicy: {enabled: true}`, []string{"+ NetworkPolicy/orders", "- NetworkPolicy/orders-bus"}},
		{"the issuer", durable, `tls: {issuerRef: {name: other}}`, []string{"~ Certificate/orders-tls"}},
		{"the Jobs", durable, `jobsTemplate: {priorityClassName: high}`, nil},
		{"the guard", durable, `deletionPolicy: Allow`, nil},
		{"a suspension", durable, `suspend: true`, nil},
		{"the rebalance", durable, `rebalance: {enabled: false}`, nil},
		{"tolerations", cache, `scheduling: {tolerations: [{operator: Exists}]}`, []string{"! StatefulSet/orders-0"}},
		{"a label of pods", cache, `pod: {labels: {team: shop}}`, []string{"! StatefulSet/orders-0"}},
		{"metrics on", cache, `metrics: {enabled: true}`, []string{"! StatefulSet/orders-0"}},
		{"a larger disk without a memory limit", "topology: Standalone\nstorage: {size: 2Gi, mode: both}\n", `storage: {size: 4Gi, mode: both}`, []string{"~ PersistentVolumeClaim/data-orders-0-0"}},
		{"the node timeout", cache, `failover: {nodeTimeout: 9s}`, []string{"~ ConfigMap/orders-live"}},
		{"detection", replication, `failover: {detection: 5s}`, nil},
		{"one more replica of a primary", replication, `replicas: 4`, []string{"~ ConfigMap/orders-live", "~ StatefulSet/orders-0"}},
		{"the first replica of a primary", replication + "replicas: 1\n", `replicas: 2`, []string{"~ ConfigMap/orders-live", "~ StatefulSet/orders-0"}},
		{"the first replica of shards that hand over by script", cache + "version: \"8.1\"\nreplicasPerShard: 0\n", `replicasPerShard: 1`, []string{"~ ConfigMap/orders-live", "~ StatefulSet/orders-0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, after := composeSpec(t, c.from), composeSpec(t, c.from, c.change)
			if diff := cmp.Diff(c.want, differences(t, before, after)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// composeSpec renders a spec with changes laid over its top-level fields.
func composeSpec(t testing.TB, spec string, changes ...string) []*unstructured.Unstructured {
	t.Helper()
	c := &v1alpha1.ValkeyCluster{}
	c.Name, c.Namespace = "orders", "shop"
	for _, text := range append([]string{spec}, changes...) {
		// A field that is named again is replaced, not merged.
		var named map[string]any
		if err := yaml.Unmarshal([]byte(text), &named); err != nil {
			t.Fatal(err)
		}
		var fresh v1alpha1.ValkeyClusterSpec
		if err := yaml.UnmarshalStrict([]byte(text), &fresh); err != nil {
			t.Fatal(err)
		}
		from, to := reflect.ValueOf(fresh), reflect.ValueOf(&c.Spec).Elem()
		for i := range from.NumField() {
			if !from.Field(i).IsZero() {
				to.Field(i).Set(from.Field(i))
			}
		}
	}
	c.Default()
	if errs := c.Validate(); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	return compose(t, c, nil)
}

func differences(t *testing.T, before, after []*unstructured.Unstructured) []string {
	t.Helper()
	old := map[string]*unstructured.Unstructured{}
	for _, o := range before {
		old[o.GetKind()+"/"+o.GetName()] = o
	}
	var out []string
	for _, o := range after {
		key := o.GetKind() + "/" + o.GetName()
		was, there := old[key]
		delete(old, key)
		switch {
		case !there:
			out = append(out, "+ "+key)
		case reflect.DeepEqual(was.Object, o.Object) || o.GetKind() == v1alpha1.KindCluster:
		case !reflect.DeepEqual(dig(was.Object, "spec.template"), dig(o.Object, "spec.template")):
			out = append(out, "! "+key)
		default:
			out = append(out, "~ "+key)
		}
		if there && o.GetKind() == "StatefulSet" {
			for _, path := range []string{"spec.selector", "spec.serviceName", "spec.podManagementPolicy", "spec.volumeClaimTemplates"} {
				if diff := cmp.Diff(dig(was.Object, path), dig(o.Object, path)); diff != "" {
					t.Errorf("%s: immutable field %s (-before +after):\n%s", key, path, diff)
				}
			}
		}
	}
	for key := range old {
		out = append(out, "- "+key)
	}
	// By name rather than by sign.
	slices.SortFunc(out, func(a, b string) int { return slices.Compare([]byte(a[2:]), []byte(b[2:])) })
	return out
}

func TestAnEditOfMetadataReachesNothingElse(t *testing.T) {
	before, _ := readCase(t, casesDir+"/metadata-of-the-input")
	after := before.DeepCopy()
	after.Labels = map[string]string{"other": "label"}
	after.Annotations = map[string]string{"valkey-render.dev/restart": "tuesday"}
	got := differences(t, compose(t, before, nil), compose(t, after, nil))
	if got != nil {
		t.Errorf("changed: %v", got)
	}
}

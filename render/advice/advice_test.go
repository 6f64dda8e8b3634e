// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package advice_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/advice"
	"github.com/valkey-render/valkey-render/render/finding"
)

func cluster(t *testing.T, spec string) *v1alpha1.ValkeyCluster {
	t.Helper()
	c := &v1alpha1.ValkeyCluster{}
	c.Name = "cache"
	if err := yaml.UnmarshalStrict([]byte(spec), &c.Spec); err != nil {
		t.Fatal(err)
	}
	c.Default()
	return c
}

// limits keeps the advice about memory out of cases that are about other things.
const limits = "resources: {limits: {memory: 1Gi}}\n"

// risk is a spec, and code and path of each piece of advice that it gets.
type risk struct {
	spec string
	want []string
}

func judge(t *testing.T, risks map[string]risk) {
	t.Helper()
	for name, tc := range risks {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, a := range advice.Check(cluster(t, tc.spec)) {
				got = append(got, string(a.Code)+" "+a.Path.String())
				if info, ok := finding.Lookup(a.Code); !ok || info.Severity != finding.Warning {
					t.Errorf("%s is not a registered warning", a.Code)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("advice (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAdviceForOneRisk(t *testing.T) {
	judge(t, map[string]risk{
		"nothing about a plain cluster": {limits, nil},
		"no memory limit":               {"{}", []string{"VR1108 spec.resources.limits.memory"}},
		"maxmemory without a limit":     {"config: {maxmemory: 1gb}", nil},
		"maxmemory as large as the limit": {
			limits + "config: {maxmemory: 1gb}", []string{"VR1107 spec.config[maxmemory]"},
		},
		"all of the limit for maxmemory": {
			limits + "memory: {maxmemoryPercent: 100}\ntopology: Standalone", []string{"VR1107 spec.memory.maxmemoryPercent"},
		},
		"two shards":                     {limits + "shards: 2", []string{"VR1101 spec.shards"}},
		"two pods without slots":         {limits + "topology: Replication\nreplicas: 2", nil},
		"durable shards without replica": {limits + "profile: Durable\nstorage: {size: 8Gi}\nreplicasPerShard: 0", []string{"VR1102 spec.replicasPerShard"}},
		"durable primary without replica": {
			limits + "profile: Durable\nstorage: {size: 8Gi}\ntopology: Replication\nreplicas: 1", []string{"VR1102 spec.replicas"},
		},
		"cached shards without replica": {limits + "replicasPerShard: 0", nil},
		"grace too short":               {limits + "pod: {terminationGracePeriodSeconds: 5}", []string{"VR1104 spec.pod.terminationGracePeriodSeconds"}},
		"grace long enough":             {limits + "pod: {terminationGracePeriodSeconds: 120}", nil},
		"durable snapshots only":        {limits + "profile: Durable\nstorage: {size: 8Gi, mode: rdb}", []string{"VR1105 spec.storage.mode"}},
		"durable without fsync": {
			limits + "profile: Durable\nstorage: {size: 8Gi}\nconfig: {appendfsync: 'no'}", []string{"VR1105 spec.config[appendfsync]"},
		},
		"variable in config text":       {limits + "config: {proc-title-template: '$(POD_NAME)'}", []string{"VR1109 spec.config[proc-title-template]"}},
		"escaped variable":              {limits + "config: {proc-title-template: '$$(POD_NAME)'}", nil},
		"unfinished variable":           {limits + "config: {proc-title-template: '$(POD_NAME'}", nil},
		"variable without an env entry": {limits + "pod: {containers: [{name: s, image: 'a:1', args: ['$(NODE)']}]}", []string{"VR1109 spec.pod.containers[0]"}},
		"variable with an env entry": {
			limits + "pod: {containers: [{name: s, image: 'a:1', args: ['$(NODE)'], env: [{name: NODE, value: x}]}]}", nil,
		},
		"variable that may come from a ConfigMap": {
			limits + "pod: {containers: [{name: s, image: 'a:1', args: ['$(NODE)'], envFrom: [{configMapRef: {name: c}}]}]}", nil,
		},
		"own certificate and metrics": {
			limits + "tls: {secretName: own}\nmetrics: {enabled: true}", []string{"VR1130 spec.tls.secretName"},
		},
		"own certificate that the exporter does not verify": {
			limits + "tls: {secretName: own}\nmetrics: {enabled: true, args: [--skip-tls-verification]}", nil,
		},
		"issued certificate and metrics": {limits + "tls: {issuerRef: {name: ca}}\nmetrics: {enabled: true}", nil},
		"unsafe sysctl": {
			limits + "pod: {securityContext: {sysctls: [{name: net.core.somaxconn, value: '1024'}, {name: net.ipv4.tcp_syncookies, value: '1'}]}}",
			[]string{"VR1110 spec.pod.securityContext.sysctls[0].name"},
		},
		"tag latest":                {limits + "image: docker.io/valkey/valkey:latest\n", []string{"VR1111 spec.image"}},
		"registry port is no tag":   {limits + "image: registry.example.com:5000/valkey\n", []string{"VR1111 spec.image"}},
		"digest":                    {limits + "image: valkey@sha256:" + strings.Repeat("a", 64), nil},
		"sidecar and module images": {limits + "modules: [{name: m, image: mod, path: /m.so}]\npod: {containers: [{name: s, image: side}]}", []string{"VR1111 spec.modules[0].image", "VR1111 spec.pod.containers[0].image"}},
		"sentinel and exporter images": {
			limits + "topology: Sentinel\nsentinel: {image: valkey}\nmetrics: {enabled: true, image: exporter}", []string{"VR1111 spec.metrics.image", "VR1111 spec.sentinel.image"},
		},
		"volume that a rewrite fills": {limits + "profile: Durable\nstorage: {size: 1Gi}", []string{"VR1112 spec.storage.size"}},
		"user with any password":      {limits + "users: [{name: a, nopass: true}, {name: b, nopass: true, enabled: false}]", []string{"VR1113 spec.users[0].nopass"}},
		"no authentication":           {limits + "auth: {enabled: false}", []string{"VR1114 spec.auth.enabled"}},
		"bus in the clear":            {limits + "tls: {clusterBus: false}", []string{"VR1115 spec.tls.clusterBus"}},
		"many shards":                 {limits + "shards: 250", []string{"VR1116 spec.shards"}},
		"many pods without claims":    {limits + "shards: 240\nreplicasPerShard: 4", nil},
		"many objects":                {limits + "shards: 240\nreplicasPerShard: 4\nstorage: {size: 8Gi}", []string{"VR1116 spec.shards"}},
		"durable pair": {
			limits + "profile: Durable\nstorage: {size: 8Gi}\ntopology: Replication\nreplicas: 2", []string{"VR1117 spec.replicas"},
		},
		"shards rolled together": {limits + "version: '8.1'\nrollout: {mode: StatefulSet}", []string{"VR1118 spec.rollout.mode"}},
		"loss allowed for durable data": {
			limits + "profile: Durable\nstorage: {size: 8Gi}\nrollout: {allowDataLoss: true}", []string{"VR1119 spec.rollout.allowDataLoss"},
		},
		"monitor without exporter": {limits + "metrics: {podMonitor: {}, dashboard: {}}", []string{"VR1120 spec.metrics.dashboard", "VR1120 spec.metrics.podMonitor"}},
		"durable that evicts": {
			limits + "profile: Durable\nstorage: {size: 8Gi}\nconfig: {maxmemory-policy: allkeys-lru}", []string{"VR1121 spec.config[maxmemory-policy]"},
		},
		"cache that does not": {limits + "config: {MaxMemory-Policy: noeviction}", []string{"VR1121 spec.config[maxmemory-policy]"}},
		"durable and unguarded": {
			limits + "profile: Durable\nstorage: {size: 8Gi}\ndeletionPolicy: Allow", []string{"VR1122 spec.deletionPolicy"},
		},
		"patch by position": {limits + "patches: [{patch: '[{op: add, path: /spec/template/spec/containers/0/env, value: []}]'}]", []string{"VR1123 spec.patches[0].patch"}},
		"patch by name":     {limits + "patches: [{patch: '[{op: add, path: /metadata/labels/a1, value: b}]'}]", nil},
		"old name for sentinels": {
			limits + "topology: Sentinel\nsentinel: {config: {Parallel-Syncs: '1', sentinel failover-timeout: '1', master-reboot-down-after-period: '5'}}",
			[]string{"VR1005 spec.sentinel.config[master-reboot-down-after-period]"},
		},
		"old name":         {limits + "config: {slave-priority: '50'}", []string{"VR1005 spec.config[slave-priority]"}},
		"name in capitals": {limits + "config: {Replica-Priority: '50'}", nil},
		"no budget":        {limits + "podDisruptionBudget: {mode: Disabled}", []string{"VR1124 spec.podDisruptionBudget.mode"}},
		"claims deleted":   {limits + "storage: {size: 8Gi, reclaimPolicy: Delete}", []string{"VR1125 spec.storage.reclaimPolicy"}},
		"takeover without a vote": {
			limits + "profile: Durable\nstorage: {size: 8Gi}\nfailover: {quorumTakeover: Auto}", []string{"VR1126 spec.failover.quorumTakeover"},
		},
		"no rebalance":      {limits + "rebalance: {enabled: false}", []string{"VR1127 spec.rebalance.enabled"}},
		"threads over CPUs": {"resources: {limits: {memory: 1Gi, cpu: 1500m}}\nconfig: {io-threads: '2'}", []string{"VR1128 spec.config[io-threads]"}},
		"threads within":    {"resources: {limits: {memory: 1Gi, cpu: '2'}}\nconfig: {io-threads: '2'}", nil},
		"request below limit": {
			"resources: {requests: {memory: 512Mi}, limits: {memory: 1Gi}}\nprofile: Durable\nstorage: {size: 8Gi}", []string{"VR1129 spec.resources.requests.memory"},
		},
	})
}

func TestAdviceForUsersOfAnACL(t *testing.T) {
	users := []v1alpha1.UserSpec{{Name: "a"}, {Name: "b", Nopass: true}}
	got := advice.Users(field.NewPath("spec", "users"), users)
	if len(got) != 1 || got[0].Path.String() != "spec.users[1].nopass" {
		t.Errorf("got %+v", got)
	}
}

func TestAdviceForPatchesThatChangeNothing(t *testing.T) {
	got := advice.Idle([]*field.Path{field.NewPath("spec", "patches").Index(1).Child("patch")})
	if len(got) != 1 || got[0].Code != finding.PatchIdle || got[0].Path.String() != "spec.patches[1].patch" {
		t.Errorf("got %+v", got)
	}
}

const workload = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: cache-0}
spec:
  replicas: 2
  selector: {matchLabels: {shard: "0"}}
  template:
    metadata: {labels: {shard: "0", cluster: cache}}
    spec:
      containers: [{name: server, args: ["$(POD_IP)"], env: [{name: POD_IP, value: x}]}]
`

func TestAdviceForPatchedObjects(t *testing.T) {
	for name, tc := range map[string]struct {
		object string
		want   []finding.Code
	}{
		"nothing":                 {"", nil},
		"unknown variable":        {"{kind: StatefulSet, metadata: {name: s}, spec: {template: {spec: {containers: [{name: c, args: ['$(NO)']}]}}}}", []finding.Code{finding.UnexpandedVariable}},
		"object of another shape": {"{kind: StatefulSet, spec: 3}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var objects []*unstructured.Unstructured
			for _, text := range []string{workload, tc.object} {
				u := &unstructured.Unstructured{}
				if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
					t.Fatal(err)
				}
				if u.Object != nil {
					objects = append(objects, u)
				}
			}
			var got []finding.Code
			for _, a := range advice.Rendered(objects) {
				got = append(got, a.Code)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("advice (-want +got):\n%s", diff)
			}
		})
	}
}

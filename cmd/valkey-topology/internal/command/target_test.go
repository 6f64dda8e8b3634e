// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/survey"
)

func TestPodsOfTheSpec(t *testing.T) {
	files := memory{"cluster.yaml": "apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: shop, namespace: ns}\nspec: {shards: 2, profile: Durable, storage: {size: 1Gi}, networking: {clusterDomain: k8s.test}}\n"}
	specs := &specs{files: []string{"cluster.yaml"}}
	a, err := (&target{}).resolve(files, specs, "")
	if err != nil {
		t.Fatal(err)
	}
	last := "shop-1-1.shop-nodes.ns.svc.k8s.test"
	want := survey.Pod{Name: "shop-1-1", Shard: 1, Index: 1, Host: last + ".", Port: 6379, ServerName: last}
	if diff := cmp.Diff(want, a.pods[len(a.pods)-1]); diff != "" || len(a.pods) != 4 || !a.desired.Durable || a.desired.Shards != 2 || a.desired.NodeTimeout == 0 || a.desired.Takeover {
		t.Errorf("%+v\n%s", a, diff)
	}
	files["cluster.yaml"] = "apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: shop, namespace: ns}\n"
	if a, err = (&target{vacate: []string{"shop-0-0"}}).resolve(files, specs, ""); err != nil || !a.desired.Takeover || len(a.desired.Vacate) != 1 {
		t.Errorf("a Cache: %v, %+v", err, a.desired)
	}
}

func TestAHandoverNeedsPodsToLeave(t *testing.T) {
	s := run(t, memory{}, nil, "run", "--kind", "handover", "--shards", "1", "--pod", "c-0-0=127.0.0.1")
	if s.code != outcome.ExitBadInput || !strings.Contains(s.err.String(), "--vacate: name the pods") {
		t.Errorf("exit code %d: %s", s.code, s.err.String())
	}
}

func TestKindsAreForTheirTopologies(t *testing.T) {
	for topology, kinds := range map[string][]string{
		"Replication": {"rebalance", "drain", "takeover"},
		"Sentinel":    {"rebalance", "drain", "takeover"},
		"Standalone":  {"rebalance", "drain", "takeover", "handover", "failover"},
	} {
		for _, kind := range kinds {
			s := run(t, memory{}, nil, "run", "--kind", kind, "--topology", topology, "--pod", "c-0-0=127.0.0.1", "--sentinel", "c-sentinel-0=127.0.0.1", "--deadline", "1s")
			if topology != "Sentinel" {
				s = run(t, memory{}, nil, "run", "--kind", kind, "--topology", topology, "--pod", "c-0-0=127.0.0.1", "--deadline", "1s")
			}
			if want := "topology " + topology + ": not done by kind " + kind; s.code != outcome.ExitBadInput || !strings.Contains(s.err.String(), want) {
				t.Errorf("exit code %d, without %q: %s", s.code, want, s.err.String())
			}
		}
	}
}

func TestASentinelSpecNamesItsPods(t *testing.T) {
	files := memory{"cluster.yaml": `
apiVersion: valkey-render.dev/v1alpha1
kind: ValkeyCluster
metadata: {name: shop, namespace: ns}
spec:
  topology: Sentinel
  replicas: 2
  config: {Replica-Priority: "50"}
  sentinel: {replicas: 5, downAfter: 7s}
`, "pw": "hunter2"}
	specs := &specs{files: []string{"cluster.yaml"}}
	a, err := (&target{replication: replication{passwords: []string{"pw"}, presentPods: 4}}).resolve(files, specs, "")
	if err != nil {
		t.Fatal(err)
	}
	last := "shop-sentinel-4.shop-sentinel.ns.svc.cluster.local"
	want := survey.Pod{Name: "shop-sentinel-4", Index: 4, Host: last + ".", Port: 26379, ServerName: last}
	if diff := cmp.Diff(want, a.sentinels[len(a.sentinels)-1]); diff != "" || len(a.sentinels) != 5 || len(a.pods) != 4 {
		t.Errorf("%+v\n%s", a, diff)
	}
	d := a.desired
	if d.Sentinels != 5 || d.Quorum != 3 || d.ReplicaPriority != 50 || d.Shards != 1 || d.Replicas != 1 || d.Detection == 0 {
		t.Errorf("%+v", d)
	}
	if a.sentinelSettings["down-after-milliseconds"] != "7000" || a.sentinelSettings["failover-timeout"] == "" {
		t.Errorf("%v", a.sentinelSettings)
	}
	if login, err := a.sentinelLogin(); err != nil || login.User != "_sentinel" || login.Passwords[0] != "hunter2" {
		t.Errorf("%v, %+v", err, login)
	}
}

// TestEverythingWrongWithATargetIsToldAtOnce before any server is asked.
func TestEverythingWrongWithATargetIsToldAtOnce(t *testing.T) {
	files := memory{"sentinel.yaml": "apiVersion: valkey-render.dev/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: shop}\nspec: {topology: Sentinel}\n", "empty": ""}
	for _, test := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"--shards 0: must be 1 or more", "no pods: name them with --pod"}},
		{
			[]string{
				"--shards", "1", "--replicas", "-1", "--accept-slot-loss", "5-4", "--pod", "c=1", "--pod", "c-0-0", "--pod", "c-0-0=", "--pod", "c-x-0=h", "--pod", "c-0-0=h,port=0", "--pod", "c-0-0=h,runs=no", "--pod", "c-0-0=h,more=1",
				"--pod", "c-0-0=h", "--pod", "c-0-0=h", "--user", "x", "--tls-cert", "c",
			},
			[]string{
				"--replicas -1", "--accept-slot-loss: slots \"5-4\"", "\"c=1\": name \"c\" does not end", "\"c-0-0\": not NAME=HOST", "\"c-0-0=\": not NAME=HOST", "\"c-x-0\" does not end",
				"port \"0\"", "runs \"no\"", "\"more\": must be", "the pod is there twice", "--user x: needs --password-file", "need --tls-ca",
			},
		},
		{[]string{"--shards", "1", "--pod", "c-0-0=h", "--password-file", "gone", "--tls-ca", "empty", "--tls-key", "k"}, []string{"--password-file gone: there is no such file", "--tls-ca: empty: no certificate", "--tls-cert, --tls-key: open"}},
		{[]string{"-f", "sentinel.yaml", "--topology", "Replication"}, []string{"--topology Replication: the spec says Sentinel"}},
		{[]string{"-f", "sentinel.yaml", "--sentinel", "c-0-0=h", "--sentinel", "c-sentinel-0"}, []string{"\"c-0-0\" does not end with -sentinel-INDEX", "\"c-sentinel-0\": not NAME=HOST"}},
		{[]string{"-f", "sentinel.yaml", "--quorum", "4"}, []string{"3 sentinels of which 4 have to agree"}},
		{[]string{"--topology", "Replication", "--shards", "2", "--pod", "c-0-0=h"}, []string{"--shards 2: topology Replication has one"}},
		{[]string{"--topology", "Standalone", "--quorum", "2", "--pod", "c-0-0=h"}, []string{"topology Standalone has none"}},
		{[]string{"--shards", "1", "--keep", "c-0-0", "--pod", "c-0-0=h"}, []string{"--keep, --detection, --sentinel, --quorum, --sentinel-password-file: not for topology Cluster"}},
	} {
		for _, command := range [][]string{{"run", "--kind", "bootstrap"}, {"survey"}, {"plan"}} {
			s := run(t, files, nil, append(command, test.args...)...)
			if s.code != outcome.ExitBadInput {
				t.Errorf("%s %q: exit code %d", command, test.args, s.code)
			}
			for _, want := range test.want {
				if !strings.Contains(s.err.String(), want) {
					t.Errorf("%s %q does not say %q:\n%s", command, test.args, want, s.err.String())
				}
			}
		}
	}
}

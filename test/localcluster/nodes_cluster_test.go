// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package main_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// servers are three Valkey servers, one a node, with a claim each, as restricted pods.
const servers = `
apiVersion: v1
kind: Namespace
metadata: {name: t, labels: {pod-security.kubernetes.io/enforce: restricted}}
---
apiVersion: v1
kind: Service
metadata: {name: nodes, namespace: t}
spec: {clusterIP: None, selector: {app: v}, ports: [{port: 6379}]}
---
apiVersion: v1
kind: Service
metadata: {name: v, namespace: t}
spec: {selector: {app: v}, ports: [{port: 6379}]}
---
apiVersion: v1
kind: Service
metadata: {name: six, namespace: t}
spec: {selector: {app: v}, ports: [{port: 6379}], ipFamilies: [IPv6], ipFamilyPolicy: SingleStack}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: v, namespace: t}
spec:
  serviceName: nodes
  replicas: 3
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: v}}
  template:
    metadata: {labels: {app: v}}
    spec:
      terminationGracePeriodSeconds: 2
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: v}}}
      securityContext: {runAsUser: 999, runAsGroup: 999, fsGroup: 999, runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers:
      - name: server
        image: valkey/valkey:9.1
        args: [--protected-mode, "no", --dir, /data]
        securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
        volumeMounts: [{name: data, mountPath: /data}]
        readinessProbe: {exec: {command: [sh, -c, valkey-cli ping]}, periodSeconds: 1}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

func TestThreeNodes(t *testing.T) {
	c := newCluster(t, "test-nodes")
	start := time.Now()
	t.Log(c.do("up", "--nodes", "3"))
	t.Logf("up after %s", time.Since(start).Round(100*time.Millisecond))
	state := c.state()
	if got, want := c.must("", "get", "nodes", `-o=jsonpath={.items[*].metadata.labels.topology\.kubernetes\.io/zone}`), "zone-a zone-b zone-c"; got != want {
		t.Errorf("zones %s, want %s", got, want)
	}
	c.must(servers, "apply", "-f", "-")
	c.must("", "-n", "t", "rollout", "status", "statefulset/v", "--timeout=60s")
	t.Run("images", c.images)
	t.Run("network", c.network)
	t.Run("storage", c.storage)
	t.Run("stopped node", c.stoppedNode)
	t.Run("partitioned node", c.partitionedNode)
	t.Run("killed programs", func(t *testing.T) { c.killedPrograms(t, state) })
	c.do("down")
	gone(t, state)
}

// exec runs a script in a server's pod.
func (c cluster) exec(t *testing.T, pod, script string) string {
	t.Helper()
	out, err := c.kubectl("", "-n", "t", "exec", pod, "--", "sh", "-c", script)
	if err != nil {
		t.Errorf("%s: %s: %v: %s", pod, script, err, out)
	}
	return out
}

func (c cluster) images(t *testing.T) {
	for _, version := range []string{"8.0", "8.1", "9.1"} {
		name := "v" + strings.ReplaceAll(version, ".", "")
		pod := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": %q, "namespace": "t"}, "spec": {"containers": [{
			"name": "server", "image": "valkey/valkey:%s", "securityContext": {"runAsUser": 999, "runAsNonRoot": true,
			"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}}}]}}`, name, version)
		c.must(pod, "apply", "-f", "-")
		c.must("", "-n", "t", "wait", "--for=condition=Ready", "pod/"+name, "--timeout=30s")
		want := "valkey " + version
		out := c.exec(t, name, `set -e
			for p in timeout sha1sum od awk sed grep cut tail head tr date mv; do command -v $p >/dev/null || echo no $p; done
			timeout 5 valkey-cli info server | grep valkey_version; id -un`)
		if !strings.Contains(out, "valkey_version:"+version+".") || !strings.HasSuffix(out, "\nvalkey") || strings.Contains(out, "no ") {
			t.Errorf("%s: %s", want, out)
		}
	}
}

func (c cluster) network(t *testing.T) {
	if out := c.exec(t, "v-0", "for i in 1 2 3 4 5 6 7 8; do timeout 3 valkey-cli -h v ping; done"); out != strings.TrimSpace(strings.Repeat("PONG\n", 8)) {
		t.Errorf("through the Service: %s", out)
	}
	if _, err := os.Stat("/proc/sys/net/ipv6/conf/all"); err == nil {
		six := c.must("", "-n", "t", "get", "service/six", "-o=jsonpath={.spec.clusterIP}")
		if out := c.exec(t, "v-0", "for i in 1 2 3 4 5 6 7 8; do timeout 3 valkey-cli -h "+six+" ping; done"); out != strings.TrimSpace(strings.Repeat("PONG\n", 8)) {
			t.Errorf("through the Service %s: %s", six, out)
		}
	}
	for _, pod := range []string{"v-0", "v-1", "v-2"} {
		if out := c.exec(t, "v-1", "timeout 3 valkey-cli -h "+pod+".nodes.t.svc.cluster.local ping"); out != "PONG" {
			t.Errorf("%s by its name: %s", pod, out)
		}
	}
	if out, err := c.try("run", "--node", "2", "--", "getent", "hosts", "v-2.nodes.t"); err != nil || !strings.Contains(out, "10.244.") {
		t.Errorf("a program of this machine: %v: %s", err, out)
	}
}

func (c cluster) storage(t *testing.T) {
	claim := []string{"-n", "t", "get", "pvc/data-v-0", "-o=jsonpath={.status.capacity.storage} {.status.allocatedResourceStatuses.storage}"}
	before := c.must("", "-n", "t", "get", "pod/v-0", "-o=jsonpath={.metadata.uid}{.status.containerStatuses[0].restartCount}")
	grow := func(size, outcome string) {
		t.Helper()
		c.must("", "-n", "t", "annotate", "pvc/data-v-0", "--overwrite", "localcluster.valkey-render.dev/resize="+outcome)
		c.must("", "-n", "t", "patch", "pvc/data-v-0", "-p", `{"spec":{"resources":{"requests":{"storage":"`+size+`"}}}}`)
	}
	grow("2Gi", "done")
	c.until("2Gi", 10*time.Second, claim...)
	grow("3Gi", "pending")
	c.until("2Gi ControllerResizeInProgress", 10*time.Second, claim...)
	grow("3Gi", "infeasible")
	c.until("2Gi ControllerResizeInfeasible", 10*time.Second, claim...)
	grow("3Gi", "done")
	c.until("3Gi", 10*time.Second, claim...)
	if after := c.must("", "-n", "t", "get", "pod/v-0", "-o=jsonpath={.metadata.uid}{.status.containerStatuses[0].restartCount}"); after != before {
		t.Error("the pod was restarted")
	}
	if out := c.exec(t, "v-0", "stat -c %g:%a /data"); out != "999:2775" {
		t.Errorf("the volume's group and mode: %s", out)
	}
}

// nodeOf is the number of the node that a pod is on.
func (c cluster) nodeOf(pod string) string {
	return strings.TrimPrefix(c.must("", "-n", "t", "get", "pod/"+pod, "-o=jsonpath={.spec.nodeName}"), "node")
}

func (c cluster) stoppedNode(t *testing.T) {
	node := c.nodeOf("v-2")
	c.exec(t, "v-2", "valkey-cli set kept yes; valkey-cli save")
	c.do("stop-node", node)
	if out, err := c.try("status"); err == nil || !strings.Contains(out, "stopped") {
		t.Errorf("status: %v: %s", err, out)
	}
	if out, err := c.try("up", "--nodes", "3"); err == nil || !strings.Contains(out, "up, but node"+node+" is stopped") {
		t.Errorf("up: %v: %s", err, out)
	}
	c.do("heal", node)
	c.until("1", time.Minute, "-n", "t", "get", "pod/v-2", "-o=jsonpath={.status.containerStatuses[0].restartCount}")
	c.must("", "-n", "t", "wait", "--for=condition=Ready", "pod/v-2", "--timeout=60s")
	if out := c.exec(t, "v-2", "valkey-cli get kept"); out != "yes" {
		t.Errorf("the volume after the stop: %s", out)
	}
}

func (c cluster) partitionedNode(t *testing.T) {
	node := c.nodeOf("v-1")
	c.do("partition", node)
	if out, err := c.try("status"); err == nil || !strings.Contains(out, "partitioned") {
		t.Errorf("status: %v: %s", err, out)
	}
	if out, err := c.kubectl("", "-n", "t", "exec", "v-0", "--", "timeout", "2", "valkey-cli", "-h", "v-1.nodes", "ping"); err == nil {
		t.Errorf("the other side answers: %s", out)
	}
	c.until("Unknown", 90*time.Second, "get", "node/node"+node, `-o=jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
	c.do("heal", node)
	if out := c.exec(t, "v-0", "timeout 5 valkey-cli -h v-1.nodes ping"); out != "PONG" {
		t.Errorf("after the partition: %s", out)
	}
}

// killedPrograms kills every program of the cluster but its hosts and its pods.
func (c cluster) killedPrograms(t *testing.T, state string) {
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	for _, file := range environments {
		data, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(data, []byte("="+state+"\x00")) {
			continue
		}
		line, err := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if err != nil || bytes.HasPrefix(line, []byte(state)) || bytes.Contains(line, []byte("shim")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err == nil {
			killed++
		}
	}
	if killed < 15 {
		t.Errorf("killed %d programs, want 6 and 3 a node", killed)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Second) {
		out, err := c.try("status")
		if err == nil && strings.Count(out, "containerd kube-proxy kubelet") == 3 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("not back: %v: %s", err, out)
		}
	}
	c.until("PONG", time.Minute, "-n", "t", "exec", "v-0", "--", "timeout", "3", "valkey-cli", "-h", "v-2.nodes", "ping")
}

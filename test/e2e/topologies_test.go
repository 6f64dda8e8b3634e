// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/valkey-render/valkey-render/render/name"
)

// TestClusterTopologiesRun: the pods of topologies that are joined later run and answer
// PING. Ready is what their readiness probe says: a node of topology Cluster that nobody
// has joined and a sentinel without a primary serve, a server that waits to be promoted or
// to be given a primary does not.
func TestClusterTopologiesRun(t *testing.T) {
	t.Parallel()
	for topology, c := range map[string]struct {
		spec            string
		data, sentinels int
		ready           bool
	}{
		"Replication": {spec: "{topology: Replication, replicas: 2, ", data: 2},
		"Sentinel":    {spec: "{topology: Sentinel, replicas: 2, sentinel: {replicas: 3}, ", data: 2, sentinels: 3},
		"Cluster":     {spec: "{shards: 3, replicasPerShard: 0, ", data: 3, ready: true},
	} {
		for _, version := range []string{"8.0", "9.1"} {
			t.Run(topology+"/"+version, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				p.apply(p.spec(c.spec + `version: "` + version + `",
  resources: {requests: {cpu: 10m, memory: 32Mi}, limits: {memory: 64Mi}}}`))
				p.until(patience, func() error { return p.count(name.ComponentServer, c.data) })
				p.until(patience, func() error { return p.count(name.ComponentSentinel, c.sentinels) })
				for _, pod := range p.pods(name.LabelComponent, name.ComponentServer) {
					p.answers(&pod, 6379)
					p.isReady(&pod, c.ready)
				}
				for _, pod := range p.pods(name.LabelComponent, name.ComponentSentinel) {
					p.answers(&pod, 26379)
					p.isReady(&pod, true)
				}
			})
		}
	}
}

// count is nil when that many pods of a component run.
func (p *place) count(component string, want int) error {
	pods := p.pods(name.LabelComponent, component)
	var errs []error
	if len(pods) != want {
		errs = append(errs, fmt.Errorf("%d pods %s, want %d", len(pods), component, want))
	}
	for _, pod := range pods {
		errs = append(errs, running(&pod))
	}
	return errors.Join(errs...)
}

// answers checks that the server of a pod answers PING at a port, to who has the password
// and to nobody else.
func (p *place) answers(pod *corev1.Pod, port int) {
	p.Helper()
	ask := fmt.Sprintf(`VALKEYCLI_AUTH=$(cat); export VALKEYCLI_AUTH REDISCLI_AUTH="$VALKEYCLI_AUTH"; timeout 60 valkey-cli -h "$POD_IP" -p %d PING`, port)
	if out, err := p.exec(pod.Name, p.password("cache-auth", "password"), "sh", "-c", ask); err != nil || out != "PONG" {
		p.Errorf("%s: PING: %v: %q", pod.Name, err, out)
	}
	if out, _ := p.exec(pod.Name, "a wrong one", "sh", "-c", ask); !strings.Contains(out, "NOAUTH") {
		p.Errorf("%s: PING with a wrong password: %q", pod.Name, out)
	}
}

// isReady checks what the readiness probe says, and that the kubelet takes it for that.
func (p *place) isReady(pod *corev1.Pod, want bool) {
	p.Helper()
	var out string
	var err error
	p.until(patience, func() error {
		out, err = p.exec(pod.Name, "", "/bin/sh", "/valkey/scripts/probe.sh", "readiness")
		// On a busy machine a client does not always end in the time of one probe.
		if strings.Contains(out, "in time") {
			return fmt.Errorf("%s: readiness: %s", pod.Name, out)
		}
		return nil
	})
	switch {
	case want && err != nil:
		p.Errorf("%s: readiness: %v: %s", pod.Name, err, out)
	case want:
		p.until(patience, func() error {
			if !ready(p.pod(pod.Name)) {
				return fmt.Errorf("%s is not Ready", pod.Name)
			}
			return nil
		})
	case err == nil || !strings.Contains(out, "readiness: replica of 127.0.0.1:1, not in sync since the container started"):
		p.Errorf("%s: readiness: %v: %s", pod.Name, err, out)
	case ready(p.pod(pod.Name)):
		p.Errorf("%s is Ready", pod.Name)
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestClusterStandalone: every version becomes Ready, and another pod writes and reads
// through its Service, with the password of a Secret that was there.
func TestClusterStandalone(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"8.0", "8.1", "9.1"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.secret("given", map[string]string{"pass": "given password"})
			o := p.apply(p.spec(`{topology: Standalone, version: "`+version+`", auth: {existingSecret: {name: given, key: pass}},
  resources: {requests: {cpu: 10m, memory: 32Mi}, limits: {memory: 64Mi}}}`), waited()...)
			if pod := p.pod("cache-0-0"); !ready(pod) || restarts(pod) != 0 {
				t.Errorf("--wait ended, and the pod is %+v\n%s", pod.Status, o.errOut)
			}
			v := p.visitor()
			host := "cache." + p.namespace + ".svc"
			v.soon(host, "given password", "OK", "SET", "greeting", "hello")
			v.must(host, "given password", "hello", "GET", "greeting")
			if out, _ := v.ask(host, "another password\n", "GET", "greeting"); !strings.Contains(out, "NOAUTH Authentication required.") {
				t.Errorf("with another password: %s", out)
			}
			if out, _ := v.ask(host, "given password\n", "INFO", "server"); !strings.Contains(out, "valkey_version:"+version+".") {
				t.Errorf("it is no %s: %s", version, out)
			}
			p.fromTheNode(host, "given password")
		})
	}
}

// fromTheNode reads what the visitor wrote with a program of this machine.
func (p *place) fromTheNode(host, password string) {
	p.Helper()
	program := os.Getenv("LOCALCLUSTER")
	if program == "" {
		p.Log("the cluster is that of KUBECONFIG: nothing is asked from its nodes")
		return
	}
	command := exec.CommandContext(p.Context(), program, "--source", "..", "--name", os.Getenv("LOCALCLUSTER_NAME"),
		"run", "--", os.Getenv("VALKEY_CLI"), "-h", host, "GET", "greeting")
	command.Env = append(os.Environ(), "VALKEYCLI_AUTH="+password, "REDISCLI_AUTH="+password)
	if out, err := command.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "hello" {
		p.Errorf("localcluster run: %v: %s", err, out)
	}
}

// TestClusterStandaloneWithTLS: probes get through TLS that asks for certificates, clients
// without one do not, and nobody gets in without TLS.
func TestClusterStandaloneWithTLS(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"8.0", "8.1", "9.1"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.apply(p.spec(`{topology: Standalone, version: "`+version+`", tls: {clientAuth: Required, minVersion: "1.3"},
  resources: {requests: {cpu: 10m, memory: 32Mi}, limits: {memory: 64Mi}}}`), waited()...)
			if pod := p.pod("cache-0-0"); !ready(pod) || restarts(pod) != 0 {
				t.Errorf("--wait ended, and the pod is %+v", pod.Status)
			}
			v := p.visitor()
			password := p.password("cache-auth", "password")
			host := "cache." + p.namespace + ".svc"
			if out, err := v.ask(host, password+"\n", "PING"); err == nil && out == "PONG" {
				t.Error("it answers without TLS")
			}
			for _, file := range []string{"ca.crt", "tls.crt", "tls.key"} {
				if out, err := v.exec("visitor", p.password("visitor-tls", file), "sh", "-c", "cat >/tmp/"+file); err != nil {
					t.Fatal(out, err)
				}
			}
			v.options = []string{"--tls", "--cacert", "/tmp/ca.crt", "--sni", host}
			if out, err := v.ask(host, password+"\n", "PING"); err == nil && out == "PONG" {
				t.Error("it answers a client without a certificate")
			}
			v.options = append(v.options, "--cert", "/tmp/tls.crt", "--key", "/tmp/tls.key")
			v.soon(host, password, "OK", "SET", "greeting", "hello")
			v.must(host, password, "hello", "GET", "greeting")
		})
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/host"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/network"
)

// plane is where the parts of a control plane find each other: file names as the host sees
// them, and addresses.
type plane struct {
	etcd       []string // command line
	bin        string   // directory of Kubernetes' programs
	pki        string
	kubeconfig string
	data       string // etcd's
	client     int    // etcd's ports
	peer       int
	address    string // the API server's
	port       int
}

func (p plane) server() string { return fmt.Sprintf("https://%s:%d", p.address, p.port) }

func (p plane) file(name string) string { return filepath.Join(p.pki, name) }

// ready is the API server's answer that it is.
func (p plane) ready() *host.Probe {
	return &host.Probe{URL: p.server() + "/readyz", CA: p.file("ca.crt"), Certificate: p.file("admin.crt"), Key: p.file("admin.key")}
}

func (p plane) store() host.Program {
	client := "http://127.0.0.1:" + strconv.Itoa(p.client)
	return host.Program{Name: "etcd", Command: append(p.etcd,
		"--data-dir", p.data, "--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", "http://127.0.0.1:"+strconv.Itoa(p.peer),
		"--initial-advertise-peer-urls", "http://127.0.0.1:"+strconv.Itoa(p.peer),
		"--initial-cluster", "default=http://127.0.0.1:"+strconv.Itoa(p.peer),
		// A power cut loses a cluster that is made in seconds.
		"--unsafe-no-fsync", "--log-level", "warn")}
}

func (p plane) apiServer(extra ...string) host.Program {
	return host.Program{
		Name:  "kube-apiserver",
		After: &host.Probe{URL: fmt.Sprintf("http://127.0.0.1:%d/health", p.client)},
		Command: append([]string{
			p.bin + "/kube-apiserver",
			"--etcd-servers=http://127.0.0.1:" + strconv.Itoa(p.client),
			"--service-cluster-ip-range=" + strings.Join(network.Services(), ","),
			"--advertise-address=" + p.address, "--secure-port=" + strconv.Itoa(p.port),
			"--client-ca-file=" + p.file("ca.crt"),
			"--tls-cert-file=" + p.file("apiserver.crt"), "--tls-private-key-file=" + p.file("apiserver.key"),
			"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
			"--service-account-key-file=" + p.file("sa.pub"), "--service-account-signing-key-file=" + p.file("sa.key"),
			"--allow-privileged=true", "--profiling=false",
		}, extra...),
	}
}

func (p plane) controllerManager(extra ...string) host.Program {
	return host.Program{
		Name: "kube-controller-manager", After: p.ready(),
		Command: append([]string{
			p.bin + "/kube-controller-manager",
			"--kubeconfig=" + p.kubeconfig, "--leader-elect=false", "--use-service-account-credentials=true",
			"--service-account-private-key-file=" + p.file("sa.key"), "--root-ca-file=" + p.file("ca.crt"),
			"--cluster-signing-cert-file=" + p.file("ca.crt"), "--cluster-signing-key-file=" + p.file("ca.key"),
			"--profiling=false",
		}, extra...),
	}
}

// alone is the spec of a control plane without nodes, on loopback.
func (p plane) alone(logs string) host.Spec {
	return host.Spec{Name: control, Logs: logs, Programs: []host.Program{
		p.store(),
		p.apiServer("--bind-address=127.0.0.1", "--authorization-mode=RBAC",
			// Loopback is no address that the kubernetes Service could have.
			"--endpoint-reconciler-type=none"),
		// It serves nothing but its own health.
		p.controllerManager("--secure-port=0"),
	}}
}

// whole is the spec of a control plane with nodes, in a namespace of its own.
func (p plane) whole(root host.Root) host.Spec {
	return host.Spec{
		Name: control, Root: &root, Logs: "/var/log", Forward: fmt.Sprintf("%s:%d", p.address, p.port),
		Programs: []host.Program{
			p.store(),
			p.apiServer("--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
				"--kubelet-client-certificate="+p.file("admin.crt"), "--kubelet-client-key="+p.file("admin.key"),
				"--kubelet-preferred-address-types=InternalIP",
				"--audit-policy-file=/"+auditPolicy, "--audit-log-path="+auditLog,
				// Webhooks and aggregated APIs are asked at their pods: no kube-proxy runs here.
				"--enable-aggregator-routing=true"),
			p.controllerManager("--cluster-cidr="+strings.Join(network.Pods(), ","), "--allocate-node-cidrs=false"),
			{Name: "kube-scheduler", After: p.ready(), Command: []string{
				p.bin + "/kube-scheduler", "--kubeconfig=" + p.kubeconfig, "--leader-elect=false", "--profiling=false",
			}},
			{Name: "coredns", After: p.ready(), Command: []string{"/opt/addons/coredns", "-conf", "/etc/coredns/Corefile"}},
			{Name: "provisioner", After: p.ready(), Command: []string{
				"/opt/addons/provisioner", "-kubeconfig", p.kubeconfig, "-root", "/volumes",
			}},
		},
	}
}

// Where the API server of a cluster with nodes finds what it shall record, and records it.
const (
	auditPolicy = "etc/audit/policy.yaml"
	auditLog    = "/var/log/audit.log"
)

// audited is what the API server records: who asked for what, of the service accounts that
// are not of Kubernetes' own controllers.
func audited() string {
	return `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  userGroups: ["system:serviceaccounts:kube-system"]
- level: Metadata
  userGroups: ["system:serviceaccounts"]
`
}

// corefile has the times of real clusters: with a time to live of seconds, tests would not
// see what half a minute of old names does.
func corefile(kubeconfig string) string {
	return fmt.Sprintf(`.:53 {
	bind %s
	errors
	ready 127.0.0.1:8181
	kubernetes cluster.local in-addr.arpa ip6.arpa {
		kubeconfig %s
		pods insecure
		ttl 30
	}
	cache 30
}
`, network.Control, kubeconfig)
}

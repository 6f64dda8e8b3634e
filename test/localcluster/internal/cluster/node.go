// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"strings"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/host"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/network"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/parts"
)

const containerdSocket = "/run/containerd/containerd.sock"

// node is the spec of node number n.
func (c *Cluster) node(n int, root host.Root) host.Spec {
	name := nodeName(n)
	root.Files["etc/containerd/config.toml"] = containerdConfig()
	root.Files["etc/cni/net.d/10-pods.conflist"] = podNetwork(n)
	root.Files["etc/kubelet.yaml"] = kubeletConfig(c.group() + "/" + name)
	return host.Spec{
		Name: name, Root: &root, Logs: "/var/log",
		Programs: []host.Program{
			{Name: "containerd", Command: []string{"/usr/bin/containerd", "-c", "/etc/containerd/config.toml"}},
			{
				Name: "kubelet", After: &host.Probe{Socket: containerdSocket},
				Command: []string{
					"/opt/kubernetes/kubelet", "--config=/etc/kubelet.yaml", "--kubeconfig=/etc/kubernetes/kubelet.kubeconfig",
					"--hostname-override=" + name, "--node-ip=" + strings.Join(network.Node(n), ","),
					"--node-labels=topology.kubernetes.io/region=local,topology.kubernetes.io/zone=" + zone(n),
				},
			},
			{Name: "kube-proxy", Command: []string{
				"/opt/kubernetes/kube-proxy", "--kubeconfig=/etc/kubernetes/admin.kubeconfig", "--hostname-override=" + name,
				"--cluster-cidr=" + strings.Join(network.Pods(), ","), "--proxy-mode=iptables",
				// The limit is the whole machine's.
				"--conntrack-max-per-core=0", "--conntrack-min=0",
			}},
		},
	}
}

func containerdConfig() string {
	return fmt.Sprintf(`version = 3
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "%s"
[plugins."io.containerd.cri.v1.images"]
  snapshotter = "overlayfs"
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "%s"
[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
[plugins."io.containerd.cri.v1.runtime".cni]
  bin_dirs = ["/usr/lib/cni"]
  conf_dir = "/etc/cni/net.d"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
`, containerdSocket, parts.PauseImage)
}

// podNetwork gives every pod a cable of its own to the node, without a bridge: what pods of
// one node send each other through a Service passes kube-proxy's rules in both directions,
// with any kernel. Addresses in use are forgotten when a node stops, as its pods are.
func podNetwork(n int) string {
	var ranges, routes []string
	for _, subnet := range network.NodePods(n) {
		ranges = append(ranges, fmt.Sprintf(`[{"subnet": %q}]`, subnet))
		if len(routes) == 0 {
			routes = append(routes, `{"dst": "0.0.0.0/0"}`)
		} else {
			routes = append(routes, `{"dst": "::/0"}`)
		}
	}
	return fmt.Sprintf(`{
  "cniVersion": "1.0.0",
  "name": "pods",
  "plugins": [
    {"type": "ptp", "ipMasq": false, "ipam": {"type": "host-local", "dataDir": "/run/cni",
      "ranges": [%s], "routes": [%s]}},
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
`, strings.Join(ranges, ", "), strings.Join(routes, ", "))
}

func kubeletConfig(group string) string {
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: /etc/kubernetes/ca.crt}
authorization: {mode: Webhook}
tlsCertFile: /etc/kubernetes/kubelet.crt
tlsPrivateKeyFile: /etc/kubernetes/kubelet.key
cgroupDriver: cgroupfs
cgroupRoot: %s
failCgroupV1: false
failSwapOn: false
containerRuntimeEndpoint: unix://%s
clusterDNS: [%s]
clusterDomain: cluster.local
resolvConf: ""
serializeImagePulls: false
# The disk is the whole machine's: how full it is says nothing about the pods.
imageGCHighThresholdPercent: 100
evictionHard: {nodefs.available: "0%%", nodefs.inodesFree: "0%%", imagefs.available: "0%%", memory.available: "100Mi"}
`, group, containerdSocket, network.Control)
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"strconv"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
	"github.com/valkey-render/valkey-render/render/script"
)

// References that Kubernetes expands from the container's environment.
const (
	podIP        = "$(" + script.EnvPodIP + ")"
	podName      = "$(" + script.EnvPodName + ")"
	podNamespace = "$(" + script.EnvPodNamespace + ")"
)

// Args returns the arguments that follow the config file on valkey-server's
// command line, one word each: what a server is, rather than how it behaves.
// Kubernetes expands $(POD_IP), $(POD_NAME) and $(POD_NAMESPACE) from the
// container's environment.
func Args(c *v1alpha1.ValkeyCluster) []string {
	number := strconv.Itoa(int(c.Port()))
	args := []string{"--dir", script.DataDir}
	if c.TLSEnabled() {
		args = append(args, "--port", "0", "--tls-port", number)
	} else {
		args = append(args, "--port", number)
	}
	args = append(args, "--aclfile", script.ACLDir+"/"+script.ACLFile(c.ServerVersion()))
	switch c.EffectiveTopology() {
	case v1alpha1.TopologyCluster:
		args = append(args, clusterArgs(c)...)
	case v1alpha1.TopologyReplication, v1alpha1.TopologySentinel:
		args = append(args, "--replica-announce-ip", announced(c))
	}
	return args
}

func clusterArgs(c *v1alpha1.ValkeyCluster) []string {
	args := []string{"--cluster-enabled", "yes", "--cluster-config-file", script.DataDir + "/" + script.NodesFile}
	if c.TLSEnabled() && !c.ClusterBusTLS() {
		// The bus listens 10000 above the plain port unless the bus itself uses
		// TLS, and the plain port is 0.
		args = append(args, "--cluster-port", strconv.Itoa(int(c.BusPort())))
	}
	// A node that met nobody yet does not know its own address, and would give
	// clients an empty one.
	args = append(args, "--cluster-announce-ip", podIP)
	if c.Announce() == v1alpha1.AnnounceHostname {
		// Either alone makes clients get "?" for an address.
		args = append(args, "--cluster-announce-hostname", announced(c), "--cluster-preferred-endpoint-type", "hostname")
	}
	return args
}

// announced is how a pod names itself.
func announced(c *v1alpha1.ValkeyCluster) string {
	if c.Announce() != v1alpha1.AnnounceHostname {
		return podIP
	}
	return podName + "." + name.ServiceFQDN(name.Nodes(c.Name), podNamespace, c.ClusterDomain())
}

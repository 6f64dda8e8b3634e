// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

const lastPort = 65535

// networkPolicies returns the policies of a cluster. They are about who may
// connect to its pods; what its pods connect to is left open.
func networkPolicies(c *v1alpha1.ValkeyCluster) []*networkingv1.NetworkPolicy {
	if !c.NetworkPolicyEnabled() {
		if !c.IsCluster() || !c.BusPolicyEnabled() {
			return nil
		}
		return []*networkingv1.NetworkPolicy{busPolicy(c)}
	}
	out := []*networkingv1.NetworkPolicy{serverPolicy(c)}
	if c.IsSentinel() {
		out = append(out, sentinelPolicy(c))
	}
	return out
}

// busPolicy closes the cluster bus to all but the cluster's own pods and leaves
// every other port open. A pod's old address may be another cluster's by now, and
// one handshake with it would merge the two.
func busPolicy(c *v1alpha1.ValkeyCluster) *networkingv1.NetworkPolicy {
	bus := c.BusPort()
	open := []networkingv1.NetworkPolicyPort{
		portRange(corev1.ProtocolTCP, 1, bus-1),
		portRange(corev1.ProtocolUDP, 1, lastPort),
		portRange(corev1.ProtocolSCTP, 1, lastPort),
	}
	if bus < lastPort {
		open = append(open, portRange(corev1.ProtocolTCP, bus+1, lastPort))
	}
	return policy(sharedMeta(c, name.BusPolicy(c.Name)), name.ServerSelector(c.Name),
		networkingv1.NetworkPolicyIngressRule{From: peersOf(name.ServerSelector(c.Name)), Ports: tcp(bus)},
		networkingv1.NetworkPolicyIngressRule{Ports: open},
	)
}

// serverPolicy admits clients, the cluster's own pods and Jobs, the reconciler and
// whoever scrapes to the data pods.
func serverPolicy(c *v1alpha1.ValkeyCluster) *networkingv1.NetworkPolicy {
	servers := peersOf(name.ServerSelector(c.Name))
	inner := append(servers, peersOf(name.ComponentSelector(c.Name, name.ComponentJob))...)
	if c.IsSentinel() {
		inner = append(inner, peersOf(name.SentinelSelector(c.Name))...)
	}
	rules := []networkingv1.NetworkPolicyIngressRule{
		{From: c.AllowFrom(), Ports: tcp(c.Port())},
		{From: append(inner, reconciler()), Ports: tcp(c.Port())},
	}
	if c.IsCluster() {
		rules = append(rules, networkingv1.NetworkPolicyIngressRule{From: servers, Ports: tcp(c.BusPort())})
	}
	if c.MetricsEnabled() {
		// Metrics are no secret inside of a Kubernetes cluster, and nobody knows
		// from which namespace they are scraped.
		rules = append(rules, networkingv1.NetworkPolicyIngressRule{
			From:  []networkingv1.NetworkPolicyPeer{{NamespaceSelector: &metav1.LabelSelector{}}},
			Ports: tcp(v1alpha1.MetricsPort),
		})
	}
	return policy(sharedMeta(c, name.Policy(c.Name)), name.ServerSelector(c.Name), rules...)
}

// sentinelPolicy admits clients, which ask Sentinels for the primary, and the
// cluster's own pods and Jobs to the Sentinel pods.
func sentinelPolicy(c *v1alpha1.ValkeyCluster) *networkingv1.NetworkPolicy {
	var inner []networkingv1.NetworkPolicyPeer
	for _, component := range []string{name.ComponentServer, name.ComponentSentinel, name.ComponentJob} {
		inner = append(inner, peersOf(name.ComponentSelector(c.Name, component))...)
	}
	return policy(sentinelMeta(c, name.Sentinel(c.Name)), name.SentinelSelector(c.Name),
		networkingv1.NetworkPolicyIngressRule{From: c.AllowFrom(), Ports: tcp(v1alpha1.SentinelPort)},
		networkingv1.NetworkPolicyIngressRule{From: append(inner, reconciler()), Ports: tcp(v1alpha1.SentinelPort)},
	)
}

func policy(meta metav1.ObjectMeta, selector map[string]string, rules ...networkingv1.NetworkPolicyIngressRule) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: meta,
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: selector},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress:     rules,
		},
	}
}

// peersOf are the pods of the namespace that a selector matches.
func peersOf(selector map[string]string) []networkingv1.NetworkPolicyPeer {
	return []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{MatchLabels: selector}}}
}

// reconciler is the reconciler's pods, in whichever namespace it runs.
func reconciler() networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{
		NamespaceSelector: &metav1.LabelSelector{},
		PodSelector:       &metav1.LabelSelector{MatchLabels: name.ReconcilerSelector()},
	}
}

func tcp(port int32) []networkingv1.NetworkPolicyPort {
	return []networkingv1.NetworkPolicyPort{{Protocol: new(corev1.ProtocolTCP), Port: new(intstr.FromInt32(port))}}
}

func portRange(protocol corev1.Protocol, first, last int32) networkingv1.NetworkPolicyPort {
	return networkingv1.NetworkPolicyPort{Protocol: &protocol, Port: new(intstr.FromInt32(first)), EndPort: &last}
}

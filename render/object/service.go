// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// Names of ports. A name is never given another number: merged by number, the old
// entry would stay beside the new one and the name would be there twice.
const (
	portServer   = "valkey"
	portBus      = "bus"
	portMetrics  = "metrics"
	portSentinel = "sentinel"
)

// services returns every Service of a cluster.
func services(c *v1alpha1.ValkeyCluster) []*corev1.Service {
	server := servicePort(portServer, c.Port())
	nodes := []corev1.ServicePort{server}
	if c.IsCluster() {
		nodes = append(nodes, servicePort(portBus, c.BusPort()))
	}
	out := []*corev1.Service{
		service(c, sharedMeta(c, name.Client(c.Name)), name.ServerSelector(c.Name), server),
		headless(service(c, sharedMeta(c, name.Nodes(c.Name)), name.ServerSelector(c.Name), nodes...)),
	}
	if c.HasRoles() {
		out = append(out,
			service(c, sharedMeta(c, name.Primary(c.Name)), name.RoleSelector(c.Name, string(v1alpha1.RolePrimary)), server),
			service(c, sharedMeta(c, name.Replicas(c.Name)), name.RoleSelector(c.Name, string(v1alpha1.RoleReplica)), server))
	}
	if c.IsSentinel() {
		out = append(out, headless(service(c, sentinelMeta(c, name.Sentinel(c.Name)), name.SentinelSelector(c.Name),
			servicePort(portSentinel, v1alpha1.SentinelPort))))
	}
	return out
}

func service(c *v1alpha1.ValkeyCluster, meta metav1.ObjectMeta, selector map[string]string, ports ...corev1.ServicePort) *corev1.Service {
	s := &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: meta,
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, Selector: selector, Ports: ports},
	}
	if n := c.Spec.Networking; n != nil && n.IPFamily != "" {
		policy := corev1.IPFamilyPolicySingleStack
		s.Spec.IPFamilyPolicy = &policy
		s.Spec.IPFamilies = []corev1.IPFamily{corev1.IPFamily(n.IPFamily)}
	}
	return s
}

// headless makes a Service give pods their names. Pods that are not ready have
// one too: to become ready they have to find each other.
func headless(s *corev1.Service) *corev1.Service {
	s.Spec.ClusterIP = corev1.ClusterIPNone
	s.Spec.PublishNotReadyAddresses = true
	return s
}

func servicePort(called string, port int32) corev1.ServicePort {
	return corev1.ServicePort{Name: called, Port: port, TargetPort: intstr.FromString(called), Protocol: corev1.ProtocolTCP}
}

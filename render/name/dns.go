// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package name

// ServiceFQDN is the DNS name of a Service, without a trailing dot. domain is
// the Kubernetes cluster's, such as cluster.local.
func ServiceFQDN(service, namespace, domain string) string {
	return service + "." + namespace + ".svc." + domain
}

// PodFQDN is the DNS name of a data pod, without a trailing dot.
func PodFQDN(cluster string, shard, index int32, namespace, domain string) string {
	return Pod(cluster, shard, index) + "." + ServiceFQDN(Nodes(cluster), namespace, domain)
}

// SentinelFQDN is the DNS name of a Sentinel pod, without a trailing dot.
func SentinelFQDN(cluster string, index int32, namespace, domain string) string {
	return SentinelPod(cluster, index) + "." + ServiceFQDN(Sentinel(cluster), namespace, domain)
}

// CertificateNames are the DNS names that a certificate must carry: localhost
// for the exporter, every form of each Service's name, and a wildcard for the
// pods behind each headless Service (a wildcard stands for exactly one label).
// headless Services are among the services.
func CertificateNames(namespace, domain string, services, headless []string) []string {
	names := make([]string, 0, 1+4*len(services)+len(headless))
	names = append(names, "localhost")
	for _, s := range services {
		names = append(names, s, s+"."+namespace, s+"."+namespace+".svc", ServiceFQDN(s, namespace, domain))
	}
	for _, s := range headless {
		names = append(names, "*."+ServiceFQDN(s, namespace, domain))
	}
	return names
}

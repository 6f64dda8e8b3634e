// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// MetricsPort is the port of the exporter.
	MetricsPort = 9121
	// SentinelPort is the port of the Sentinels, with TLS and without.
	SentinelPort = 26379

	minPort = 1024
	maxPort = 65535 - BusPortOffset
	// maxClusterDomain leaves room for the longest name of a pod in the 253
	// characters of a DNS name.
	maxClusterDomain = 91
)

func (c *ValkeyCluster) validateAuth(v *violations, path *field.Path) {
	a := c.Spec.Auth
	if a == nil || a.ExistingSecret == nil {
		return
	}
	if !c.AuthEnabled() {
		v.forbidden(path.Child("existingSecret"), "auth is not enabled: remove one of the two")
	}
	v.secretRef(path.Child("existingSecret"), a.ExistingSecret)
	c.ownSecret(v, path.Child("existingSecret", "name"), a.ExistingSecret.Name)
}

// ownSecret refuses the names of the Secrets that the reconciler writes.
func (c *ValkeyCluster) ownSecret(v *violations, path *field.Path, name string) {
	if slices.Contains([]string{c.Name + "-system", c.Name + "-acl"}, name) {
		v.invalid(path, name, "is written by the reconciler")
	}
}

func (c *ValkeyCluster) validateTLS(v *violations, path *field.Path) {
	t := c.Spec.TLS
	if t == nil {
		return
	}
	v.subdomain(path.Child("secretName"), t.SecretName)
	c.ownSecret(v, path.Child("secretName"), t.SecretName)
	if t.SecretName != "" && t.SecretName == c.AuthSecret().Name {
		v.invalid(path.Child("secretName"), t.SecretName, "holds the password of the default user")
	}
	oneOf(v, path.Child("clientAuth"), t.ClientAuth, TLSClientAuthOff, TLSClientAuthOptional, TLSClientAuthRequired)
	oneOf(v, path.Child("minVersion"), t.MinVersion, "1.2", "1.3")
	if !deref(t.ClusterBus, true) && !c.IsCluster() {
		v.invalid(path.Child("clusterBus"), false, "topology %s has no cluster bus: remove the field", c.EffectiveTopology())
	}
	if i := t.IssuerRef; i != nil {
		at := path.Child("issuerRef")
		if c.Namespace == "" {
			v.required(field.NewPath("metadata", "namespace"), "spec.tls.issuerRef needs it: the names in a certificate contain the namespace")
		}
		if i.Name == "" {
			v.required(at.Child("name"), "name of an issuer of cert-manager")
		}
		v.subdomain(at.Child("name"), i.Name)
		v.subdomain(at.Child("group"), i.Group)
		if i.Group == "" || i.Group == DefaultIssuerGroup {
			oneOf(v, at.Child("kind"), i.Kind, DefaultIssuerKind, "ClusterIssuer")
		}
	}
}

func (c *ValkeyCluster) validateNetworking(v *violations, path *field.Path) {
	n := c.Spec.Networking
	if n == nil {
		return
	}
	within(v, path.Child("port"), n.Port, minPort, maxPort)
	if c.Port() == MetricsPort {
		v.invalid(path.Child("port"), MetricsPort, "is the exporter's port")
	}
	if d := n.ClusterDomain; d != "" {
		if trimmed := strings.Trim(d, "."); trimmed != d {
			v.invalid(path.Child("clusterDomain"), d, "must not begin or end with a dot: did you mean %s?", trimmed)
		} else {
			v.host(path.Child("clusterDomain"), d)
		}
		if len(d) > maxClusterDomain {
			v.list = append(v.list, field.TooLong(path.Child("clusterDomain"), d, maxClusterDomain))
		}
	}
	oneOf(v, path.Child("ipFamily"), n.IPFamily, "IPv4", "IPv6")
	oneOf(v, path.Child("announce"), n.Announce, AnnounceIP, AnnounceHostname)
	c.validateExternalAccess(v, path.Child("externalAccess"))
}

func (c *ValkeyCluster) validateExternalAccess(v *violations, path *field.Path) {
	e := c.Spec.Networking.ExternalAccess
	if e == nil {
		return
	}
	if e.Type == "" {
		v.required(path.Child("type"), "LoadBalancer or NodePort")
	}
	oneOf(v, path.Child("type"), e.Type, "LoadBalancer", "NodePort")
	v.annotations(path.Child("annotations"), e.Annotations)
	if e.HostnameTemplate == "" {
		return
	}
	at := path.Child("hostnameTemplate")
	filled := strings.NewReplacer("{pod}", "cluster-0-0", "{shard}", "0", "{index}", "0").Replace(e.HostnameTemplate)
	if open := strings.IndexByte(filled, '{'); open >= 0 {
		v.invalid(at, e.HostnameTemplate, "may hold {pod}, {shard} and {index}, nothing else in braces")
	} else if len(validation.IsDNS1123Subdomain(filled)) > 0 || longLabel(filled) {
		v.invalid(at, e.HostnameTemplate, "must make a DNS name, like {pod}.valkey.example.com")
	}
	perShard := c.ShardCount() == 1 || strings.Contains(e.HostnameTemplate, "{shard}")
	perPod := c.PodsPerShard() == 1 || strings.Contains(e.HostnameTemplate, "{index}")
	if !strings.Contains(e.HostnameTemplate, "{pod}") && (!perShard || !perPod) {
		v.invalid(at, e.HostnameTemplate, "must give every pod a name of its own: use {pod}, or {shard} and {index}")
	}
}

func (c *ValkeyCluster) validateReplicateFrom(v *violations, path *field.Path) {
	r := c.Spec.ReplicateFrom
	if r == nil {
		return
	}
	if t := c.EffectiveTopology(); t == TopologyCluster || t == TopologySentinel {
		v.forbidden(path, "only topology Standalone and Replication can follow a foreign primary; this is topology %s", t)
	}
	if c.Spec.RestoreFrom != nil {
		v.forbidden(path, "a cluster that follows a foreign primary takes its data from there: remove restoreFrom or replicateFrom")
	}
	if r.Host == "" {
		v.required(path.Child("host"), "host of the primary")
	} else if strings.Contains(r.Host, "@") {
		v.invalid(path.Child("host"), notShown, "must be a host alone: the password belongs in passwordSecret")
	} else if _, err := netip.ParseAddr(r.Host); err != nil {
		v.host(path.Child("host"), r.Host)
	}
	within(v, path.Child("port"), r.Port, 1, 65535)
	v.secretRef(path.Child("passwordSecret"), r.PasswordSecret)
	v.secretRef(path.Child("caSecret"), r.CASecret)
	if r.CASecret != nil && !r.TLS {
		v.forbidden(path.Child("caSecret"), "needs tls: true beside it")
	}
	if r.CASecret != nil && c.Spec.TLS == nil {
		v.forbidden(path.Child("caSecret"), "needs spec.tls: the server checks both ends with one configuration")
	}
}

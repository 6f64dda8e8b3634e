// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package object

import (
	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// certificate asks cert-manager for the Secret that the pods mount, or is nil. It
// names what clients dial: the Services, each pod under its headless Service, and
// localhost for the exporter; so a namespace must be known, as Validate holds. Nodes
// use it as clients too.
func certificate(c *v1alpha1.ValkeyCluster) map[string]any {
	if !c.TLSEnabled() || c.Spec.TLS.IssuerRef == nil {
		return nil
	}
	var all, headless []string
	for _, s := range services(c) {
		all = append(all, s.Name)
		if s.Spec.ClusterIP != "" {
			headless = append(headless, s.Name)
		}
	}
	issuer := c.Spec.TLS.IssuerRef
	return custom("cert-manager.io/v1", "Certificate", sharedMeta(c, name.Certificate(c.Name)), map[string]any{
		"secretName": c.TLSSecretName(),
		"issuerRef":  map[string]any{"name": issuer.Name, "kind": issuer.Kind, "group": issuer.Group},
		"dnsNames":   anys(name.CertificateNames(c.Namespace, c.ClusterDomain(), all, headless)),
		"usages":     anys([]string{"digital signature", "key encipherment", "server auth", "client auth"}),
		"privateKey": map[string]any{"algorithm": "ECDSA", "size": int64(256), "rotationPolicy": "Always"},
	})
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cluster

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/render/name"
)

// certificate makes the Secret of a cluster with TLS as cert-manager would, and a second
// one, visitor-tls, for its clients.
func (p *place) certificate(c *v1alpha1.ValkeyCluster) {
	p.Helper()
	ca, key := p.sign(nil, nil, &x509.Certificate{
		Subject: pkix.Name{CommonName: "e2e"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	for secret, names := range map[string][]string{
		c.TLSSecretName(): name.CertificateNames(p.namespace, "cluster.local", []string{name.Client(c.Name)}, []string{name.Nodes(c.Name)}),
		"visitor-tls":     {"visitor"},
	} {
		cert, own := p.sign(ca, key, &x509.Certificate{
			Subject: pkix.Name{CommonName: names[0]}, DNSNames: names, KeyUsage: x509.KeyUsageDigitalSignature,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		})
		der, err := x509.MarshalPKCS8PrivateKey(own)
		if err != nil {
			p.Fatal(err)
		}
		p.secret(secret, map[string]string{
			"ca.crt": pemOf("CERTIFICATE", ca.Raw), "tls.crt": pemOf("CERTIFICATE", cert.Raw), "tls.key": pemOf("PRIVATE KEY", der),
		})
	}
}

func pemOf(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// sign makes a certificate and its key; without an authority it signs itself.
func (p *place) sign(ca *x509.Certificate, by *ecdsa.PrivateKey, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	p.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	if ca == nil {
		ca, by = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca, key.Public(), by)
	if err != nil {
		p.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		p.Fatal(err)
	}
	return cert, key
}

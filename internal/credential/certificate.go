// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"time"

	"github.com/valkey-render/valkey-render/render/script"
)

// validity is how long a certificate is good: longer than anybody tries a cluster.
const validity = 10 * 365 * 24 * time.Hour

// Keys of the client's pair, beside the servers' in the same Secret: where servers ask
// for certificates, a client shows this one.
const (
	ClientCert = "client.crt"
	ClientKey  = "client.key"
)

// authority is the name of the authorities that are made up.
const authority = "valkey-render try"

// elsewhere is whether a certificate was made up for other addresses.
func elsewhere(text []byte, addresses []netip.Addr) bool {
	block, _ := pem.Decode(text)
	if block == nil {
		return false
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil || cert.Issuer.CommonName != authority {
		return false
	}
	for _, a := range addresses {
		if cert.VerifyHostname(a.String()) != nil {
			return true
		}
	}
	return false
}

// issue makes an authority, and signs a certificate for servers, which are clients of
// each other, and one for clients. The authority's key is thrown away.
func issue(names []string, addresses []netip.Addr) (map[string][]byte, error) {
	now := time.Now()
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: authority},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(validity),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	server := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "valkey"},
		NotBefore: ca.NotBefore, NotAfter: ca.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:    names,
	}
	for _, a := range addresses {
		server.IPAddresses = append(server.IPAddresses, net.IP(a.AsSlice()))
	}
	client := &x509.Certificate{
		SerialNumber: big.NewInt(3), Subject: pkix.Name{CommonName: "client"},
		NotBefore: ca.NotBefore, NotAfter: ca.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	out := map[string][]byte{}
	if out[script.TLSCA], err = sign(ca, ca, caKey, caKey); err != nil {
		return nil, err
	}
	if out[script.TLSCert], out[script.TLSKey], err = pair(server, ca, caKey); err != nil {
		return nil, err
	}
	out[ClientCert], out[ClientKey], err = pair(client, ca, caKey)
	return out, err
}

// pair makes a key and its certificate, both PEM.
func pair(template, ca *x509.Certificate, caKey *ecdsa.PrivateKey) (cert, key []byte, err error) {
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if cert, err = sign(template, ca, own, caKey); err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		return nil, nil, err
	}
	return cert, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

func sign(template, ca *x509.Certificate, own, caKey *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, ca, &own.PublicKey, caKey)
	if err != nil {
		return nil, fmt.Errorf("certificate of %s: %w", template.Subject.CommonName, err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

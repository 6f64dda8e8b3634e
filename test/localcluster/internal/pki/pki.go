// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Subject is who a certificate is for: the user and group that Kubernetes reads from it,
// and the names and addresses it serves.
type Subject struct {
	User, Group string
	Names       []string
	Addresses   []string
}

// Authority signs the certificates of one cluster.
type Authority struct {
	dir         string
	key         crypto.Signer
	certificate *x509.Certificate
	serial      int64
}

// New makes an authority, with ca.crt and ca.key in dir, and the key pair that signs the
// tokens of service accounts, sa.pub and sa.key.
func New(dir string) (*Authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	a := &Authority{dir: dir}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "localcluster"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	if err := a.sign("ca", template); err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	if err := a.write("sa.pub", "PUBLIC KEY", public); err != nil {
		return nil, err
	}
	return a, a.writeKey("sa.key", key)
}

// Issue makes name.crt and name.key, for clients and servers alike.
func (a *Authority) Issue(name string, s Subject) error {
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: s.User},
		DNSNames:    s.Names,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if s.Group != "" {
		template.Subject.Organization = []string{s.Group}
	}
	for _, address := range s.Addresses {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(address))
	}
	return a.sign(name, template)
}

// sign makes a key and its certificate; the first is the authority's own.
func (a *Authority) sign(name string, template *x509.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("certificate %s: %w", name, err)
	}
	a.serial++
	template.SerialNumber = big.NewInt(a.serial)
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().AddDate(1, 0, 0)
	if a.certificate == nil {
		a.key, a.certificate = key, template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("certificate %s: %w", name, err)
	}
	if template == a.certificate {
		if a.certificate, err = x509.ParseCertificate(der); err != nil {
			return fmt.Errorf("certificate %s: %w", name, err)
		}
	}
	if err := a.write(name+".crt", "CERTIFICATE", der); err != nil {
		return err
	}
	return a.writeKey(name+".key", key)
}

func (a *Authority) writeKey(file string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("certificate %s: %w", file, err)
	}
	return a.write(file, "EC PRIVATE KEY", der)
}

func (a *Authority) write(file, kind string, der []byte) error {
	data := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(filepath.Join(a.dir, file), data, 0o600); err != nil {
		return fmt.Errorf("certificates: %w", err)
	}
	return nil
}

// Kubeconfig is a kubeconfig for the user of certificate name in dir, whole in itself.
func Kubeconfig(dir, name, cluster, server string) ([]byte, error) {
	encoded := make([]any, 0, 3)
	for _, file := range []string{"ca.crt", name + ".crt", name + ".key"} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, fmt.Errorf("kubeconfig: %w", err)
		}
		encoded = append(encoded, base64.StdEncoding.EncodeToString(data))
	}
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters:
- name: %[1]s
  cluster:
    server: %[2]s
    certificate-authority-data: %[3]s
users:
- name: %[1]s
  user:
    client-certificate-data: %[4]s
    client-key-data: %[5]s
contexts:
- name: %[1]s
  context:
    cluster: %[1]s
    user: %[1]s
current-context: %[1]s
`, append([]any{cluster, server}, encoded...)...), nil
}

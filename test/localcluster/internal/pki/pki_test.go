// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package pki_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/pki"
)

func TestIssuesCertificatesThatItsAuthorityVouchesFor(t *testing.T) {
	dir := t.TempDir()
	a, err := pki.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := pki.Subject{User: "system:node:node1", Group: "system:nodes", Names: []string{"node1"}, Addresses: []string{"192.168.250.11"}}
	if err := a.Issue("node1", s); err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "node1.crt"), filepath.Join(dir, "node1.key"))
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	for _, name := range []string{"node1", "192.168.250.11"} {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: name}); err != nil {
			t.Error(err)
		}
	}
	if pair.Leaf.Subject.CommonName != s.User || pair.Leaf.Subject.Organization[0] != s.Group {
		t.Errorf("subject %v", pair.Leaf.Subject)
	}
	config, err := pki.Kubeconfig(dir, "node1", "local", "https://127.0.0.1:6443")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"https://127.0.0.1:6443", base64.StdEncoding.EncodeToString(ca)} {
		if !bytes.Contains(config, []byte(part)) {
			t.Errorf("the kubeconfig lacks %.40s", part)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "node1.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key: %v, %v", info.Mode(), err)
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package setting

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// files are ca.crt, tls.crt and tls.key of a new authority.
func files(t *testing.T, names ...string) [3][]byte {
	t.Helper()
	key := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: noon.AddDate(-1, 0, 0), NotAfter: noon.AddDate(1, 0, 0), IsCA: true, BasicConstraintsValid: true}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: noon.Add(-time.Hour), NotAfter: noon.Add(time.Hour), DNSNames: names}
	caKey, leafKey := key(), key()
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		t.Fatal(err)
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, leafKey.Public(), caKey)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(leafKey)
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string, der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}) }
	return [3][]byte{block("CERTIFICATE", caDER), block("CERTIFICATE", leafDER), block("PRIVATE KEY", keyDER)}
}

func TestParseCertificate(t *testing.T) {
	one, two := files(t, "a.b"), files(t, "a.b")
	for name, c := range map[string]struct {
		ca, cert, key []byte
		now           time.Time
		flaw          Flaw
	}{
		"right":                {one[0], one[1], one[2], noon, ""},
		"one of several":       {append(append([]byte{}, two[0]...), one[0]...), one[1], one[2], noon, ""},
		"another's key":        {one[0], one[1], two[2], noon, KeyMismatch},
		"another's authority":  {two[0], one[1], one[2], noon, Untrusted},
		"over":                 {one[0], one[1], one[2], noon.Add(2 * time.Hour), Expired},
		"not yet":              {one[0], one[1], one[2], noon.Add(-2 * time.Hour), Expired},
		"no authority":         {nil, one[1], one[2], noon, Unreadable},
		"no key":               {one[0], one[1], []byte("x"), noon, Unreadable},
		"a key as certificate": {one[0], one[2], one[2], noon, Unreadable},
	} {
		got, err := ParseCertificate(c.ca, c.cert, c.key, c.now)
		if c.flaw == "" {
			if err != nil || len(got.Fingerprint) != 64 || got.For("a.b") != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		flaw, wrong := errors.AsType[*FlawError](err)
		if !wrong || flaw.Flaw != c.flaw {
			t.Errorf("%s: %v, want %s", name, err, c.flaw)
		}
	}
	c, err := ParseCertificate(one[0], one[1], one[2], noon)
	if err != nil {
		t.Fatal(err)
	}
	flaw, wrong := errors.AsType[*FlawError](c.For("b.b"))
	if !wrong || flaw.Flaw != NameMissing || !strings.Contains(flaw.Error(), "b.b") {
		t.Errorf("another name: %v", flaw)
	}
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package setting

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// Flaw says what is wrong with the files of a certificate.
type Flaw string

// What may be wrong with them.
const (
	// Unreadable: no certificate or key in one of them.
	Unreadable Flaw = "TLSUnreadable"
	// KeyMismatch: the key is not the certificate's.
	KeyMismatch Flaw = "TLSKeyMismatch"
	// Untrusted: the certificate is of none of the authorities.
	Untrusted Flaw = "TLSUntrusted"
	// Expired: its time is over, or not yet there.
	Expired Flaw = "TLSExpired"
	// NameMissing: it is not for a pod's name.
	NameMissing Flaw = "TLSNameMissing"
)

// FlawError is a certificate that must not be served.
type FlawError struct {
	Flaw Flaw
	Err  error
}

func (e *FlawError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *FlawError) Unwrap() error { return e.Err }

// Certificate is one that fits its key and its authorities.
type Certificate struct {
	leaf *x509.Certificate
	// Fingerprint is the SHA-256 of the leaf's DER in lower-case hexadecimal.
	Fingerprint string
}

// ParseCertificate reads ca.crt, tls.crt and tls.key. The error is a *FlawError, and tells
// nothing of the key.
func ParseCertificate(ca, cert, key []byte, now time.Time) (*Certificate, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return nil, &FlawError{Unreadable, errors.New("ca.crt: no certificate in it")}
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, &FlawError{keyFlaw(cert, key), errors.New("tls.crt, tls.key: no certificate with its key in them")}
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return nil, &FlawError{Unreadable, fmt.Errorf("tls.crt: %w", err)}
	}
	between := x509.NewCertPool()
	for _, der := range pair.Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil {
			between.AddCert(c)
		}
	}
	_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	if err != nil {
		flaw := Untrusted
		if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
			flaw = Expired
		}
		return nil, &FlawError{flaw, fmt.Errorf("tls.crt: %w", err)}
	}
	return &Certificate{leaf: leaf, Fingerprint: Fingerprint(leaf.Raw)}, nil
}

// keyFlaw tells a key of another certificate from what is no key.
func keyFlaw(cert, key []byte) Flaw {
	_, err := tls.X509KeyPair(cert, key)
	if err != nil && err.Error() == "tls: private key does not match public key" {
		return KeyMismatch
	}
	return Unreadable
}

// For returns a *FlawError if the certificate is not for a name or address.
func (c *Certificate) For(host string) error {
	if err := c.leaf.VerifyHostname(host); err != nil {
		return &FlawError{NameMissing, fmt.Errorf("tls.crt: %w", err)}
	}
	return nil
}

// Fingerprint is the SHA-256 of a certificate, DER, in lower-case hexadecimal.
func Fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

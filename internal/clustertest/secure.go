// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package clustertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/servertest"
)

// Domain follows the names of pods that announce their names.
const Domain = "c-nodes.shop.svc.cluster.local"

// Secure is how pods are reached that speak TLS only and ask for certificates.
type Secure struct {
	// Config trusts their authority and has a certificate to show.
	Config *tls.Config
	// IP is the loopback address that they listen on.
	IP string
	// Name, when not "", is what pods of topologies without slots call themselves to each
	// other: a name that servers resolve.
	Name string

	dir string
}

// NewSecure makes an authority and a certificate for the names of pods, and for nothing
// else: no address is in it.
func NewSecure(tb testing.TB) *Secure {
	tb.Helper()
	s := &Secure{IP: loopback(), dir: tb.TempDir()}
	key := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			tb.Fatal(err)
		}
		return k
	}
	now := time.Now()
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "valkey"}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames: []string{"*." + Domain},
	}
	caKey, leafKey := key(), key()
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		tb.Fatal(err)
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, leafKey.Public(), caKey)
	if err != nil {
		tb.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(leafKey)
	if err != nil {
		tb.Fatal(err)
	}
	blocks := map[string]*pem.Block{
		"ca.crt": {Type: "CERTIFICATE", Bytes: caDER}, "tls.crt": {Type: "CERTIFICATE", Bytes: leafDER}, "tls.key": {Type: "PRIVATE KEY", Bytes: keyDER},
	}
	for name, block := range blocks {
		if err := os.WriteFile(s.path(name), pem.EncodeToMemory(block), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	pair, err := tls.X509KeyPair(pem.EncodeToMemory(blocks["tls.crt"]), pem.EncodeToMemory(blocks["tls.key"]))
	if err != nil {
		tb.Fatal(err)
	}
	s.Config = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool(), Certificates: []tls.Certificate{pair}}
	s.Config.RootCAs.AppendCertsFromPEM(pem.EncodeToMemory(blocks["ca.crt"]))
	return s
}

func (s *Secure) path(name string) string { return filepath.Join(s.dir, name) }

// loopback is that of IPv6 where the machine has one.
func loopback() string {
	if l, err := net.Listen("tcp", "[::1]:0"); err == nil {
		l.Close()
		return "::1"
	}
	return "127.0.0.1"
}

// start starts the pod's server on a port that only takes TLS.
func (s *Secure) start(p *Pod, args []string) {
	p.tb.Helper()
	port := s.port(p.tb)
	p.Place.ServerName = p.Place.Name + "." + Domain
	args = append(args, s.tls(port)...)
	if p.cluster.slots() {
		args = append(args, "--tls-cluster", "yes",
			"--cluster-announce-ip", s.IP, "--cluster-announce-hostname", p.Place.ServerName, "--cluster-preferred-endpoint-type", "hostname")
	} else {
		args = append(args, "--replica-announce-ip", s.announced())
	}
	p.Server = servertest.Start(p.tb, p.cluster.version, servertest.Options{Files: p.data, Args: args})
	p.Server.Port = port
	p.Place.Host = s.IP
}

// sentinel starts a sentinel likewise.
func (s *Secure) sentinel(tb testing.TB, w *Sentinel, version string, options servertest.Options) {
	tb.Helper()
	port := s.port(tb)
	w.Place.Host, w.Place.ServerName = s.IP, w.Place.Name+"."+Domain
	options.Conf += "sentinel resolve-hostnames yes\nsentinel announce-ip " + s.announced() + "\n"
	if s.Name != "" {
		options.Conf += "sentinel announce-hostnames yes\n"
	}
	options.Args = append(options.Args, s.tls(port)...)
	w.Server = servertest.Start(tb, version, options)
	w.Server.Port = port
}

func (s *Secure) port(tb testing.TB) int {
	tb.Helper()
	port, err := servertest.FreePort()
	if err != nil {
		tb.Fatal(err)
	}
	return port
}

// tls are the arguments of a server that takes nothing else, on both loopback addresses
// where a name may mean either.
func (s *Secure) tls(port int) []string {
	bind := []string{"--bind", s.IP}
	if s.Name != "" {
		bind = []string{"--bind", "127.0.0.1", "-::1"}
	}
	return append(bind,
		"--tls-port", strconv.Itoa(port), "--tls-replication", "yes", "--tls-auth-clients", "yes",
		"--tls-ca-cert-file", s.path("ca.crt"), "--tls-cert-file", s.path("tls.crt"), "--tls-key-file", s.path("tls.key"))
}

func (s *Secure) announced() string {
	if s.Name != "" {
		return s.Name
	}
	return s.IP
}

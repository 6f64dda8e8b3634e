// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package settle

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/topologyjob/client"
	"github.com/valkey-render/valkey-render/topologyjob/node"
	"github.com/valkey-render/valkey-render/topologyjob/outcome"
	"github.com/valkey-render/valkey-render/topologyjob/setting"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a := &authority{cert: template, key: newKey(t)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pem = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issue makes tls.crt, tls.key and ca.crt for names; without any it is for 127.0.0.1.
func (a *authority) issue(t *testing.T, until time.Duration, names ...string) map[string]string {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "valkey"}, DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(until), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if len(names) == 0 {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"tls.crt": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		"tls.key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})),
		"ca.crt":  a.pem,
	}
}

// parsed is a certificate that is wanted.
func parsed(t *testing.T, files map[string]string) *setting.Certificate {
	t.Helper()
	c, err := setting.ParseCertificate([]byte(files["ca.crt"]), []byte(files["tls.crt"]), []byte(files["tls.key"]), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// dialTLS shows the certificate of some files and trusts their authority.
func dialTLS(t *testing.T, files map[string]string) client.Dialer {
	t.Helper()
	pair, err := tls.X509KeyPair([]byte(files["tls.crt"]), []byte(files["tls.key"]))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(files["ca.crt"]))
	return client.Dialer{Timeout: 10 * time.Second, TLS: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: []tls.Certificate{pair}}}
}

// addTLS starts a server with certificate files that it asks clients for, too.
func (r *rig) addTLS(t *testing.T, version string, sentinel bool, files map[string]string, args ...string) *servertest.Server {
	t.Helper()
	port, err := servertest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	s := servertest.Start(t, version, servertest.Options{
		Files: files, Sentinel: sentinel,
		Args: append([]string{
			"--tls-port", itoa(port), "--tls-cert-file", "tls.crt", "--tls-key-file", "tls.key", "--tls-ca-cert-file", "ca.crt", "--tls-auth-clients", "yes",
		}, args...),
	})
	s.Port = port
	r.add(s, sentinel)
	return s
}

func itoa(n int) string { return big.NewInt(int64(n)).String() }

// replace puts files in the place of those of a server, each at once.
func replace(t *testing.T, s *servertest.Server, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(s.Dir, name)
		if err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path)); err != nil {
			t.Fatal(err)
		}
	}
}

// shownBy is the fingerprint that a pod shows.
func (r *rig) shownBy(t *testing.T, d client.Dialer, i int) string {
	t.Helper()
	der, err := d.Served(within(t), node.Address{IP: r.pods[i].Host, Port: r.pods[i].Port, Name: r.pods[i].ServerName})
	if err != nil {
		t.Fatal(err)
	}
	return setting.Fingerprint(der)
}

// TestProcessARenewedCertificateIsServed, once it fits its key, and what is served is read
// (T11).
func TestProcessARenewedCertificateIsServed(t *testing.T) {
	t.Parallel()
	everyVersion(t, func(t *testing.T, version string) {
		ca := newAuthority(t)
		before, after := ca.issue(t, time.Hour), ca.issue(t, time.Hour)
		r := &rig{}
		for range 2 {
			r.addTLS(t, version, false, before)
		}
		d := dialTLS(t, after)
		wanted := parsed(t, after)
		dry := r.options(t, d)
		dry.DryRun = true
		would := TLS(within(t), dry, wanted, d.Served)
		want(t, would, outcome.Converged, "", "would: read the certificate again on c-0-0; ", "c-0-1")
		if would.Fingerprint != "" {
			t.Error("what would be served is told as what is")
		}
		// The files of a pod come late.
		replace(t, r.servers[0], after)
		once := r.options(t, d)
		once.Wait = false
		want(t, TLS(within(t), once, wanted, d.Served), outcome.Blocked, TLSNotServed, "c-0-1: shows another certificate")
		if r.shownBy(t, d, 0) != wanted.Fingerprint || r.shownBy(t, d, 1) == wanted.Fingerprint {
			t.Error("the certificates are not those of the files")
		}
		// Half of them, which the server refuses and goes on.
		replace(t, r.servers[1], map[string]string{"tls.key": after["tls.key"]})
		want(t, TLS(within(t), once, wanted, d.Served), outcome.Blocked, TLSReloadRefused, "c-0-1: refuses the files")
		if r.shownBy(t, d, 1) != parsed(t, before).Fingerprint {
			t.Error("a key without its certificate has changed what is served")
		}
		waiting, noticed := r.options(t, d), make(chan bool, 9)
		waiting.OnStep = func(string) { noticed <- true }
		done := make(chan Report, 1)
		go func() { done <- TLS(within(t), waiting, wanted, d.Served) }()
		<-noticed
		replace(t, r.servers[1], after)
		report := <-done
		want(t, report, outcome.Converged, "")
		if report.Fingerprint != wanted.Fingerprint {
			t.Errorf("the report has the fingerprint %q", report.Fingerprint)
		}
		for i := range r.servers {
			if r.shownBy(t, d, i) != wanted.Fingerprint {
				t.Errorf("server %d serves another certificate", i)
			}
		}
	})
}

// TestProcessACertificateOfAnotherAuthority is only served to who trusts both, and never
// a reason to speak with a server that nobody vouches for.
func TestProcessACertificateOfAnotherAuthority(t *testing.T) {
	t.Parallel()
	everyVersion(t, func(t *testing.T, version string) {
		first, second := newAuthority(t), newAuthority(t)
		before, after := first.issue(t, time.Hour), second.issue(t, time.Hour)
		r := &rig{}
		s := r.addTLS(t, version, false, before)
		replace(t, s, after)
		once := r.options(t, dialTLS(t, after))
		once.Wait = false
		want(t, TLS(within(t), once, parsed(t, after), dialTLS(t, after).Served), outcome.Blocked, string(setting.Untrusted))
		// The way there: an authority more, then the certificate, then one less.
		grown := map[string]string{"ca.crt": first.pem + second.pem, "tls.crt": before["tls.crt"], "tls.key": before["tls.key"]}
		moved := map[string]string{"ca.crt": grown["ca.crt"], "tls.crt": after["tls.crt"], "tls.key": after["tls.key"]}
		for _, files := range []map[string]string{grown, moved, after} {
			replace(t, s, files)
			d := dialTLS(t, files)
			want(t, TLS(within(t), r.options(t, d), parsed(t, files), d.Served), outcome.Converged, "")
		}
		last := dialTLS(t, after)
		if conn, err := last.Dial(within(t), node.Address{IP: "127.0.0.1", Port: s.Port}); err != nil {
			t.Error(err)
		} else {
			conn.Close()
		}
		old := dialTLS(t, map[string]string{"ca.crt": second.pem, "tls.crt": before["tls.crt"], "tls.key": before["tls.key"]})
		if conn, err := old.Dial(within(t), node.Address{IP: "127.0.0.1", Port: s.Port}); err == nil {
			conn.Close()
			t.Error("a client of the authority that is gone is let in")
		}
	})
}

// TestProcessServersThatReloadByThemselves are left to, sentinels too.
func TestProcessServersThatReloadByThemselves(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	before, after := ca.issue(t, time.Hour, "c-0-0.c-nodes", "s-0.c-sentinel"), ca.issue(t, time.Hour, "c-0-0.c-nodes", "s-0.c-sentinel")
	r := &rig{}
	r.addTLS(t, "9.1", false, before, "--tls-auto-reload-interval", "1")
	r.addTLS(t, "9.1", true, before, "--tls-auto-reload-interval", "1")
	r.pods[0].ServerName, r.pods[1].ServerName = "c-0-0.c-nodes", "s-0.c-sentinel"
	for _, s := range r.servers {
		replace(t, s, after)
	}
	d := dialTLS(t, after)
	want(t, TLS(within(t), r.options(t, d), parsed(t, after), d.Served), outcome.Converged, "", "nothing to do")
	if r.shownBy(t, d, 0) != r.shownBy(t, d, 1) || r.shownBy(t, d, 0) != parsed(t, after).Fingerprint {
		t.Error("the old certificate is served")
	}
	// A certificate that is not for a pod's name is not for any of them.
	other := ca.issue(t, time.Hour, "c-0-0.c-nodes")
	want(t, TLS(within(t), r.options(t, d), parsed(t, other), d.Served), outcome.Blocked, string(setting.NameMissing), "c-0-1: tls.crt: ", "s-0.c-sentinel")
}

// TestProcessOldSentinelsTakeARestart for their certificate, and data pods do not wait
// for that.
func TestProcessOldSentinelsTakeARestart(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	before, after := ca.issue(t, time.Hour), ca.issue(t, time.Hour)
	r := &rig{}
	r.addTLS(t, "8.1", false, before)
	r.addTLS(t, "8.1", true, before)
	for _, s := range r.servers {
		replace(t, s, after)
	}
	d := dialTLS(t, after)
	want(t, TLS(within(t), r.options(t, d), parsed(t, after), d.Served), outcome.Blocked, TLSRestartNeeded, "c-0-1: is a sentinel of Valkey 8.1")
	if r.shownBy(t, d, 0) != parsed(t, after).Fingerprint {
		t.Error("the data pod serves the old certificate")
	}
	again := r.addTLS(t, "8.1", true, after)
	r.pods = []Pod{r.pods[0], r.pods[2]}
	_ = again
	want(t, TLS(within(t), r.options(t, d), parsed(t, after), d.Served), outcome.Converged, "")
}

func TestProcessCertificatesStoppedAnywhere(t *testing.T) {
	t.Parallel()
	everyVersion(t, func(t *testing.T, version string) {
		ca := newAuthority(t)
		pair := [2]map[string]string{ca.issue(t, time.Hour), ca.issue(t, time.Hour)}
		r := &rig{}
		for range 2 {
			r.addTLS(t, version, false, pair[0])
		}
		d, turn := dialTLS(t, pair[0]), 0
		run := func(ctx context.Context, dialer node.Dialer) Report {
			return TLS(ctx, r.options(t, dialer), parsed(t, pair[turn%2]), d.Served)
		}
		commands := crashes(t, 1, d, func() {
			turn++
			for _, s := range r.servers {
				replace(t, s, pair[turn%2])
			}
		}, run, func() {
			for i := range r.servers {
				if r.shownBy(t, d, i) != parsed(t, pair[turn%2]).Fingerprint {
					t.Errorf("server %d serves another certificate", i)
				}
			}
		})
		if commands != 2 {
			t.Errorf("%d commands, want one for each server", commands)
		}
	})
}

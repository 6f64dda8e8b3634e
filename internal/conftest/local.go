// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package conftest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/valkey-render/valkey-render/api/v1alpha1"
	"github.com/valkey-render/valkey-render/internal/servertest"
	"github.com/valkey-render/valkey-render/render/name"
)

// local moves the paths of a pod into the server's own directory, and leaves out
// the modules, whose files are not there.
func local(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "loadmodule ") {
			kept.WriteString(line)
		}
	}
	return strings.NewReplacer(
		"/valkey/run/", "", "/valkey/tls/", "", "/valkey/acl/", "", "dir /data\n", "", "/data/", "",
	).Replace(kept.String())
}

// localArgs does the same for arguments. servertest chooses the plain port and
// the directory; references to a pod's environment are expanded.
func localArgs(t *testing.T, args []string) []string {
	t.Helper()
	expand := strings.NewReplacer("$(POD_IP)", "127.0.0.1", "$(POD_NAME)", name.Pod("c", 0, 0), "$(POD_NAMESPACE)", "default")
	var kept []string
	for i := 0; i+1 < len(args); i += 2 {
		flag, value := args[i], local(expand.Replace(args[i+1]))
		switch flag {
		case "--port", "--dir":
			continue
		case "--tls-port":
			value = freePort(t)
		case "--cluster-port":
			value = freePort(t)
		}
		kept = append(kept, flag, value)
	}
	return kept
}

func freePort(t *testing.T) string {
	t.Helper()
	port, err := servertest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(port)
}

// line is one directive of a config file.
type line struct {
	name  string
	words []string
}

// arguments reads --name value pairs.
func arguments(args []string) []line {
	var lines []line
	for i := 0; i+1 < len(args); i += 2 {
		lines = append(lines, line{strings.TrimPrefix(args[i], "--"), args[i+1 : i+2]})
	}
	return lines
}

// parse reads a config file as the server does: words apart by blanks, in double
// quotes with backslashes where they hold any.
func parse(t *testing.T, text string) []line {
	t.Helper()
	var lines []line
	for row := range strings.Lines(text) {
		row = strings.TrimSpace(row)
		if row == "" || row[0] == '#' {
			continue
		}
		words := split(row)
		lines = append(lines, line{words[0], words[1:]})
	}
	return lines
}

func split(row string) []string {
	var words []string
	var word strings.Builder
	quoted, started := false, false
	for i := 0; i < len(row); i++ {
		switch c := row[i]; {
		case quoted && c == '\\' && i+1 < len(row):
			i++
			word.WriteByte(row[i])
		case c == '"':
			quoted, started = !quoted, true
		case c == ' ' && !quoted:
			if started {
				words = append(words, word.String())
			}
			word.Reset()
			started = false
		default:
			word.WriteByte(c)
			started = true
		}
	}
	if started {
		words = append(words, word.String())
	}
	return words
}

// Certificates are ca.crt, tls.crt and tls.key for a cluster with TLS.
func Certificates(t *testing.T, c *v1alpha1.ValkeyCluster) map[string]string {
	t.Helper()
	if !c.TLSEnabled() {
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "conftest"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return map[string]string{
		"ca.crt": certificate, "tls.crt": certificate,
		"tls.key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
	}
}

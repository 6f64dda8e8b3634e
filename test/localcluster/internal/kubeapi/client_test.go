// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package kubeapi_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/kubeapi"
	"github.com/valkey-render/valkey-render/test/localcluster/internal/pki"
)

func client(t *testing.T, handler http.HandlerFunc) *kubeapi.Client {
	t.Helper()
	dir := t.TempDir()
	a, err := pki.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"admin", "apiserver"} {
		if err := a.Issue(name, pki.Subject{User: name, Addresses: []string{"127.0.0.1"}}); err != nil {
			t.Fatal(err)
		}
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "apiserver.crt"), filepath.Join(dir, "apiserver.key"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	c, err := kubeapi.New(server.URL, dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAppliesServerSideAsAdmin(t *testing.T) {
	var got []string
	c := client(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = []string{r.TLS.PeerCertificates[0].Subject.CommonName, r.Method, r.URL.String(), r.Header.Get("Content-Type"), string(body)}
	})
	if err := c.Apply(t.Context(), "/api/v1/namespaces/a", "kind: Namespace"); err != nil {
		t.Fatal(err)
	}
	want := []string{"admin", "PATCH", "/api/v1/namespaces/a?fieldManager=localcluster&force=true", "application/apply-patch+yaml", "kind: Namespace"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadsWhetherNodesAreReady(t *testing.T) {
	c := client(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"items": [
			{"metadata": {"name": "node1"}, "status": {"conditions": [
				{"type": "DiskPressure", "status": "False"},
				{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-02T03:04:05Z"}]}},
			{"metadata": {"name": "node2"}, "status": {"conditions": [{"type": "Ready", "status": "False", "message": "no network"}]}},
			{"metadata": {"name": "node3"}}]}`)
	})
	nodes, err := c.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, n := range nodes {
		ready, why := n.Ready()
		got[n.Metadata.Name] = why
		if ready {
			got[n.Metadata.Name] = n.Heartbeat().Format(time.DateTime)
		}
	}
	want := map[string]string{"node1": "2026-01-02 03:04:05", "node2": "no network", "node3": "it has not reported yet"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestErrorsHaveThePathAndTheAnswer(t *testing.T) {
	c := client(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "who are you", http.StatusForbidden)
	})
	err := c.Get(t.Context(), "/readyz", nil)
	if err == nil || !strings.Contains(err.Error(), "/readyz: 403 Forbidden: who are you") {
		t.Errorf("got error %v", err)
	}
}

func TestUntilReturnsTheLastError(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
	defer cancel()
	broken, asked := errors.New("broken"), 0
	err := kubeapi.Until(ctx, func(context.Context) error { asked++; return broken })
	if !errors.Is(err, broken) || asked < 2 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}

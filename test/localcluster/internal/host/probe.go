// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"time"
)

// Wait asks until the answer is yes or the context ends.
func (p Probe) Wait(ctx context.Context) error {
	ask := p.socket
	if p.URL != "" {
		client, err := p.client()
		if err != nil {
			return err
		}
		defer client.CloseIdleConnections()
		ask = func(ctx context.Context) error { return p.get(ctx, client) }
	}
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s%s: not ready: %w", p.Socket, p.URL, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (p Probe) socket(context.Context) error {
	_, err := os.Stat(p.Socket)
	return err
}

func (p Probe) client() (*http.Client, error) {
	transport := &http.Transport{}
	if p.CA != "" {
		ca, err := os.ReadFile(p.CA)
		if err != nil {
			return nil, fmt.Errorf("probe: %w", err)
		}
		pair, err := tls.LoadX509KeyPair(p.Certificate, p.Key)
		if err != nil {
			return nil, fmt.Errorf("probe: %w", err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(ca)
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: transport, Timeout: 5 * time.Second}, nil
}

func (p Probe) get(ctx context.Context, client *http.Client) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s", response.Status)
	}
	return nil
}

// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package kubeapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// Client talks to one API server.
type Client struct {
	server string
	http   *http.Client
}

// New is a client with ca.crt, admin.crt and admin.key of a directory.
func New(server, pki string) (*Client, error) {
	ca, err := os.ReadFile(filepath.Join(pki, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(pki, "admin.crt"), filepath.Join(pki, "admin.key"))
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	return &Client{server: server, http: &http.Client{
		Timeout: 30 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
		},
	}}, nil
}

// Get reads an object, or the text of a path like /readyz where into is nil.
func (c *Client) Get(ctx context.Context, path string, into any) error {
	return c.do(ctx, http.MethodGet, path, "", nil, into)
}

// Apply applies an object, as YAML, server-side.
func (c *Client) Apply(ctx context.Context, path, object string) error {
	return c.do(ctx, http.MethodPatch, path+"?fieldManager=localcluster&force=true", "application/apply-patch+yaml", []byte(object), nil)
}

func (c *Client) do(ctx context.Context, method, path, kind string, body []byte, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.server+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s: %s: %.300s", path, response.Status, data)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Node is what is read of a node.
type Node struct {
	Metadata struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Status struct {
		Conditions []struct {
			Type      string    `json:"type"`
			Status    string    `json:"status"`
			Message   string    `json:"message"`
			Heartbeat time.Time `json:"lastHeartbeatTime"`
		} `json:"conditions"`
	} `json:"status"`
}

// Ready tells whether the node is Ready, and else what the kubelet says.
func (n Node) Ready() (bool, string) {
	for _, c := range n.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status == "True", c.Message
		}
	}
	return false, "it has not reported yet"
}

// Heartbeat is when the kubelet last reported whether the node is Ready.
func (n Node) Heartbeat() time.Time {
	for _, c := range n.Status.Conditions {
		if c.Type == "Ready" {
			return c.Heartbeat
		}
	}
	return time.Time{}
}

// Nodes lists the nodes.
func (c *Client) Nodes(ctx context.Context) ([]Node, error) {
	var list struct {
		Items []Node `json:"items"`
	}
	if err := c.Get(ctx, "/api/v1/nodes", &list); err != nil {
		return nil, err
	}
	return list.Items, nil
}

// Until calls ask until it succeeds, and returns its last error when the context ends.
func Until(ctx context.Context, ask func(context.Context) error) error {
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

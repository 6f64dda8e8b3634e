// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/valkey-render/valkey-render/test/localcluster/internal/kubeapi"
)

// makeAlone starts an API server without nodes.
func (c *Cluster) makeAlone(ctx context.Context, p got, listener *net.TCPListener, port int) error {
	client, peer, err := freePorts()
	if err != nil {
		return err
	}
	pl := plane{
		etcd: p.etcd, bin: p.kubernetes, pki: c.path("pki"), kubeconfig: c.Kubeconfig(), data: c.path("etcd"),
		client: client, peer: peer, address: "127.0.0.1", port: port,
	}
	// The server opens the port itself.
	listener.Close()
	started, err := c.start(pl.alone(c.path(control, "var", "log")), nil)
	if err != nil {
		return err
	}
	if err := started.Go(); err != nil {
		return err
	}
	return c.apiReady(ctx, port)
}

// apiReady waits for the API server, and for the controllers to have made what namespaces
// come with.
func (c *Cluster) apiReady(ctx context.Context, port int) error {
	api, err := c.api(port)
	if err != nil {
		return err
	}
	return kubeapi.Until(ctx, func(ctx context.Context) error {
		if err := c.alive(); err != nil {
			return err
		}
		return api.Get(ctx, "/api/v1/namespaces/default/serviceaccounts/default", nil)
	})
}

// alive is an error where the control host has ended.
func (c *Cluster) alive() error {
	pid, err := c.pid(control)
	if err == nil && pid == 0 {
		err = errors.New("control plane: ended")
	}
	return err
}

// freePorts are two free ports on loopback.
func freePorts() (int, int, error) {
	var ports [2]int
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, 0, fmt.Errorf("port: %w", err)
		}
		defer l.Close()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports[0], ports[1], nil
}

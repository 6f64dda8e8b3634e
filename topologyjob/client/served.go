// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/valkey-render/valkey-render/topologyjob/node"
)

// Served is the certificate that a server shows to a new connection, DER. It is verified
// as for any other; nobody logs in.
func (d Dialer) Served(ctx context.Context, address node.Address) ([]byte, error) {
	if d.TLS == nil {
		return nil, errors.New("TLS is off")
	}
	timeout := d.Timeout
	if timeout == 0 {
		timeout = 2 * time.Second
	}
	dialer := tls.Dialer{NetDialer: &net.Dialer{Timeout: timeout}, Config: d.tls(address)}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c, err := dialer.DialContext(ctx, "tcp", address.String())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	chain := c.(*tls.Conn).ConnectionState().PeerCertificates
	if len(chain) == 0 {
		return nil, errors.New("no certificate was shown")
	}
	return chain[0].Raw, nil
}
